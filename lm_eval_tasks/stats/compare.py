"""`academiceval compare A B`: paired differences between two runs, with clustered intervals and corrected p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import stdev

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import Interval, holm, interval
from lm_eval_tasks.core.tables import Table
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.samples.logged import Logged, by_task, read


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
    corrected_p: float | None


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
    found: list[tuple[str, str, float, float, Interval, int]] = []
    for task in common:
        pairs = _pairs(task, first[task], second[task])
        left_out = len(first[task]) + len(second[task]) - 2 * len(pairs)
        for metric in metrics:
            both = [(x, y) for x, y in pairs if metric in x.scores and metric in y.scores]
            if both:
                ours = [x.scores[metric] for x, _ in both]
                theirs = [y.scores[metric] for _, y in both]
                gains = [y - x for x, y in zip(ours, theirs, strict=True)]
                of_pairs = interval(gains, [x.cluster for x, _ in both])
                found.append((task, metric, sum(ours) / len(ours), sum(theirs) / len(theirs), of_pairs, left_out))
    if not found:
        raise SamplesError(f"neither {a} nor {b} has one of the scores {', '.join(metrics)} in both runs")
    corrected = iter(holm([one[4].p for one in found if one[4].p is not None]))
    return [Difference(*one, next(corrected) if one[4].p is not None else None) for one in found]


def spreads(a: Path, b: Path) -> dict[tuple[str, str], float]:
    """(Task, headline metric) -> standard deviation of the differences between two runs on one paper."""
    first, second = by_task(read([a])), by_task(read([b]))
    found = {}
    for task in [task for task in first if task in second]:
        pairs = _pairs(task, first[task], second[task])
        for metric in registry.headline():
            gains = [y.scores[metric] - x.scores[metric] for x, y in pairs if metric in x.scores and metric in y.scores]
            if len(gains) > 1:
                found[task, metric] = stdev(gains)
    return found


def tasks_apart(a: Path, b: Path) -> list[str]:
    """The tasks that only one of two runs has."""
    return sorted({one.task for one in read([a])} ^ {one.task for one in read([b])})


def table(differences: Sequence[Difference], a: Path, b: Path) -> Table:
    """The differences, a row for each, under the names of the runs' files or folders."""
    one, other = (a.resolve().name, b.resolve().name) if a.resolve().name != b.resolve().name else (str(a), str(b))
    head = (
        "Task", "Score", "Papers", "Left out", "First authors", one, other, f"{other} - {one}", "95% interval", "p", "p (Holm)",
        "Detectable",
    )  # fmt: skip
    return Table(head, "llrrrrrrlrrr", [_row(row, row.difference) for row in differences])


def _row(one: Difference, over: Interval) -> tuple[object, ...]:
    return (
        one.task, one.metric, over.samples, one.left_out, over.clusters, f"{one.a:.4f}", f"{one.b:.4f}", f"{over.mean:+.4f}",
        "[{:+.4f}, {:+.4f}]".format(*over.bounds) if over.bounds else "-", _p(over.p), _p(one.corrected_p), _p(over.detectable),
    )  # fmt: skip


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<0.0001" if 0 <= value < 0.0001 else f"{value:.4f}"


def _pairs(task: str, first: Sequence[Logged], second: Sequence[Logged]) -> list[tuple[Logged, Logged]]:
    theirs = {one.id: one for one in second}
    pairs = [(one, theirs[one.id]) for one in first if one.id in theirs]
    for one, other in pairs:
        for what, x, y in (("round", one.round, other.round), ("prompts", one.prompt_version, other.prompt_version)):
            if x != y:
                raise SamplesError(
                    f"{task} {one.id} was run with {what} {x} and {what} {y}: such runs cannot be compared"
                )
        if one.target != other.target:
            raise SamplesError(f"{task} {one.id} has a different target in the other run: the datasets differ")
    most = max(len(first), len(second))
    if 2 * len(pairs) < most:
        raise SamplesError(
            f"the two runs of {task} have only {len(pairs)} of {most} papers in common: run both over the same samples"
        )
    return pairs


def _named(tasks: dict[str, list[Logged]]) -> str:
    return ", ".join(sorted(tasks))
