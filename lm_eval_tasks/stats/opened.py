"""The one door to a run: a number is what its rows give.

Whoever shows, compares, judges, merges or publishes a run opens it here. Its files are those that its results list, each row stands once
and is of its task, each score is what its answer gives, and each number of the results is what the rows give. Where this release does not
know how an answer was read and scored, the scores of a row are taken as they are, and the run says so.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lm_eval_tasks.base.contract import CALLED, CONTEXTS, FULL, LIKELIHOOD
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.manifest import Manifest, SplitContents
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.base.text import ODD
from lm_eval_tasks.families.registry import find_metric
from lm_eval_tasks.families.score import SCORER, score_again, score_likelihoods_again
from lm_eval_tasks.samples.answers import ScoredAnswer
from lm_eval_tasks.samples.block import Block, Score
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.results import Results, figures_of, read_results
from lm_eval_tasks.samples.run_folder import newest_results, results_in, samples_beside, samples_of
from lm_eval_tasks.samples.sample import Logged, Sample, read, read_lines, replies_of
from lm_eval_tasks.stats.scores import block_of, scores_of, shown_scores
from lm_eval_tasks.tasks.catalogue import TASKS

_LOGGER = logging.getLogger(__name__)
_ROUNDING = 1e-6
_AGAIN = "run `academiceval eval` again into this folder, which asks nothing twice"
# What a block says of its rows besides scores.
_OF_ROWS = ("rounds", "prompt_versions", "datasets", "subsets", "failures")


def open_run(results: Results) -> dict[str, list[Sample]]:
    """Read the samples of a run: task, as lm-eval names it, -> its samples; empty where none lie beside its results.

    Raises:
        SamplesError: a file is missing or another one, a row stands twice or is of another task, or a number is not what the rows give; the
            message names it.
    """
    samples = {task: _read_task(task, file, results) for task, file in samples_of(results).items()}
    if not samples:
        _warn_of_unchecked(results)
        return {}
    _warn_of_unknown(results.path, [sample for of_task in samples.values() for sample in of_task])
    _check_scores(results, samples)
    if results.block:
        _check_block(results.path, results.block, samples)
    return samples


def check_against(results: Results, manifest: Manifest) -> None:
    """Compare what a run says of its round with the manifest of the folder that it was run over.

    Raises:
        SamplesError: another round, or a task of which it says that there are other rows.
    """
    if set(results.rounds) - {manifest.round}:
        raise SamplesError(
            f"{results.path} is of {results.round}, but the dataset that it was run over is {manifest.round}: {_AGAIN}"
        )
    for score in results.scores:
        asked = _asked_by(score.task)
        listed = manifest.find(asked[0]) if asked else None
        if listed is None or results.split != TEST or "config" in results.options:
            continue
        contents = listed.splits.get("test", SplitContents())
        by_id = manifest.by_ids_of(listed.name)
        rows = contents.statistics.samples + contents.lacking + (by_id.statistics("test").samples if by_id else 0)
        if score.of not in (None, rows):
            raise SamplesError(
                f"{results.path} says that {score.task} has {score.of} rows, but the dataset that it was run over has {rows}: {_AGAIN}"
            )


def read_runs(paths: Sequence[Path]) -> list[Sample]:
    """Read samples as `samples.sample.read` does, of runs that can be opened and files whose rows are what they say."""
    for path in paths:
        opened = set(_opened_files(path))
        files = path.rglob("samples_*.jsonl") if path.is_dir() else [path] * (path.suffix == ".jsonl")
        for file in files:
            # What results do not list, `read` leaves out.
            if file not in opened and not results_in(file.parent):
                read_rows(file)
    return read(paths)


def _opened_files(path: Path) -> Iterator[Path]:
    """Open the runs of a folder, or the run that a file of samples belongs to; yield the files that were read."""
    for file in newest_results(path) if path.is_dir() else results_in(path.parent):
        results = read_results(file)
        files = samples_of(results).values()
        if path.is_dir() or path in files:
            open_run(results)
            yield from files


def shown_run(results: Results) -> Iterator[str | Table]:
    """Yield the scores of a run, and its gains; those of results whose samples are elsewhere are said to be unchecked."""
    is_alone = not samples_beside(results.path)
    if is_alone:
        _warn_of_unchecked(results)
    samples = {} if is_alone else open_run(results)
    counts = {(score.task, score.metric): score.samples for score in scores_of(samples, results.model)}
    scores = (replace(one, samples=counts.get((one.task, one.metric), one.samples)) for one in results.scores)
    yield from shown_scores(replace(results, scores=tuple(scores)), samples)


def _warn_of_unchecked(results: Results) -> None:
    _LOGGER.warning("%s: its samples are not beside it, so none of its numbers was checked", results.path)


def _warn_of_unknown(path: Path, samples: Sequence[Sample]) -> None:
    unknown = sum(not _is_known(sample) for sample in samples)
    if unknown:
        _LOGGER.warning(
            "%s: of %d of %d rows the texts are not there, or another release scored them, so only the means of their scores were checked",
            path,
            unknown,
            len(samples),
        )


# --- the rows


def _read_task(task: str, file: Path, results: Results) -> list[Sample]:
    samples = _rows_of(file)
    if not samples:
        raise SamplesError(f"{file} has no sample: run that task again")
    asked, expected = samples[0].row, _asked_by(task)
    if expected and "config" not in results.options:
        # The bare lm_eval calls a task the same, however much the option `context` shows.
        given = str(results.options.get("context") or FULL)
        given = CALLED.get(given, given)
        if (asked.setting, asked.shown) != (expected[0], expected[1] or given * (given != FULL)):
            raise SamplesError(f"{file} has samples of {samples[0].task}, which the task {task} does not ask: {_AGAIN}")
    return samples


def _asked_by(task: str) -> tuple[str, str] | None:
    """Return the configuration that a task asks and its shorter context; None for a task that is not ours."""
    known = next((one for one in TASKS if one.name == task), None)
    if known:
        return known.configuration, "" if known.context == FULL else known.context
    named = ((one.configuration, context) for context in CONTEXTS for one in TASKS if f"{one.name}_{context}" == task)
    return next(named, None)


def read_rows(file: Path) -> list[Sample]:
    """Read a file of samples that no results list; say so if they could not all be scored again.

    Raises:
        SamplesError: a row is another one than it says; the message names it.
    """
    samples = _rows_of(file)
    _warn_of_unknown(file, samples)
    return samples


def _rows_of(file: Path) -> list[Sample]:
    """Read the samples of a file: one task's, each with the scores that its answer gives; a SamplesError that names another row."""
    samples: dict[str, Sample] = {}
    for sample, line in read_lines(file):
        if sample.id in samples:
            raise SamplesError(f"{file} has two answers to {sample.id}: give the files of one run of one model")
        samples[sample.id] = sample
        if sample.task != next(iter(samples.values())).task:
            raise SamplesError(f"{file} has samples of several tasks, {sample.id} of {sample.task}: {_AGAIN}")
        if _is_known(sample):
            _check_sample(sample, line, file)
    return list(samples.values())


