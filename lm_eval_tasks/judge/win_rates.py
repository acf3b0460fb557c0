"""Verdicts -> win rates: over both orders, over the first alone (the paper's), and by dimension."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL, TIE, points_in, points_of


@dataclass(frozen=True, slots=True)
class Judged:
    """One sample as a judge saw it.

    Attributes:
        orders: the winners' places with the generated text first, and with it second; None if a verdict could not be read.
        empty: there was no text to judge, which is a loss.
        unopposed: there was no text to compare it with, which is a win.
        failed: questions that got no answer.
    """

    task: str
    id: str
    cluster: str
    orders: tuple[Mapping[str, int] | None, Mapping[str, int] | None]
    empty: bool
    failed: int = 0
    unopposed: bool = False

    @property
    def settled(self) -> float | None:
        """The points of a sample that needs no judge, because a text is missing; None for all others."""
        return (self.unopposed + (not self.empty)) / 2 if self.empty or self.unopposed else None

    def by_order(self) -> tuple[float | None, float | None]:
        """Return the points of the generated text in the order in which it came first, and in the other."""
        return points_in(self.orders[0], 1), points_in(self.orders[1], 2)

    @property
    def verdicts(self) -> list[Mapping[str, int]]:
        """Those that could be read."""
        return [winners for winners in self.orders if winners is not None]

    @property
    def first_points(self) -> float | None:
        """The points in the order in which the generated text came first: the paper's win."""
        return self.by_order()[0] if self.settled is None else self.settled

    def points(self, dimension: str = OVERALL) -> float | None:
        """Return 1 if both orders prefer the generated text, 0 if neither does, between them for ties and disagreements; None if unread."""
        return points_of(self.orders, dimension) if self.settled is None else self.settled

    def points_if(self, unread: float) -> float:
        """Return the same if every verdict that could not be read gave so many points."""
        if self.settled is not None:
            return self.settled
        return fmean(unread if points is None else points for points in self.by_order())


def summary(samples: Sequence[Judged]) -> dict[str, Any]:
    """Compute the figures of one task and judge; rates are None if no verdict could be read."""
    verdicts = [winners for sample in samples for winners in sample.verdicts]
    raw = _known(sample.first_points for sample in samples)
    failed = sum(sample.failed for sample in samples)
    asked = 2 * sum(sample.settled is None for sample in samples)
    return {
        "samples": len(samples),
        "empty": sum(sample.empty for sample in samples),
        "failed": failed,
        "unparseable": asked - len(verdicts) - failed,
        "judged": len(_known(sample.points() for sample in samples)),
        "ties": sum(winners[OVERALL] == TIE for winners in verdicts),
        "win_rate": _mean_points(samples, OVERALL),
        "worst_and_best": _worst_and_best(samples),
        "raw_win_rate": fmean(raw) if raw else None,
        "raw_judged": len(raw),
        "position_consistency": _consistency(samples),
        "first_place_share": _first_place_share(verdicts),
        "dimensions": {name: _mean_points(samples, name) for name in DIMENSIONS},
    }


def _known(points: Iterable[float | None]) -> list[float]:
    return [value for value in points if value is not None]


def _worst_and_best(samples: Sequence[Judged]) -> list[float] | None:
    """Average the points if all verdicts that could not be read were losses, and if all were wins."""
    if not samples:
        return None
    return [fmean(sample.points_if(points) for sample in samples) for points in (0.0, 1.0)]


def _consistency(samples: Sequence[Judged]) -> float | None:
    """Compute the share of samples on which both orders agree, of those whose two verdicts could be read."""
    pairs = [sample.by_order() for sample in samples]
    both = [first == second for first, second in pairs if first is not None and second is not None]
    return fmean(both) if both else None


def _first_place_share(verdicts: Sequence[Mapping[str, int]]) -> float | None:
    if not verdicts:
        return None
    return fmean(points_in(winners, 1) or 0.0 for winners in verdicts)


def _mean_points(samples: Sequence[Judged], name: str) -> dict[str, float | None] | None:
    points = [(sample.points(name), sample.cluster) for sample in samples]
    read = [(value, cluster) for value, cluster in points if value is not None]
    if not read:
        return None
    over = level([value for value, _ in read], [cluster for _, cluster in read])
    return {"value": over.mean, "low": over.low, "high": over.high, "samples": over.samples}


def table(results: Mapping[str, Any]) -> Table:
    """Make a row for each task and judge."""
    head = ("Task", "Judge", "Judged", "Win rate [95%]", "Worst and best case", "One order", "Consistent")
    rows = [
        (task, model, *_cells(figures))
        for task, judges in results["tasks"].items()
        for model, figures in judges.items()
    ]
    return Table(head, "llrrrrr", rows)


def _cells(figures: Mapping[str, Any]) -> tuple[object, ...]:
    judged, rate = figures["judged"], figures["win_rate"]
    one_order = _share(figures["raw_win_rate"])
    read = figures.get("raw_judged", judged)
    if one_order and read != judged:
        one_order += f" (of {read})"
    worst_and_best = figures["worst_and_best"] or () if judged < figures["samples"] else ()
    return (
        f"{judged} of {figures['samples']}",
        with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if rate else "",
        " to ".join(f"{value:.3f}" for value in worst_and_best),
        one_order,
        _share(figures["position_consistency"]),
    )


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
