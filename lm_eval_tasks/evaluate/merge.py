"""`academiceval merge`: the shards of one run -> its samples, scores and intervals, as if it had been run in one piece."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import exclusive
from lm_eval_tasks.base.metadata import Shard, text_or_none
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.evaluate.identity import RUNTIME, distinguishing
from lm_eval_tasks.llm.usage import usage_together
from lm_eval_tasks.samples.block import Block, RunRequest, Score
from lm_eval_tasks.samples.results import JOURNAL, Results
from lm_eval_tasks.samples.run_folder import check_output, only_result, samples_of, write_run
from lm_eval_tasks.samples.sample import Logged, Sample, read_lines
from lm_eval_tasks.stats.opened import open_run
from lm_eval_tasks.stats.scores import block_of, scores_of

# What all shards must have in common besides their arguments.
_COMMON = ("rounds", "prompt_versions", "datasets")
# What a merged run has of its own, or not at all.
_REPLACED = ("academiceval", "results", "n-samples", "groups", "group_subtasks", "versions")


@dataclass(frozen=True, slots=True)
class _ShardRun:
    folder: Path
    shard: Shard
    results: Results
    block: Block

    @property
    def request(self) -> RunRequest:
        run = self.block.run
        return replace(run, metadata={key: value for key, value in run.metadata.items() if key != "shard"})


def merge(folders: Sequence[Path], output: Path) -> list[Score]:
    """Merge the shards of a run from all their output folders into one.

    Raises:
        EvalError: another process writes to the output.
        SamplesError: a folder contains no finished shard; a shard is missing, given twice, or from another run.
    """
    if output.resolve() in [folder.resolve() for folder in folders]:
        raise SamplesError(f"{output} is one of the shards: name another folder with --output")
    try:
        with exclusive(output / JOURNAL):
            return _merge_shards(folders, output)
    except ODD as err:
        raise SamplesError(
            f"the shards' files are not as `academiceval eval` writes them ({type(err).__name__}: {err})"
        ) from err


def _merge_shards(folders: Sequence[Path], output: Path) -> list[Score]:
    shards = sorted(map(_read, folders), key=lambda one: one.shard.number)
    _check(shards)
    lines, first = _lines(shards), shards[0]
    check_output(output, first.results.model, lines)
    samples = {task: [Sample.of_logged(line) for line in task_lines] for task, task_lines in lines.items()}
    scores = scores_of(samples, first.results.model)
    block = block_of(
        samples, first.request, scores, usage_together([one.block.usage for one in shards]), first.block.made_with
    )
    content = {name: value for name, value in first.results.content.items() if name not in _REPLACED}
    figures = {
        task: _means(task_lines, [one.results.table("results").get(task) for one in shards])
        for task, task_lines in lines.items()
    }
    counts = {task: {"original": len(task_lines), "effective": len(task_lines)} for task, task_lines in lines.items()}
    write_run(lines, {**content, "results": figures, "n-samples": counts}, block, first.results.model, output)
    return scores


def _read(folder: Path) -> _ShardRun:
    results = only_result(folder, "a finished shard")
    shard = Shard.of(text_or_none(results.run.metadata.get("shard") if results.run else None))
    if shard is None or results.block is None:
        raise SamplesError(f"{folder} is a whole run, not a shard of one")
    open_run(results)
    return _ShardRun(folder, shard, results, results.block)


def _check(shards: Sequence[_ShardRun]) -> None:
    count, identity = shards[0].shard.count, _identity_of(shards[0])
    seen: dict[int, Path] = {}
    for one in shards:
        if one.shard.count != count:
            raise SamplesError(f"{one.folder} is shard {one.shard}, but {shards[0].folder} is shard {shards[0].shard}")
        if one.shard.number in seen:
            raise SamplesError(f"{seen[one.shard.number]} and {one.folder} are both shard {one.shard}")
        seen[one.shard.number] = one.folder
        own = _identity_of(one)
        differing = [
            *(name for name in _COMMON if getattr(one.block, name) != getattr(shards[0].block, name)),
            *(name for name in {**identity, **own} if own.get(name) != identity.get(name)),
        ]
        if differing:
            raise SamplesError(
                f"{one.folder} and {shards[0].folder} come from different runs: they differ in {', '.join(differing)}"
            )
    missing = [str(number) for number in range(1, count + 1) if number not in seen]
    if missing:
        raise SamplesError(f"of {count} shards, these are missing: {', '.join(missing)}")


def _identity_of(one: _ShardRun) -> dict[str, object]:
    """Return what makes a run a different one: not where and how fast its model and data were served."""
    run = one.request
    return {
        **{name: value for name, value in asdict(run).items() if name not in RUNTIME},
        "tasks": sorted(run.tasks),
        "contexts": sorted(run.contexts),
        "model_args": distinguishing(run.model_args),
        "metadata": {key: value for key, value in run.metadata.items() if key != "dataset"},
    }


def _lines(shards: Sequence[_ShardRun]) -> dict[str, list[Logged]]:
    """Return task -> the logged samples of all shards, in the order that one run gives them."""
    placed: dict[str, dict[int, Logged]] = defaultdict(dict)
    sizes: dict[str, set[int | None]] = defaultdict(set)
    for one in shards:
        for task, file in samples_of(one.results).items():
            for sample, line in read_lines(file):
                position = sample.row.position
                if position is None or position in placed[task]:
                    raise SamplesError(f"{file} contains a sample of {task} without a unique place in the run")
                placed[task][position] = {**line, "doc_id": position}
                sizes[task].add(sample.row.positions)
    for task, lines in placed.items():
        # Rows that do not fit the model, or to which it has no answer, are in no shard.
        counts = [size or 0 for size in sizes[task]]
        if len(counts) > 1 or max(lines) >= counts[0]:
            raise SamplesError(
                f"the shards contain sample {max(lines) + 1} of {task}, but the run has {', '.join(map(str, counts))}"
            )
    return {task: [lines[position] for position in sorted(lines)] for task, lines in sorted(placed.items())}


def _means(lines: Sequence[Logged], figures: Sequence[object]) -> dict[str, object]:
    """Return lm-eval's figures of a task, from those of each shard, which lack what none of its samples has: each the mean over all
    samples.
    """
    means: dict[str, object] = {}
    known = {name: value for each in figures if isinstance(each, Mapping) for name, value in each.items()}
    for name, value in known.items():
        metric = name.partition(",")[0]
        if metric.endswith("_stderr"):
            # Standard errors over all samples cannot be computed from the shards'; our intervals come from the samples.
            continue
        values = [line[metric] for line in lines if isinstance(line.get(metric), float | int)]
        if name == "sample_len":
            means[name] = len(lines)
        else:
            means[name] = fmean(values) if values else value
    return means
