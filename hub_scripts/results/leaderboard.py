"""`.eval_results/` of a model's repository: its scores, for the leaderboards of benchmark datasets.

https://huggingface.co/docs/hub/eval-results. A leaderboard has one value of a model for each task of the dataset's `eval.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from builder.dataset.manifest import MANIFEST, Configuration, Manifest, parse_manifest, read_manifest
from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import EVAL, task_id
from hub_scripts.hub.repo import Repo
from hub_scripts.results.settings import setting_of
from lm_eval_tasks.files import sha256_of
from lm_eval_tasks.json_schema import first_problem

if TYPE_CHECKING:
    from hub_scripts.results.result_file import Results, TaskScore

FILE = ".eval_results/academiceval.yaml"
_SCHEMA = Path(__file__).parent / "eval_results.schema.json"
_METRICS = ("rouge_l", "accuracy")
# Options with which a task is another one, or has other samples.
_OTHER_TASK = (
    "published_after", "published_before", "shard", "config", "core", "retriever", "similarity", "chunks", "chunk_size",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A round in its repository.

    Attributes:
        id: of the dataset on the Hub.
        revision: the commit of the round.
        tasks: ids of the tasks in its `eval.yaml`.
    """

    id: str
    revision: str
    tasks: frozenset[str]


def benchmark_of(results: Results, dataset: str | None) -> Benchmark | None:
    """Where the dataset of a run is published; None if that is not known.

    Args:
        dataset: the repository in which the folder that was run is published.

    Raises:
        HubError: the round is not published there, or what is published is not the folder that was run.
    """
    id_ = results.hub_id or dataset
    if not id_:
        return None
    repo = Repo(id_)
    revision = results.revision or repo.existing_refs().tags.get(results.round)
    if not revision:
        raise HubError(f"{id_} has no revision {results.round}, the round of these results; push the round first")
    if not results.hub_id:
        _check_same(results, repo, revision)
    try:
        content = yaml.safe_load(repo.read(EVAL, revision) or b"tasks: []")
        return Benchmark(id_, revision, frozenset(str(task["id"]) for task in content["tasks"]))
    except (yaml.YAMLError, KeyError, TypeError) as err:
        raise HubError(f"{EVAL} of {id_} at {revision} cannot be read; repair it first") from err


def _check_same(results: Results, repo: Repo, revision: str) -> None:
    """Raise a HubError unless the folder that was run is the one that is published."""
    folder = Path(results.dataset)
    if not (folder / MANIFEST).is_file() or sha256_of(folder / MANIFEST) != results.contents:
        raise HubError(
            f"the folder {folder} is not here as it was when it was run, so it cannot be compared with {repo.id}; leave out --dataset, "
            f"or evaluate {repo.id} itself"
        )
    published = parse_manifest(repo.read(MANIFEST, revision) or b"", f"the {MANIFEST} of {repo.id}")
    if _whole(read_manifest(folder)) != _whole(published):
        raise HubError(
            f"the folder {folder} is not what {repo.id} has as {results.round}; name the repository that has it"
        )


def _whole(manifest: Manifest) -> Sequence[Configuration]:
    return manifest.publishable.original if manifest.publishable else manifest.configurations


def entries(results: Results, benchmark: Benchmark, url: str) -> list[dict[str, Any]]:
    """The scores of a run that belong on a leaderboard: of whole tasks, as `eval.yaml` defines them.

    Args:
        url: of the file of results.
    """
    if results.split != "test" or any(results.options.get(name) for name in _OTHER_TASK):
        return []
    found = []
    for one in results.scores:
        id_ = task_id(setting_of(one.task) or "", results.round, one.metric)
        if one.metric in _METRICS and id_ in benchmark.tasks and not results.is_partial(one.task):
            found.append(
                EvalResultEntry(
                    benchmark.id, id_, round(one.value, 6), dataset_revision=benchmark.revision, date=results.day, source_url=url,
                    source_name="AcademicEval", notes=_notes(one),
                )
            )  # fmt: skip
    return eval_result_entries_to_yaml(found)


def _notes(score: TaskScore) -> str:
    """What a reader of a leaderboard must know about a score."""
    interval = "" if score.low is None or score.high is None else f", 95 % interval {score.low:.4f} to {score.high:.4f}"
    return f"{score.samples} samples{interval}"


def merged(old: bytes | None, fresh: Sequence[Mapping[str, Any]], model: str) -> bytes:
    """The file with new entries in place of those of the same dataset and task; all others stay.

    Args:
        old: what the model's repository has.
        fresh: as `entries` makes them.

    Raises:
        HubError: the old content, or the new, is not what the Hub takes.
    """
    try:
        kept = yaml.safe_load(old) if old else []
    except yaml.YAMLError as err:
        raise HubError(f"{FILE} of {model} is not valid YAML; repair it first") from err
    if kept and (problem := first_problem(kept, _SCHEMA)):
        raise HubError(f"{FILE} of {model}: {problem}; repair it first")
    replaced = {_subject(one) for one in fresh}
    content = [*(one for one in kept or () if _subject(one) not in replaced), *fresh]
    if problem := first_problem(content, _SCHEMA):
        raise HubError(f"{FILE}: {problem}")
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True).encode()


def _subject(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["dataset"]["id"], entry["dataset"]["task_id"]
