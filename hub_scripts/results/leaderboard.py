"""`.eval_results/` of a model, its scores for the leaderboards of benchmark datasets, and the round of a run as its repository has it.

https://huggingface.co/docs/hub/eval-results. A leaderboard has one value of a model for each task of the dataset's `eval.yaml`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from builder.round.takedowns import ERRATA, parse_errata
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, task_id, task_ids
from hub_scripts.hub.repo import MAIN, Repo
from lm_eval_tasks.base.contract import FULL, MANIFEST
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.manifest import ListedConfiguration, Manifest
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.yaml_text import parse_yaml
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import UNKNOWN, Results
from lm_eval_tasks.tasks.catalogue import setting_of


@dataclass(frozen=True, slots=True)
class PublishedRound:
    """A revision of a dataset.

    Attributes:
        id: of the dataset on the Hub.
        commit: 40 digits.
        name: of the revision, "2026.11" or "2026.11.post1".
        tasks: ids of the tasks in its `eval.yaml`.
        sizes: configuration -> how many test samples it has, those that are listed by id included.
    """

    id: str
    commit: str
    name: str
    tasks: frozenset[str]
    sizes: Mapping[str, int]


def published_round(results: Results, dataset: str | None) -> PublishedRound | None:
    """Return where the dataset of a run is published, by its results or, of a folder, by the name of a repository; None if that is not
    known, as after a plain lm_eval on the newest revision. A HubError if the round is not published there, is replaced by another revision,
    or is not the folder that was run.
    """
    id_ = results.hub_id or dataset
    if not id_ or (results.hub_id and results.round == UNKNOWN and not results.revision):
        return None
    repo = Repo(id_)
    folder = None if results.hub_id else _folder(results, id_)
    replaced = {erratum.revision: erratum.replacement for erratum in parse_errata(repo.read(ERRATA, MAIN))}
    # A folder keeps its name when it is corrected; whether it is what is there now, its contents tell.
    name = _newest(folder.published_as, replaced) if folder else results.round
    tags = repo.existing_refs().tags
    commit = results.revision or tags.get(name)
    if not commit:
        raise HubError(f"{id_} has no revision {name}, the round of these results; push that round first")
    for old, replacement in replaced.items():
        if tags.get(old) == commit:
            raise HubError(f"{id_} has replaced {old} by {replacement}: evaluate that, or leave out --card")
    manifest = parse_manifest(repo.read(MANIFEST, commit) or b"", f"the {MANIFEST} of {id_}")
    if folder and (
        not _original_configurations(folder) or _original_configurations(folder) != _original_configurations(manifest)
    ):
        raise HubError(f"the folder {results.dataset} differs from {name} of {id_}; name the repository that has it")
    tasks = task_ids(repo.read(EVAL, commit) or b"", f"{EVAL} of {id_}")
    sizes = Counter[str]()
    for listed in manifest.configurations:
        sizes[listed.of if listed.form == "ids" else listed.name] += listed.statistics("test").samples
    return PublishedRound(id_, commit, manifest.published_as, tasks, sizes)


def _newest(revision: str, replaced: Mapping[str, str]) -> str:
    """Return the revision that stands in place of one in the end; replacements are listed in the order in which they were published."""
    for old, replacement in replaced.items():
        if revision == old:
            revision = replacement
    return revision


def _folder(results: Results, id_: str) -> Manifest:
    """Return the manifest of the folder that was run, if the folder is here as it was then."""
    folder = Path(results.dataset).expanduser()
    if results.dataset and (folder / MANIFEST).is_file() and sha256_of(folder / MANIFEST) == results.contents:
        manifest = read_manifest(folder)
        if manifest.round == results.round:
            return manifest
    raise HubError(
        f"the folder {results.dataset[:200]!r} is missing or has changed since the run, so it cannot be compared with {id_}; leave "
        f"out --dataset, or evaluate {id_} itself"
    )


def _original_configurations(manifest: Manifest) -> Sequence[ListedConfiguration]:
    return manifest.publishable.original if manifest.publishable else manifest.configurations


SOURCE = "AcademicEval"
FILE = ".eval_results/academiceval.yaml"
_METRICS = tuple(dict.fromkeys(family.ranking for family in FAMILIES))
# Options with which a run is about another setting's samples, or a part.
OF_A_PART = ("config", "published_after", "published_before", "shard", "fits_only")


def entries(results: Results, published: PublishedRound, url: str) -> list[dict[str, Any]]:
    """Return the scores of a run, whose file is at `url`, that belong on a leaderboard: of whole tasks, as `eval.yaml` defines them."""
    is_shorter = results.options.get("context") not in (None, "", FULL)
    is_unfinished = results.block is not None and bool(results.block.usage.unanswered)
    if results.split != TEST or is_shorter or is_unfinished or any(results.options.get(name) for name in OF_A_PART):
        return []
    cut = {score.task: score.value for score in results.scores if score.metric == "truncated"}
    leaderboard_entries = []
    for score in results.scores:
        setting = setting_of(score.task) or ""
        id_ = task_id(setting, published.name, score.metric)
        if score.metric in _METRICS and id_ in published.tasks and score.samples == published.sizes.get(setting):
            leaderboard_entries.append(
                EvalResultEntry(
                    published.id,
                    id_,
                    round(score.value, 6),
                    dataset_revision=published.commit,
                    date=results.day or None,
                    source_url=url,
                    source_name=SOURCE,
                    notes=_notes(score, cut.get(score.task)),
                )
            )
    return eval_result_entries_to_yaml(leaderboard_entries)


def _notes(score: Score, cut: float | None) -> str:
    """Return what a reader of a leaderboard must know about a score; the benchmark file is for another harness."""
    interval = "" if score.low is None or score.high is None else f", 95 % interval {score.low:.4f} to {score.high:.4f}"
    prompt = "; lm-evaluation-harness with SCALAR's published prompt" if score.task.startswith("scalar") else ""
    shortened = f"; {cut:.0%} of the prompts were cut to fit the model" if cut else ""
    return f"{score.samples} samples{interval}{shortened}{prompt}"


def merge_entries(old: bytes | None, fresh: Sequence[Mapping[str, Any]], model: str) -> bytes:
    """Return our file with new entries in place of those of the same dataset and task.

    Args:
        old: what the model's repository has under its name.
        fresh: as `entries` makes them; of two with the same subject the newer one counts, or
            the fresh one if it has no date.

    Raises:
        HubError: what is there is not a list of our entries.
    """
    try:
        there = parse_yaml(old or b"") or []
        if not isinstance(there, list) or not all(map(_is_ours, there)):
            raise ValueError("it has entries that others wrote: move them to a file of their own")
    except ValueError as err:
        raise HubError(f"{FILE} of {model} cannot be used: {err!s:.200}") from err
    merged = {_subject(entry): entry for entry in there}
    for entry in fresh:
        before = merged.get(_subject(entry), {})
        if not entry.get("date") or str(entry["date"]) >= str(before.get("date") or ""):
            merged[_subject(entry)] = {**{name: item for name, item in before.items() if name != "date"}, **entry}
    return yaml.safe_dump(list(merged.values()), sort_keys=False, allow_unicode=True).encode()


def _is_ours(entry: Any) -> bool:
    source = entry.get("source") if isinstance(entry, dict) and isinstance(entry.get("dataset"), dict) else None
    return isinstance(source, dict) and source.get("name") == SOURCE


def _subject(entry: Mapping[str, Any]) -> tuple[str, str]:
    return str(entry["dataset"].get("id")), str(entry["dataset"].get("task_id"))
