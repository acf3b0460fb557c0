"""Ratios of sums over rows, such as the share that is kept of what is recalled, with their intervals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.base.intervals import LEVEL, Estimate, Interval, effective, numbered

_ROUNDING = 1e-6
# Draws of the bootstrap, where the upper of its two tails begins, and the least error of a draw, in errors of the rows themselves: draws
# without a cluster that loses all have next to none.
_DRAWS, _TAIL, _LEAST_ERROR = 2000, (1 + LEVEL) / 2, 0.3
Array: TypeAlias = NDArray[np.float64]


def ratio(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> Interval:
    """Return a ratio of sums with the interval of a studentized bootstrap over clusters (Efron and Tibshirani 1993, section 12.5).

    Where a few clusters lose nearly all and the others nothing, the bounds of the jackknife call too many sizes held.
    """
    tops, bottoms, counts = _sums(above, below, clusters)
    estimate = _estimate(tops, bottoms, counts, len(above))
    # A reader that loses nothing has the same share whoever is left out.
    if estimate.error < _ROUNDING:
        return replace(estimate.bare(), low=estimate.value, high=estimate.value)
    count = len(tops)
    # The same draws for the same clusters, so that the bounds can be computed again.
    drawn = np.random.default_rng(count).multinomial(count, [1 / count] * count, size=_DRAWS).astype(np.float64)
    shares = drawn @ tops / (drawn @ bottoms)
    own = _ratio_error(np.ones((1, count)), tops, bottoms, np.array([estimate.value]))[0]
    errors = np.maximum(_ratio_error(drawn, tops, bottoms, shares), _LEAST_ERROR * own)
    low, high = np.quantile((shares - estimate.value) / errors, [_TAIL, 1 - _TAIL])
    return replace(
        estimate.difference(), low=float(estimate.value - low * own), high=float(estimate.value - high * own)
    )


def _ratio_error(drawn: Array, tops: Array, bottoms: Array, shares: Array) -> Array:
    """Return the standard errors of ratios of sums, shape (draws,), by their residuals.

    Args:
        drawn: how often each cluster is in each draw, shape (draws, clusters).
        tops, bottoms: the sums of each cluster, shape (clusters,).
    """
    residuals = tops - shares[:, np.newaxis] * bottoms
    count = len(tops)
    errors: Array = np.sqrt(count / (count - 1) * (drawn * residuals**2).sum(axis=1)) / (drawn @ bottoms)
    return errors


def _sums(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> tuple[Array, Array, Array]:
    """Return the sums of each cluster, and how many rows it has."""
    of = numbered(clusters)
    tops, bottoms = (np.bincount(of, weights=np.asarray(values, dtype=float)) for values in (above, below))
    return tops.astype(np.float64), bottoms.astype(np.float64), np.bincount(of).astype(np.float64)


def ratio_estimate(above: Sequence[float], below: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """Return a ratio of sums with the same without each cluster."""
    return _estimate(*_sums(above, below, clusters), len(above))


def _estimate(tops: Array, bottoms: Array, counts: Array, rows: int) -> Estimate:
    without = (tops.sum() - tops) / (bottoms.sum() - bottoms)
    return Estimate(float(tops.sum() / bottoms.sum()), without, counts, rows, effective(counts) - 1)
