"""Ratios of sums over rows, such as the share that is kept of what is recalled, with their intervals.

Their bounds are those of a studentized bootstrap over clusters (Efron and Tibshirani 1993, section 12.5), or of a t interval where that is
wider: where a few clusters lose nearly all and the others nothing, t calls too many sizes held; the bootstrap, too many differences real.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.base.intervals import LEVEL, Interval, effective

_ROUNDING = 1e-6
# Draws of the bootstrap, where the upper of its two tails begins, and the least error of a draw, in errors of the rows themselves: draws
# without a cluster that loses all have next to none.
_DRAWS, _TAIL, _LEAST_ERROR = 5_000, (1 + LEVEL) / 2, 0.3
Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Sums:
    """What is divided, summed over the rows of each cluster, in the order of the clusters' names; shape (clusters,).

    Attributes:
        rows: how many there are.
    """

    tops: Array
    bottoms: Array
    rows: int

    @property
    def effective(self) -> float:
        """How many clusters of equal weight count as much, by what is below the line."""
        return effective(np.maximum(self.bottoms, 0.0).tolist())

    def ratios(self, drawn: Array) -> Array:
        """Return the ratio of each draw, by how often it has each cluster, shape (draws, clusters)."""
        shares: Array = drawn @ self.tops / (drawn @ self.bottoms)
        return shares

    def residuals(self, drawn: Array) -> Array:
        """Return by how much each cluster moves the ratio of each draw, shape (draws, clusters)."""
        apart: Array = self.tops - self.ratios(drawn)[:, np.newaxis] * self.bottoms
        return apart / (drawn @ self.bottoms)[:, np.newaxis]


def sums(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> Sums:
    """Sum rows by their clusters."""
    _, of = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    tops, bottoms = (np.bincount(of, weights=np.asarray(values, dtype=float)) for values in (above, below))
    return Sums(tops.astype(np.float64), bottoms.astype(np.float64), len(clusters))


def ratio(of: Sums) -> Interval:
    """Return a ratio of sums with its interval; that of one cluster has none."""
    return _with_interval((of,), (1,))


def ratio_difference(first: Sums, second: Sums) -> Interval:
    """Return how much higher the second ratio is than the first, over the same rows, with its interval and p-value."""
    return _with_interval((first, second), (-1, 1))


def _with_interval(ratios: Sequence[Sums], signs: Sequence[int]) -> Interval:
    """Return a sum of ratios over the same clusters, each with its sign."""
    from scipy import special

    count = len(ratios[0].tops)
    whole = np.ones((1, count))
    value = float(_sum_of(ratios, signs, whole)[0])
    bare = Interval(value, None, None, None, ratios[0].rows, count)
    if count < 2:
        return replace(bare, missing="a single first author")
    own = float(_errors(ratios, signs, whole)[0])
    # A reader that loses nothing has the same share whoever is left out.
    if own < _ROUNDING:
        return replace(bare, low=value, high=value, p=1.0 if abs(value) < _ROUNDING else None)
    # The same draws for the same clusters, so that the bounds can be computed again.
    drawn = np.random.default_rng(count).multinomial(count, [1 / count] * count, size=_DRAWS).astype(np.float64)
    errors = np.maximum(_errors(ratios, signs, drawn), _LEAST_ERROR * own)
    studentized = (_sum_of(ratios, signs, drawn) - value) / errors
    freedom = min(of.effective for of in ratios) - 1
    reach = float(special.stdtrit(freedom, _TAIL))
    below, above = np.quantile(studentized, [1 - _TAIL, _TAIL])
    low, high = value - max(float(above), reach) * own, value - min(float(below), -reach) * own
    # Twice the level at which the interval ends at 0.
    beyond = min((studentized >= value / own).mean(), (studentized <= value / own).mean())
    p = 2 * max(float(beyond), float(special.stdtr(freedom, -abs(value) / own)))
    return replace(bare, low=low, high=high, p=min(1.0, p), error=own, freedom=freedom)


def _sum_of(ratios: Sequence[Sums], signs: Sequence[int], drawn: Array) -> Array:
    total: Array = sum((sign * of.ratios(drawn) for of, sign in zip(ratios, signs, strict=True)), np.zeros(len(drawn)))
    return total


def _errors(ratios: Sequence[Sums], signs: Sequence[int], drawn: Array) -> Array:
    """Return the standard error of each draw, shape (draws,), by what its clusters move it."""
    count = drawn.shape[1]
    moved = sum((sign * of.residuals(drawn) for of, sign in zip(ratios, signs, strict=True)), np.zeros(drawn.shape))
    errors: Array = np.sqrt(count / (count - 1) * (drawn * moved**2).sum(axis=1))
    return errors
