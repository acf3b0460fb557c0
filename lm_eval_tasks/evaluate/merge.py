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
from lm_eval_tasks.samples.results import Block, Results, Score, only_result, samples_files, write_run
from lm_eval_tasks.samples.sample import Sample, read_lines
from lm_eval_tasks.stats.scores import facts_of, scores_of

# What all shards must have in common besides their arguments.
_COMMON = ("rounds", "prompt_versions", "datasets")
# What a merged run has of its own, or not at all.
_REPLACED = ("academiceval", "results", "n-samples", "groups", "group_subtasks", "versions")
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
    """One shard's folder, and its results."""

    folder: Path
    shard: Shard
    results: Results

    @property
    def arguments(self) -> dict[str, Any]:
        """How it was run, leaving out the shard."""
        run = self.results.run
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
    parts = sorted(map(_read, folders), key=lambda part: part.shard.number)
    _check(parts)
    lines = _lines(parts)
    samples = {task: [Sample.of_logged(line) for line in own] for task, own in lines.items()}
    first = parts[0]
    scores = scores_of(samples, first.results.model)
    block = Block(
        run=first.arguments,
        **facts_of(samples),
        scores=scores,
        usage=_usage([part.results.ours["usage"] for part in parts]),
        made_with=first.results.ours["made_with"],
    )
    content = {name: value for name, value in first.results.content.items() if name not in _REPLACED}
    figures = {
        task: _means(own, [part.results.content["results"].get(task, {}) for part in parts])
        for task, own in lines.items()
    }
    counts = {task: {"original": len(own), "effective": len(own)} for task, own in lines.items()}
    write_run(lines, {**content, "results": figures, "n-samples": counts}, block, first.results.model, output)
    return scores


def _read(folder: Path) -> _Part:
    results = only_result(folder, "a finished shard")
    shard = Shard.of(results.run["metadata"].get("shard"))
    if shard is None:
        raise SamplesError(f"{folder} is a whole run, not a shard of one")
    return _Part(folder, shard, results)


def _check(parts: Sequence[_Part]) -> None:
    count, what = parts[0].shard.count, _what(parts[0])
    seen: dict[int, Path] = {}
    for one in parts:
        if one.shard.count != count:
            raise SamplesError(f"{one.folder} is shard {one.shard}, but {parts[0].folder} is shard {parts[0].shard}")
        if one.shard.number in seen:
            raise SamplesError(f"{seen[one.shard.number]} and {one.folder} are both shard {one.shard}")
        seen[one.shard.number] = one.folder
        differing = [name for name in _COMMON if one.results.ours.get(name) != parts[0].results.ours.get(name)]
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


def _lines(parts: Sequence[_Part]) -> dict[str, list[dict[str, Any]]]:
    """Task -> the logged samples of all shards, in the order that one run gives them."""
    placed: dict[str, dict[int, dict[str, Any]]] = defaultdict(dict)
    sizes: dict[str, set[int | None]] = defaultdict(set)
    for part in parts:
        for task, file in samples_files(part.folder, part.results.model).items():
            for sample, line in read_lines(file):
                place = sample.row.place
                if place is None or place in placed[task]:
                    raise SamplesError(f"{file} contains a sample of {task} without a unique place in the run")
                placed[task][place] = {**line, "doc_id": place}
                sizes[task].add(sample.row.places)
    for task, lines in placed.items():
        if sizes[task] != {len(lines)}:
            raise SamplesError(
                f"the shards contain {len(lines)} samples of {task}, but the run has {', '.join(map(str, sizes[task]))}"
            )
    return {task: [lines[place] for place in sorted(lines)] for task, lines in sorted(placed.items())}


def _means(lines: Sequence[Mapping[str, Any]], figures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """lm-eval's figures of a task, each mean over all samples that have the metric.

    Args:
        figures: of each shard; a metric that no sample of a shard has is not among its figures.
    """
    means: dict[str, Any] = {}
    for name, value in {name: value for own in figures for name, value in own.items()}.items():
        metric = name.partition(",")[0]
        known = [line[metric] for line in lines if isinstance(line.get(metric), float | int)]
        means[name] = len(lines) if name == "sample_len" else fmean(known) if known else value
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