def _is_known(sample: Sample) -> bool:
    """Tell whether this release reads and scores an answer as it was, and its texts are there."""
    return sample.scorer == SCORER and bool(sample.row.target)


def _check_sample(sample: Sample, line: Logged, file: Path) -> None:
    """Read and score an answer again; a SamplesError if its line says something else."""
    try:
        again = _scored_again(sample.row, line)
    except ODD as err:
        raise SamplesError(f"{file}: the answer to {sample.id} cannot be scored again ({err}): {_AGAIN}") from err
    if again.answer != sample.answer:
        raise SamplesError(
            f"{file}: the answer to {sample.id} is {sample.answer!r:.60}, but its text reads as {again.answer!r:.60}: {_AGAIN}"
        )
    if not sample.scores and not sample.failed and sample.answer:
        raise SamplesError(f"{file}: {sample.id} has an answer and no score: {_AGAIN}")
    for name, value in again.scores.items() if sample.scores else ():
        stated = sample.scores.get(name)
        if name not in sample.failed and not _equal(stated, value):
            raise SamplesError(f"{file}: {name} of {sample.id} is {stated}, but its answer gives {value}: {_AGAIN}")


def _scored_again(row: PromptRow, line: Logged) -> ScoredAnswer:
    if row.way == LIKELIHOOD:
        return score_likelihoods_again(row, line["doc"], [each[0] for each in line["resps"]])
    return score_again(row, replies_of(line, row))


def _equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    # NaN is equal to nothing.
    return abs(first - second) <= _ROUNDING


# --- the numbers of the results


def _check_scores(results: Results, samples: Mapping[str, Sequence[Sample]]) -> None:
    """Compare each score with that of the samples, and with lm-eval's part, in which a file of ours says it too."""
    computed = {}
    for score in scores_of(samples, results.model):
        computed[score.task, score.metric] = score
        # lm-eval has some metrics under two names.
        metric = find_metric(score.metric)
        if metric and metric.usual:
            computed[score.task, metric.usual] = score
    stated = {
        (task, metric): value
        for task, table in results.table("results").items()
        if isinstance(table, Mapping)
        for metric, value in figures_of(table)
    }
    for score in results.scores:
        key = (score.task, score.metric)
        again = computed.get(key)
        # lm-eval counts the samples of a task, not those that have the score.
        again = again if results.block or not again else replace(again, samples=score.samples)
        if again is None or _differs(score, again) or not _equal(stated.get(key, score.value), score.value):
            raise SamplesError(
                f"{results.path}: {score.task}, {score.metric}: {score.value} over {score.samples} is not what the samples beside it give; "
                f"{_AGAIN}"
            )
        is_same = _equal(score.low, again.low) and _equal(score.high, again.high)
        if results.block and all(map(_is_known, samples[score.task])) and not is_same:
            raise SamplesError(
                f"{results.path}: {score.task}, {score.metric}: the interval from {score.low} to {score.high} is not that of the samples "
                f"beside it; {_AGAIN}"
            )


def _differs(score: Score, again: Score) -> bool:
    of_another = bool(score.of) and again.of != score.of
    return of_another or again.samples != score.samples or not _equal(again.value, score.value)


def _check_block(path: Path, block: Block, samples: Mapping[str, Sequence[Sample]]) -> None:
    again = block_of(samples, block.run, block.scores, block.usage, block.made_with)
    for name in _OF_ROWS:
        if getattr(again, name) != getattr(block, name):
            raise SamplesError(
                f"{path}: its {name.replace('_', ' ')} are {getattr(block, name)!s:.80}, but the samples beside it have "
                f"{getattr(again, name)!s:.80}; {_AGAIN}"
            )
