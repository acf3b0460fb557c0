"""Ratios of sums over rows, such as the share that is kept of what is recalled, with their intervals.

Each bound is that of a studentized bootstrap over clusters (Efron and Tibshirani 1993, section 12.5), or of t where it reaches farther:
if a few clusters lose nearly all and the others nothing, t calls too many sizes held; the bootstrap, too many differences real.
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
    def value(self) -> float:
        return float(self.tops.sum() / self.bottoms.sum())

    @property
    def effective(self) -> float:
        """How many clusters of equal weight count as much, by what is below the line."""
        return effective(self.bottoms.tolist())


def sums(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> Sums:
    """Sum rows by their clusters."""
    _, of = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    tops, bottoms = (np.bincount(of, weights=np.asarray(values, dtype=float)) for values in (above, below))
    return Sums(tops.astype(np.float64), bottoms.astype(np.float64), len(clusters))


def ratio(of: Sums) -> Interval:
    """Return a ratio of sums with its interval, which has no width if all clusters have the same ratio."""
    over = _with_interval([(1, of)])
    return over if over.error is not None or over.missing else replace(over, low=over.mean, high=over.mean)


def ratio_difference(first: Sums, second: Sums) -> Interval:
    """Return how much higher the second ratio is than the first, over the same rows, with its interval and p-value."""
    return _with_interval([(-1, first), (1, second)])


def _with_interval(terms: Sequence[tuple[int, Sums]]) -> Interval:
    """Return a sum of ratios over the same clusters, each with its sign; without bounds if the clusters do not differ."""
    from scipy import special

    count = len(terms[0][1].tops)
    value = sum(sign * of.value for sign, of in terms)
    bare = Interval(value, None, None, None, terms[0][1].rows, count)
    if count < 2:
        return replace(bare, missing="a single first author")
    _, [own] = _over(terms, np.ones((1, count)))
    if own < _ROUNDING:
        return replace(bare, p=1.0 if abs(value) < _ROUNDING else None)
    # The same draws for the same clusters, so that the bounds can be computed again.
    drawn = np.random.default_rng(count).multinomial(count, [1 / count] * count, size=_DRAWS).astype(np.float64)
    if any((drawn @ of.bottoms <= 0).any() for _, of in terms):
        return replace(bare, missing="too little is known of what is below the line")
    values, errors = _over(terms, drawn)
    studentized = (values - value) / np.maximum(errors, _LEAST_ERROR * own)
    freedom = min(of.effective for _, of in terms) - 1
    reach = float(special.stdtrit(freedom, _TAIL))
    below, above = np.quantile(studentized, [1 - _TAIL, _TAIL])
    low, high = value - max(float(above), reach) * own, value - min(float(below), -reach) * own
    # Twice the level at which the interval ends at 0.
    beyond = min((studentized >= value / own).mean(), (studentized <= value / own).mean())
    p = 2 * max(float(beyond), float(special.stdtr(freedom, -abs(value) / own)))
    return replace(bare, low=low, high=high, p=min(1.0, p), error=float(own), freedom=freedom)


def _over(terms: Sequence[tuple[int, Sums]], drawn: Array) -> tuple[Array, Array]:
    """Return the value of each draw and its standard error, by what each cluster moves it.

    Args:
        drawn: how often each cluster is in each draw, shape (draws, clusters).
    """
    count = drawn.shape[1]
    values, moved = np.zeros(len(drawn)), np.zeros(drawn.shape)
    for sign, of in terms:
        bottoms = drawn @ of.bottoms
        ratios = drawn @ of.tops / bottoms
        values += sign * ratios
        moved += sign * (of.tops - ratios[:, np.newaxis] * of.bottoms) / bottoms[:, np.newaxis]
    return values, np.sqrt(count / (count - 1) * (drawn * moved**2).sum(axis=1))
