"""Confidence intervals over papers that are not independent: papers of one first author come and go together.

Clustered bootstrap (Miller 2024, arXiv 2411.00640, for why; Field and Welsh 2007 for the method): first authors are drawn with
replacement, each with all samples; the interval is the middle 95 % of the means so drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

RESAMPLES = 10_000
LEVEL = 0.95
_SEED = 20_261_101
# Cells of the draws that are held at a time.
_CELLS = 1 << 24
# Cells of the draws that are kept for the next interval over so many clusters.
_KEPT_CELLS = 1 << 22


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, its interval, and how unlikely 0 is as the mean.

    Attributes:
        p: two-sided bootstrap p-value of "the mean is 0"; of use for differences.
    """

    mean: float
    low: float
    high: float
    p: float
    samples: int
    clusters: int


def interval(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The mean of values and its interval. The same values give the same interval.

    Args:
        values: one number for each sample, at least one.
        clusters: for each sample what it shares with those that it depends on.
    """
    names = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    of = np.array([names[name] for name in clusters])
    array = np.asarray(values, dtype=float)
    means = _draw(np.bincount(of, weights=array), np.bincount(of))
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    beyond = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return Interval(
        float(array.mean()),
        float(low),
        float(high),
        min(1.0, 2 * (beyond + 1) / (RESAMPLES + 1)),
        len(array),
        len(names),
    )


def clustered_error(values: Sequence[float], clusters: Sequence[str]) -> float:
    """The standard error of a mean over clusters, without drawing (Miller 2024, section 3.2); 0 with fewer than two clusters."""
    names = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    if len(names) < 2:
        return 0.0
    array = np.asarray(values, dtype=float)
    sums = np.bincount([names[name] for name in clusters], weights=array - array.mean())
    return float(np.sqrt(len(names) / (len(names) - 1) * (sums**2).sum()) / len(array))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for that there are several of them (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, i in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[i]))
        corrected[i] = highest
    return corrected


def _draw(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Means over drawn clusters, shape (RESAMPLES,)."""
    return np.concatenate([(draws @ sums) / (draws @ counts) for draws in _draws(len(sums))])


def _draws(n: int) -> Iterable[np.ndarray]:
    """How often each of n clusters is drawn, in blocks of shape (resamples, n); the same for every n."""
    return _kept_draws(n) if n * RESAMPLES <= _KEPT_CELLS else _fresh_draws(n)


@lru_cache(maxsize=4)
def _kept_draws(n: int) -> list[np.ndarray]:
    return list(_fresh_draws(n))


def _fresh_draws(n: int) -> Iterator[np.ndarray]:
    rng = np.random.default_rng(_SEED)
    step = max(1, _CELLS // n)
    for start in range(0, RESAMPLES, step):
        yield rng.multinomial(n, np.full(n, 1 / n), size=min(step, RESAMPLES - start)).astype(float)
