"""Confidence intervals over papers that are not independent: papers of one first author come and go together.

A t interval (Miller 2024, arXiv 2411.00640, for why clusters count; Efron and Stein 1981 for the jackknife): the standard error is that
of leaving out one first author at a time, and authors with many papers lower the degrees of freedom. `benchmarks/intervals.py`
measures how often such intervals contain the truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from lm_eval_tasks.core.power import FEWEST, LEVEL, detectable

NO_INTERVAL = (
    f"If an interval is missing, the papers have fewer than {FEWEST} first authors, or all have the same score."
)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, its interval, and how unlikely 0 is as the mean.

    Attributes:
        low, high: None with fewer than `FEWEST` clusters.
        p: two-sided p-value of "the mean is 0", useful for differences; None likewise.
        detectable: the smallest true difference that this many samples would show in four out of five cases, or None.
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    samples: int
    clusters: int
    detectable: float | None = None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Low and high, None if there are none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def interval(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The mean of values and its interval.

    Args:
        values: one number for each sample, at least one.
        clusters: for each sample, what it shares with those that it depends on.
    """
    mean, over, n = mean_interval(values, clusters)
    if over is None:
        return Interval(mean, None, None, None, len(values), n)
    if not over.error and mean:  # all the same: too few to say how others would differ
        return Interval(mean, None, None, None, len(values), n)
    return Interval(mean, over.low, over.high, over.p, len(values), n, detectable(over.error, over.freedom))


def cluster_numbers(clusters: Sequence[str]) -> NDArray[np.int64]:
    """For each sample the number of its cluster, in the order in which clusters come."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[name] for name in clusters], dtype=np.int64)


def mean_interval(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, TInterval | None, int]:
    """A mean, its interval by the jackknife (None with fewer than `FEWEST` clusters), and how many clusters there are."""
    array, of = np.asarray(values, dtype=float), cluster_numbers(clusters)
    mean, sums, counts = float(array.mean()), np.bincount(of, weights=array), np.bincount(of)
    if len(counts) < FEWEST:
        return mean, None, len(counts)
    return mean, t_interval(mean, (sums.sum() - sums) / (len(array) - counts), counts), len(counts)


@dataclass(frozen=True, slots=True)
class TInterval:
    """An interval of any estimate, and how unlikely 0 is.

    Attributes:
        error: standard error.
        freedom: degrees of freedom.
    """

    low: float
    high: float
    p: float
    error: float
    freedom: float


def t_interval(value: float, left: NDArray[np.float64], weights: NDArray[Any]) -> TInterval:
    """The interval of an estimate by the jackknife.

    Args:
        left: the estimate without each cluster, shape (clusters,).
        weights: how much each cluster counts; unequal weights lower the degrees of freedom.
    """
    n = len(left)
    error = float(np.sqrt((n - 1) / n * ((left - value) ** 2).sum()))
    freedom = float(weights.sum()) ** 2 / float((np.asarray(weights, dtype=float) ** 2).sum()) - 1
    reach = float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * error
    p = 2 * float(special.stdtr(freedom, -abs(value) / error)) if error else float(value == 0)
    return TInterval(value - reach, value + reach, p, error, freedom)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for their number (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected
