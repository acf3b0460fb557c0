"""`academiceval merge`: the shards of one run -> its samples, scores and intervals, as if it had been run in one piece."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.metadata import Shard
from lm_eval_tasks.core.text import ODD
from lm_eval_tasks.evaluate.models import RUNTIME
from lm_eval_tasks.samples import logged, result_file
from lm_eval_tasks.stats.scores import Score, scores_of, summary

# What all shards must have in common besides their arguments.
_COMMON = ("rounds", "prompt_versions", "datasets")
_SUMS = (
    "tokens_in",
    "tokens_out",
    "reasoning_tokens",
    "cached_tokens",
    "answers",
    "asked_in_this_run",
    "seconds",
    "retries",
    "cost",
)


@dataclass(frozen=True, slots=True)
class _Part:
    """One shard's folder."""

    folder: Path
    label: str
    shard: Shard
    content: dict[str, Any]

    @property
    def ours(self) -> dict[str, Any]:
        """What `academiceval eval` has added to lm-eval's results."""
        found: dict[str, Any] = self.content["academiceval"]
        return found

    @property
    def arguments(self) -> dict[str, Any]:
        """How it was run, leaving out the shard."""
        run: dict[str, Any] = self.ours["run"]
        return {**run, "metadata": {key: value for key, value in run["metadata"].items() if key != "shard"}}


def merge(folders: Sequence[Path], output: Path) -> list[Score]:
    """Merge the shards of a run.

    Args:
        folders: the output folders of all shards.
        output: the folder for the whole run's files.

    Raises:
        SamplesError: a folder contains no finished shard; a shard is missing, given twice, or from another run.
    """
    if output.resolve() in [folder.resolve() for folder in folders]:
        raise SamplesError(f"{output} is one of the shards: name another folder with --output")
    try:
        return _merged(folders, output)
    except ODD as err:
        raise SamplesError(
            f"the shards' files are not as `academiceval eval` writes them ({type(err).__name__}: {err})"
        ) from err


def _merged(folders: Sequence[Path], output: Path) -> list[Score]:
    parts = sorted((_read(folder) for folder in folders), key=lambda one: one.shard.number)
    _check(parts)
    rows = _rows(parts)
    samples = {task: [logged.of_row(row) for row in own] for task, own in rows.items()}
    label = parts[0].label
    scores = scores_of(samples, label)
    first = parts[0]
    ours = {
        **first.ours, "run": first.arguments, **summary(samples, scores), "usage": _usage([one.ours["usage"] for one in parts]),
    }  # fmt: skip
    content = {
        name: value for name, value in first.content.items() if name not in ("groups", "group_subtasks", "versions")
    }
    means = {task: _means(rows[task], first.content["results"].get(task, {})) for task in rows}
    counts = {task: {"original": len(own), "effective": len(own)} for task, own in rows.items()}
    result_file.write_files(
        rows, {**content, "results": means, "n-samples": counts, "academiceval": ours}, label, output
    )
    return scores


def _read(folder: Path) -> _Part:
    file = result_file.only_result(folder, "a finished shard")
    with result_file.opened(file) as content:
        shard = Shard.of(content["academiceval"]["run"]["metadata"].get("shard"))
    if shard is None:
        raise SamplesError(f"{folder} is a whole run, not a shard of one")
    return _Part(folder, file.stem.removeprefix("results_"), shard, content)


def _check(parts: Sequence[_Part]) -> None:
    count, what = parts[0].shard.count, _what(parts[0])
    seen: dict[int, Path] = {}
    for one in parts:
        if one.shard.count != count:
            raise SamplesError(f"{one.folder} is shard {one.shard}, but {parts[0].folder} is shard {parts[0].shard}")
        if one.shard.number in seen:
            raise SamplesError(f"{seen[one.shard.number]} and {one.folder} are both shard {one.shard}")
        seen[one.shard.number] = one.folder
        differing = [name for name in _COMMON if one.ours.get(name) != parts[0].ours.get(name)]
        differing += [name for name, value in _what(one).items() if value != what.get(name)]
        if differing:
            raise SamplesError(
                f"{one.folder} and {parts[0].folder} come from different runs: they differ in {', '.join(differing)}"
            )
    if missing := [str(number) for number in range(1, count + 1) if number not in seen]:
        raise SamplesError(f"of {count} shards, these are missing: {', '.join(missing)}")


def _what(part: _Part) -> dict[str, Any]:
    """What makes a run a different one: not where and how fast its model and data were served."""
    run = part.arguments
    named = {key: value for key, value in run.items() if key not in RUNTIME}
    return {
        **named,
        "model_args": {key: value for key, value in run["model_args"].items() if key not in (*RUNTIME, "base_url")},
        "metadata": {key: value for key, value in run["metadata"].items() if key != "dataset"},
    }


def _rows(parts: Sequence[_Part]) -> dict[str, list[dict[str, Any]]]:
    """Task -> the samples of all shards, in the order that one run gives them."""
    found: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    for part in parts:
        for file in sorted(part.folder.glob(f"samples_*_{part.label}.jsonl")):
            task = file.name.removeprefix("samples_").removesuffix(f"_{part.label}.jsonl")
            for _, row in logged.rows_of(file):
                place = row["doc"].get("place")
                if type(place) is not int or place in found[task]:
                    raise SamplesError(f"{file} contains a sample of {task} without a unique place in the run")
                found[task][place] = {**row, "doc_id": place}
    for task, rows in found.items():
        expected = {row["doc"].get("places") for row in rows.values()}
        if expected != {len(rows)}:
            raise SamplesError(
                f"the shards contain {len(rows)} samples of {task}, but the run has {', '.join(map(str, expected))}"
            )
    return {task: [rows[place] for place in sorted(rows)] for task, rows in sorted(found.items())}


def _means(rows: Sequence[Mapping[str, Any]], own: Mapping[str, Any]) -> dict[str, Any]:
    """lm-eval's figures of a task, with the means over all rows."""
    means: dict[str, Any] = {}
    for name, value in own.items():
        metric = name.partition(",")[0]
        if name == "sample_len":
            means[name] = len(rows)
        else:
            means[name] = fmean(row[metric] for row in rows) if all(metric in row for row in rows) else value
    return means


def _usage(each: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all shards took together; None for what no shard knows."""
    sums = {name: [one[name] for one in each if one.get(name) is not None] for name in _SUMS}
    finish: dict[str, int] = defaultdict(int)
    for one in each:
        for reason, count in one.get("finish", {}).items():
            finish[reason] += count
    return {
        **{name: sum(values) if values else None for name, values in sums.items()},
        "finish": dict(sorted(finish.items())),
    }
