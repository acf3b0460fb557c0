"""`.eval_results/` of a model's repository: its scores, for the leaderboards of benchmark datasets.

https://huggingface.co/docs/hub/eval-results. A leaderboard has one value of a model for each task of the dataset's `eval.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import yaml
from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

from hub_scripts.errors import HubError
from hub_scripts.hub.benchmark import task_id
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.yaml_text import parse_yaml
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.tasks.catalogue import setting_of

if TYPE_CHECKING:
    from hub_scripts.results.published_round import PublishedRound
    from lm_eval_tasks.samples.block import Score
    from lm_eval_tasks.samples.results import Results

SOURCE = "AcademicEval"
FILE = ".eval_results/academiceval.yaml"
_METRICS = tuple(dict.fromkeys(family.ranking for family in FAMILIES))
# Options with which a run is about a part of the samples; the last is of an earlier release.
OF_A_PART = ("published_after", "published_before", "shard", "fits_only", "core")
# Options with which a task is another one.
_OTHER_TASK = ("config", "context", "retriever", "similarity", "chunks", "chunk_size")


def entries(results: Results, published: PublishedRound, url: str) -> list[dict[str, Any]]:
    """The scores of a run that belong on a leaderboard: of whole tasks, as `eval.yaml` defines them.

    Args:
        published: the round that was run.
        url: of the file of results.
    """
    if results.split != TEST or any(results.options.get(name) for name in (*OF_A_PART, *_OTHER_TASK)):
        return []
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
                    notes=_notes(score),
                )
            )
    return eval_result_entries_to_yaml(leaderboard_entries)


def _notes(score: Score) -> str:
    """What a reader of a leaderboard must know about a score; the benchmark file is for another harness."""
    interval = "" if score.low is None or score.high is None else f", 95 % interval {score.low:.4f} to {score.high:.4f}"
    prompt = "; lm-evaluation-harness with SCALAR's published prompt" if score.task.startswith("scalar") else ""
    return f"{score.samples} samples{interval}{prompt}"


def merge_entries(old: bytes | None, fresh: Sequence[Mapping[str, Any]], model: str) -> bytes:
    """Our file with new entries in place of those of the same dataset and task.

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
        if not entry.get("date") or str(entry["date"]) >= str(before.get("date", "")):
            merged[_subject(entry)] = {**before, **entry}
    return yaml.safe_dump(list(merged.values()), sort_keys=False, allow_unicode=True).encode()


def _is_ours(entry: Any) -> bool:
    source = entry.get("source") if isinstance(entry, dict) and isinstance(entry.get("dataset"), dict) else None
    return isinstance(source, dict) and source.get("name") == SOURCE


def _subject(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Dataset and task."""
    return str(entry["dataset"].get("id")), str(entry["dataset"].get("task_id"))
