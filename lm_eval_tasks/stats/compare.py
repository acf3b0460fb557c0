"""`academiceval compare A B`: paired differences between two runs, with clustered intervals and corrected p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import DIFFERENCES, Interval, holm
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.samples.sample import Sample, by_task, read
from lm_eval_tasks.stats.columns import column


@dataclass(frozen=True, slots=True)
class Difference:
    """B - A over the papers that both runs answered.

    Attributes:
        left_out: samples of either run that are not compared: the other one lacks them, or one of the two has no such score.
        corrected_p: p over all differences that are shown together and have one (Holm).
    """

    task: str
    metric: str
    a: float
    b: float
    difference: Interval
    left_out: int
    corrected_p: float | None = None


def compare(a: Path, b: Path, metrics: Sequence[str] | None = None) -> list[Difference]:
    """Compare two runs, sample by sample.

    Args:
        a, b: samples files or folders of them.
        metrics: names; by default the headline ones.

    Raises:
        SamplesError: the runs have few samples in common, or were made with different rounds or prompts.
    """
    if a.resolve() == b.resolve():
        raise SamplesError(f"{a} cannot be compared with itself: give the runs of two models")
    metrics = metrics or registry.headline()
    first, second = by_task(read([a])), by_task(read([b]))
    common = [task for task in first if task in second]
    if not common:
        raise SamplesError(f"{a} and {b} have no task in common ({_task_names(first)}; {_task_names(second)})")
    differences = [
        difference for task in common for difference in _differences(task, first[task], second[task], metrics)
    ]
    if not differences:
        raise SamplesError(f"neither {a} nor {b} has one of the scores {', '.join(metrics)} in both runs")
    corrected = iter(holm([p for difference in differences if (p := difference.difference.p) is not None]))
    return [
        difference if difference.difference.p is None else replace(difference, corrected_p=next(corrected))
        for difference in differences
    ]


def _differences(
    task: str, first: Sequence[Sample], second: Sequence[Sample], metrics: Sequence[str]
) -> Iterator[Difference]:
    """The differences on one task, one for each metric that pairs of samples have."""
    pairs = _pairs(task, first, second)
    for metric in metrics:
        both = [(x, y) for x, y in pairs if metric in x.scores and metric in y.scores]
        rows = [(x.id, y.scores[metric] - x.scores[metric], x.cluster) for x, y in both]
        gains = column(metric, rows, DIFFERENCES if registry.limits_of(metric) else None)
        if gains:
            a = fmean(x.scores[metric] for x, _ in both)
            b = fmean(y.scores[metric] for _, y in both)
            yield Difference(task, metric, a, b, gains.interval(), len(first) + len(second) - 2 * len(both))


def spreads(a: Path, b: Path) -> dict[tuple[str, str], float]:
    """(Task, headline metric) -> standard deviation of the differences between two runs on one paper."""
    first, second = by_task(read([a])), by_task(read([b]))
    spread = {}
    for task in [task for task in first if task in second]:
        pairs = _pairs(task, first[task], second[task])
        for metric in registry.headline():
            gains = [y.scores[metric] - x.scores[metric] for x, y in pairs if metric in x.scores and metric in y.scores]
            if len(gains) > 1:
                spread[task, metric] = stdev(gains)
    return spread


def tasks_apart(a: Path, b: Path) -> list[str]:
    """The tasks that only one of two runs has."""
    return sorted({sample.task for sample in read([a])} ^ {sample.task for sample in read([b])})


def table(differences: Sequence[Difference], a: Path, b: Path) -> Table:
    """The differences, a row for each, under the names of the runs' files or folders."""
    first, second = (a.resolve().name, b.resolve().name) if a.resolve().name != b.resolve().name else (str(a), str(b))
    head = (
        "Task",
        "Score",
        "Papers",
        "Left out",
        "First authors",
        first,
        second,
        f"{second} - {first}",
        "95% interval",
        "p",
        "p (Holm)",
        "Detectable",
    )
    return Table(head, "llrrrrrrlrrr", [_row(row, row.difference) for row in differences])


def _row(difference: Difference, interval: Interval) -> tuple[object, ...]:
    return (
        difference.task,
        difference.metric,
        interval.samples,
        difference.left_out,
        interval.clusters,
        f"{difference.a:.4f}",
        f"{difference.b:.4f}",
        f"{interval.mean:+.4f}",
        bounds_text(interval.low, interval.high, "+.4f"),
        _p(interval.p),
        _p(difference.corrected_p),
        _p(interval.detectable),
    )


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if 0 <= value < 0.0001 else f"{value:.4f}"


def _pairs(task: str, first: Sequence[Sample], second: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    theirs = {sample.id: sample for sample in second}
    pairs = [(sample, theirs[sample.id]) for sample in first if sample.id in theirs]
    for x, y in pairs:
        for what, ours, other in (
            ("round", x.row.round, y.row.round),
            ("prompts", x.row.prompt_version, y.row.prompt_version),
        ):
            if ours != other:
                raise SamplesError(
                    f"{task} {x.id} was run with {what} {ours} and {what} {other}: such runs cannot be compared"
                )
        if x.row.target != y.row.target:
            raise SamplesError(f"{task} {x.id} has a different target in the other run: the datasets differ")
    most = max(len(first), len(second))
    if 2 * len(pairs) < most:
        raise SamplesError(
            f"the two runs of {task} have only {len(pairs)} of {most} papers in common: run both over the same samples"
        )
    return pairs


def _task_names(tasks: dict[str, list[Sample]]) -> str:
    return ", ".join(sorted(tasks))
