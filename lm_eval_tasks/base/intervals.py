"""Confidence intervals over papers that are not independent: papers of one first author come and go together.

A t interval (Miller 2024, arXiv 2411.00640, for why clusters count; Efron and Stein 1981 for the jackknife): the standard error is that
of leaving out one first author at a time, and authors with many papers lower the degrees of freedom. `benchmarks/intervals.py`
measures how often such intervals contain the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from lm_eval_tasks.base.power import FEWEST, LEVEL, detectable

_ROUNDING = 1e-9
NO_INTERVAL = f"If an interval is missing, the papers have fewer than {FEWEST} first authors, or the contexts share too many papers."

# The limits of most scores, and of their differences.
SHARES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)


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


def interval(values: Sequence[float], clusters: Sequence[str], limits: tuple[float, float] | None = None) -> Interval:
    """The mean of values and its interval.

    Shares (all values 0 or 1) have Wilson's interval (1927) for the number of independent values that have the same error
    (Korn and Graubard 1998, Survey Methodology 24): a t interval is too short near 0 and 1. Equal values have the exact
    bounds for how often others may occur, if it is known which are possible.

    Args:
        values: one number for each sample, at least one.
        clusters: for each sample, what it shares with those that it depends on.
        limits: the least and the greatest value that is possible, (0, 1) for scores and (-1, 1) for their differences;
            None if there are none.
    """
    mean, over, n = mean_interval(values, clusters)
    if over is None:
        return Interval(mean, None, None, None, len(values), n)
    return within_limits(
        mean, over, len(values), n, limits, are_shares=limits == SHARES and all(map(_is_share, values))
    )


def _is_share(value: float) -> bool:
    """Whether a value is the share of few right answers: 0, 1, halves, thirds and quarters between them."""
    return abs(12 * value - round(12 * value)) < _ROUNDING


def within_limits(
    mean: float, over: TInterval, samples: int, clusters: int, limits: tuple[float, float] | None, *, are_shares: bool
) -> Interval:
    """An estimate with its interval where values cannot lie beyond limits, see `interval`.

    Args:
        over: its t interval.
        are_shares: whether values are shares of few right answers, mostly at the limits.
    """
    if over.error < _ROUNDING:
        if limits is None:
            return Interval(mean, None, None, None, samples, clusters)
        low, high = _bounds_of_equal(mean, over.freedom + 1, limits)
        return Interval(mean, low, high, _p_of_equal(mean, over.freedom + 1, limits), samples, clusters)
    low, high = over.low, over.high
    if limits:
        if are_shares:
            low, high = _wilson(mean, over, samples, limits)
        low, high = max(limits[0], low), min(limits[1], high)
    return Interval(mean, low, high, over.p, samples, clusters, detectable(over.error, over.freedom))


def _wilson(mean: float, over: TInterval, n: int, limits: tuple[float, float]) -> tuple[float, float]:
    """Wilson's interval of values at two limits, by the number of independent values that have the same error."""
    width = limits[1] - limits[0]
    share = min(1.0, max(0.0, (mean - limits[0]) / width))
    spread = share * (1 - share)
    # At a limit, which may be an estimate with an error of its own, the clusters count.
    independent = min(n, spread / (over.error / width) ** 2 if spread > _ROUNDING else over.freedom + 1)
    t = float(special.stdtrit(over.freedom, (1 + LEVEL) / 2))
    middle = share + t * t / (2 * independent)
    reach = t * math.sqrt(share * (1 - share) / independent + (t / (2 * independent)) ** 2)
    scale = 1 + t * t / independent
    return limits[0] + width * (middle - reach) / scale, limits[0] + width * (middle + reach) / scale


def _bounds_of_equal(value: float, independent: float, limits: tuple[float, float]) -> tuple[float, float]:
    """Bounds of the mean when all values are equal: another value comes up to `share` of the time unseen (Clopper-Pearson)."""
    share = 1 - ((1 - LEVEL) / 2) ** (1 / independent)
    return value - share * (value - limits[0]), value + share * (limits[1] - value)


def _p_of_equal(value: float, independent: float, limits: tuple[float, float]) -> float:
    """How unlikely equal values are if the true mean is 0: others must then be as frequent as brings the mean there."""
    if not value:
        return 1.0
    farthest = limits[0] if value > 0 else limits[1]
    return min(1.0, float(2 * (1 - value / (value - farthest)) ** independent))


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
    return mean, t_interval(mean, (sums.sum() - sums) / (len(array) - counts), freedom_of(counts)), len(counts)


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


def freedom_of(weights: NDArray[Any]) -> float:
    """Degrees of freedom of a jackknife, by how much each cluster counts; unequal weights lower them."""
    return float(weights.sum()) ** 2 / float((np.asarray(weights, dtype=float) ** 2).sum()) - 1


def freedom_together(parts: Sequence[tuple[float, float]]) -> float:
    """Degrees of freedom of a sum of independent estimates (Welch and Satterthwaite).

    Args:
        parts: of each the variance, of which one is not 0, and its degrees of freedom.
    """
    return sum(variance for variance, _ in parts) ** 2 / sum(variance**2 / freedom for variance, freedom in parts)


def t_interval(value: float, left: NDArray[np.float64], freedom: float) -> TInterval:
    """The interval of an estimate by the jackknife.

    Args:
        left: the estimate without each cluster, shape (clusters,).
        freedom: degrees of freedom, see `freedom_of`.
    """
    n = len(left)
    error = float(np.sqrt((n - 1) / n * ((left - value) ** 2).sum()))
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
