"""Verdicts -> win rates: over both orders, over the first alone (the paper's), controlled for length, by dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any

import numpy as np
from sklearn.metrics import cohen_kappa_score

from lm_eval_tasks.core.intervals import SHARES, Interval, interval
from lm_eval_tasks.judge.verdict import CLAIMS, DIMENSIONS, OVERALL, points_of

_RIDGE = 1e-2
_STEPS = 50


@dataclass(frozen=True, slots=True)
class Judged:
    """One sample as a judge saw it.

    Attributes:
        orders: the winners' places with the generated text first, and with it second; None if a verdict could not be read.
        empty: there was no text to judge, which is a loss.
        unopposed: there was no text to compare it with, which is a win.
        length: words of the generated text less words of the reference.
        failed: questions that got no answer.
        claims: counts of the generated text and of the reference, for each order in which they were given.
    """

    task: str
    id: str
    cluster: str
    orders: tuple[Mapping[str, int] | None, Mapping[str, int] | None]
    empty: bool
    length: int
    failed: int = 0
    unopposed: bool = False
    claims: tuple[tuple[Mapping[str, int], Mapping[str, int]], ...] = ()

    @property
    def settled(self) -> float | None:
        """The points of a sample that needs no judge, because a text is missing; None for all others."""
        return (self.unopposed + (not self.empty)) / 2 if self.empty or self.unopposed else None

    def points(self, dimension: str = OVERALL) -> float | None:
        """1 if both orders prefer the generated text, 0 if neither does, 0.5 if they disagree; None if unread."""
        return points_of(self.orders, dimension) if self.settled is None else self.settled


def summary(samples: Sequence[Judged]) -> dict[str, Any]:
    """The figures of one task and judge; rates are None if no verdict could be read."""
    read = [(sample, points) for sample in samples if (points := sample.points()) is not None]
    verdicts = [winners for sample in samples for winners in sample.orders if winners is not None]
    both = [sample.orders for sample in samples if sample.orders[0] is not None and sample.orders[1] is not None]
    failed = sum(sample.failed for sample in samples)
    questions = sum(2 for sample in samples if sample.settled is None)
    rate = interval([points for _, points in read], [sample.cluster for sample, _ in read], SHARES) if read else None
    return {
        "samples": len(samples),
        "empty": sum(sample.empty for sample in samples),
        "failed": failed,
        "unparseable": questions - len(verdicts) - failed,
        "win_rate": _interval(rate),
        "raw_win_rate": _raw(samples),
        "length_controlled_win_rate": length_controlled([p for _, p in read], [sample.length for sample, _ in read])
        if read
        else None,
        "position_consistency": fmean((a[OVERALL] == 1) == (b[OVERALL] == 2) for a, b in both) if both else None,  # type: ignore[index]
        "first_place_share": fmean(winners[OVERALL] == 1 for winners in verdicts) if verdicts else None,
        "dimensions": {name: _dimension(samples, name) for name in DIMENSIONS},
        "claims": _claims(samples),
    }


def _claims(samples: Sequence[Judged]) -> dict[str, dict[str, int]] | None:
    """How many claims of the generated texts and of the references are supported, contradicted and not found; None if not asked for."""
    pairs = [pair for sample in samples for pair in sample.claims]
    if not pairs:
        return None
    return {
        whose: {name: sum(pair[i][name] for pair in pairs) for name in CLAIMS}
        for i, whose in enumerate(("text", "reference"))
    }


def _dimension(samples: Sequence[Judged], name: str) -> dict[str, float | None] | None:
    read = [(points, sample.cluster) for sample in samples if (points := sample.points(name)) is not None]
    return _interval(interval([points for points, _ in read], [cluster for _, cluster in read])) if read else None


def _raw(samples: Sequence[Judged]) -> float | None:
    """The win rate in the first order alone, like the paper's."""
    wins = [
        float(sample.orders[0][OVERALL] == 1) if sample.settled is None else sample.settled  # type: ignore[index]
        for sample in samples
        if sample.settled is not None or sample.orders[0]
    ]
    return fmean(wins) if wins else None


def length_controlled(points: Sequence[float], lengths: Sequence[int]) -> float:
    """The win rate at equal length: a logistic regression on the difference of lengths, its term set to 0.

    After Dubois et al. 2024 (arXiv 2404.04475): the difference enters as the tanh of its standard score. A weak ridge keeps
    weights finite if a judge never wavers.
    """
    spread = float(np.std(lengths)) or 1.0
    table = np.column_stack([np.ones(len(points)), np.tanh(np.asarray(lengths) / spread)])
    target, weights = np.asarray(points, dtype=float), np.zeros(2)
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (target - expected) - _RIDGE * weights
        curve = (table * (expected * (1 - expected))[:, None]).T @ table + _RIDGE * np.eye(2)
        step = np.linalg.solve(curve, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return float(1 / (1 + math.exp(-weights[0])))


def kappas(judged: Mapping[str, Sequence[Judged]]) -> dict[str, float | None]:
    """Cohen's kappa of every two judges over the samples that both could decide, by "A and B"."""
    agreement: dict[str, float | None] = {}
    for first, second in combinations(sorted(judged), 2):
        theirs = {(s.task, s.id): s.points() for s in judged[second]}
        pairs = [(s.points(), theirs.get((s.task, s.id))) for s in judged[first]]
        agreement[f"{first} and {second}"] = kappa([(a, b) for a, b in pairs if a is not None and b is not None])
    return agreement


def kappa(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Agreement beyond chance (Cohen 1960); None without pairs, or if chance alone would always agree."""
    if len({value for pair in pairs for value in pair}) < 2:
        return None
    # Points are categories here: half a point lies midway between one and none.
    first = [str(value) for value, _ in pairs]
    second = [str(value) for _, value in pairs]
    return float(cohen_kappa_score(first, second))


def panel(judged: Mapping[str, Sequence[Judged]]) -> dict[str, float | None] | None:
    """The win rate of several judges together: each sample's mean over the judges that could decide it."""
    points: dict[tuple[str, str], list[float]] = {}
    clusters: dict[tuple[str, str], str] = {}
    for samples in judged.values():
        for sample in samples:
            if (value := sample.points()) is not None:
                points.setdefault((sample.task, sample.id), []).append(value)
                clusters[sample.task, sample.id] = sample.cluster
    if not points:
        return None
    return _interval(interval([fmean(values) for values in points.values()], [clusters[key] for key in points]))


def _interval(estimate: Interval | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    return {"value": estimate.mean, "low": estimate.low, "high": estimate.high, "samples": estimate.samples}
