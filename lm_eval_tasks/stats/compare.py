"""`academiceval compare A B`: paired differences between two runs, with clustered intervals and corrected p-values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import Interval, holm
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.samples.sample import Sample, by_task, read
from lm_eval_tasks.stats.columns import column


@dataclass(frozen=True, slots=True)
class Difference:
    """B - A over the papers that both runs answered.

    Attributes:
        left_out: samples of either run that the other one does not have.
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
    metrics = metrics or registry.headline()
    first, second = by_task(read([a])), by_task(read([b]))
    common = [task for task in first if task in second]
    if not common:
        raise SamplesError(f"{a} and {b} have no task in common ({_named(first)}; {_named(second)})")
    differences = [
        difference for task in common for difference in _differences(task, first[task], second[task], metrics)
    ]
    if not differences:
        raise SamplesError(f"neither {a} nor {b} has one of the scores {', '.join(metrics)} in both runs")
    corrected = iter(holm([p for one in differences if (p := one.difference.p) is not None]))
    return [one if one.difference.p is None else replace(one, corrected_p=next(corrected)) for one in differences]


def _differences(
    task: str, first: Sequence[Sample], second: Sequence[Sample], metrics: Sequence[str]
) -> Iterator[Difference]:
    """The differences on one task, one for each metric that pairs of samples have."""
    pairs = _pairs(task, first, second)
    left_out = len(first) + len(second) - 2 * len(pairs)
    for metric in metrics:
        both = [(x, y) for x, y in pairs if metric in x.scores and metric in y.scores]
        gains = column(metric, [(x.id, y.scores[metric] - x.scores[metric], x.cluster) for x, y in both])
        if gains:
            a, b = (fmean(pair[side].scores[metric] for pair in both) for side in (0, 1))
            yield Difference(task, metric, a, b, gains.interval(), left_out)


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
    one, other = (a.resolve().name, b.resolve().name) if a.resolve().name != b.resolve().name else (str(a), str(b))
    head = (
        "Task",
        "Score",
        "Papers",
        "Left out",
        "First authors",
        one,
        other,
        f"{other} - {one}",
        "95% interval",
        "p",
        "p (Holm)",
        "Detectable",
    )
    return Table(head, "llrrrrrrlrrr", [_row(row, row.difference) for row in differences])


def _row(one: Difference, over: Interval) -> tuple[object, ...]:
    return (
        one.task,
        one.metric,
        over.samples,
        one.left_out,
        over.clusters,
        f"{one.a:.4f}",
        f"{one.b:.4f}",
        f"{over.mean:+.4f}",
        bounds_text(over.low, over.high, "+.4f"),
        _p(over.p),
        _p(one.corrected_p),
        _p(over.detectable),
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


def _named(tasks: dict[str, list[Sample]]) -> str:
    return ", ".join(sorted(tasks))
