"""Verdicts -> win rates: over both orders, over the first alone (the paper's), and by dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL, TIE, points_in, points_of


def table(results: Mapping[str, Any]) -> Table:
    """A row for each task and judge."""
    head = ("Task", "Judge", "Judged", "Win rate [95%]", "Worst and best case", "One order", "Consistent")
    rows = [
        (task, model, *_cells(figures))
        for task, judges in results["tasks"].items()
        for model, figures in judges.items()
    ]
    return Table(head, "llrrrrr", rows)


def _cells(figures: Mapping[str, Any]) -> tuple[object, ...]:
    raw, consistent = (
        "" if figures[name] is None else f"{figures[name]:.3f}" for name in ("raw_win_rate", "position_consistency")
    )
    judged = figures["judged"]
    if raw and (read := figures.get("raw_judged", judged)) != judged:
        raw += f" (of {read})"
    return (
        f"{judged} of {figures['samples']}",
        with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if (rate := figures["win_rate"]) else "",
        " to ".join(f"{rate:.3f}" for rate in figures["worst_and_best"] or ()) if judged < figures["samples"] else "",
        raw,
        consistent,
    )


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
        """The points of the generated text in the order in which it came first, and in the other."""
        return points_in(self.orders[0], 1), points_in(self.orders[1], 2)

    def points(self, dimension: str = OVERALL) -> float | None:
        """1 if both orders prefer the generated text, 0 if neither does, between them for ties and disagreements; None if unread."""
        return points_of(self.orders, dimension) if self.settled is None else self.settled


def summary(samples: Sequence[Judged]) -> dict[str, Any]:
    """The figures of one task and judge; rates are None if no verdict could be read."""
    verdicts = [winners for sample in samples for winners in sample.orders if winners is not None]
    both = [pair for sample in samples if None not in (pair := sample.by_order())]
    failed = sum(sample.failed for sample in samples)
    questions = sum(2 for sample in samples if sample.settled is None)
    # In the first order alone: the paper's win rate.
    firsts = (sample.by_order()[0] if sample.settled is None else sample.settled for sample in samples)
    raw = [points for points in firsts if points is not None]
    return {
        "samples": len(samples),
        "empty": sum(sample.empty for sample in samples),
        "failed": failed,
        "unparseable": questions - len(verdicts) - failed,
        "judged": sum(sample.points() is not None for sample in samples),
        "ties": sum(winners[OVERALL] == TIE for winners in verdicts),
        "win_rate": _mean_points(samples, OVERALL),
        "worst_and_best": _worst_and_best(samples),
        "raw_win_rate": fmean(raw) if raw else None,
        "raw_judged": len(raw),
        "position_consistency": fmean(first == second for first, second in both) if both else None,
        "first_place_share": fmean(points_in(winners, 1) or 0.0 for winners in verdicts) if verdicts else None,
        "dimensions": {name: _mean_points(samples, name) for name in DIMENSIONS},
    }


def _worst_and_best(samples: Sequence[Judged]) -> list[float] | None:
    """The win rates if all verdicts that could not be read were losses, and if all were wins; None without samples."""
    if not samples:
        return None
    rates = []
    for unread in (0.0, 1.0):
        orders = [
            [sample.settled] if sample.settled is not None else [unread if p is None else p for p in sample.by_order()]
            for sample in samples
        ]
        rates.append(fmean(fmean(points) for points in orders))
    return rates


def _mean_points(samples: Sequence[Judged], name: str) -> dict[str, float | None] | None:
    """The win rate, overall or by a dimension, with its interval."""
    read = [(points, sample.cluster) for sample in samples if (points := sample.points(name)) is not None]
    if not read:
        return None
    over = level([points for points, _ in read], [cluster for _, cluster in read])
    return {"value": over.mean, "low": over.low, "high": over.high, "samples": over.samples}
