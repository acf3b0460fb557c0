"""How far metrics agree with each other, over the samples of a run: Spearman's rank correlation with intervals over first authors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from lm_eval_tasks.core.intervals import numbered, t_interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.core.tables import Table, bounds_text, with_bounds

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample


@dataclass(frozen=True, slots=True)
class Correlation:
    """The correlation of two metrics over the samples that have both.

    Attributes:
        low, high: 95 %; None with too few first authors.
    """

    first: str
    second: str
    value: float
    low: float | None
    high: float | None
    samples: int


def correlations(samples: Sequence[Sample], metrics: Sequence[str]) -> list[Correlation]:
    """All pairs of metrics that vary over at least three samples."""
    return correlations_of([(sample.scores, sample.cluster) for sample in samples], metrics)


def correlations_of(rows: Sequence[tuple[Mapping[str, float], str]], metrics: Sequence[str]) -> list[Correlation]:
    """As `correlations`, over anything that has scores and belongs to a cluster: samples to first authors, models to themselves."""
    found = []
    for first, second in combinations(metrics, 2):
        both = [(scores, cluster) for scores, cluster in rows if first in scores and second in scores]
        x, y = (rankdata([scores[name] for scores, _ in both]) for name in (first, second))
        if len(both) > 2 and np.ptp(x) and np.ptp(y):
            found.append(_correlation(first, second, x, y, [cluster for _, cluster in both]))
    return found


def _correlation(first: str, second: str, x: np.ndarray, y: np.ndarray, clusters: Sequence[str]) -> Correlation:
    of = numbered(clusters)
    sums = np.array([np.bincount(of, weights=one) for one in (np.ones(len(x)), x, y, x * x, y * y, x * y)])
    whole = sums.sum(axis=1)
    value = float(_pearson(whole))
    if sums.shape[1] < FEWEST:
        return Correlation(first, second, value, None, None, len(x))
    left = np.array([_pearson(whole - one) for one in sums.T])
    over = t_interval(value, left, sums[0])
    return Correlation(first, second, value, max(-1.0, over.low), min(1.0, over.high), len(x))


def _pearson(sums: np.ndarray) -> float:
    n, x, y, xx, yy, xy = sums
    spread = (xx - x * x / n) * (yy - y * y / n)
    return float((xy - x * y / n) / np.sqrt(spread)) if spread > 0 else 0.0


def table(found: Sequence[Correlation]) -> Table:
    """A row for each pair."""
    rows = [
        (one.first, one.second, one.samples, f"{one.value:+.2f}", bounds_text(one.low, one.high, "+.2f"))
        for one in found
    ]
    return Table(("Metric", "Other metric", "n", "Spearman", "95% interval"), "llrrr", rows)


def matrix(found: Sequence[Correlation]) -> Table:
    """A row and a column for each metric, half of it filled."""
    names = list(dict.fromkeys(name for one in found for name in (one.first, one.second)))
    cells = {(one.second, one.first): _unbroken(one) for one in found}
    rows = [(name, *(cells.get((name, other), "") for other in names[:-1])) for name in names[1:]]
    return Table(("Metric", *names[:-1]), "l" + "r" * (len(names) - 1), rows)


def _unbroken(one: Correlation) -> str:
    """A correlation, and its interval if there is one, which stays on one line of a narrow column."""
    return with_bounds(one.value, one.low, one.high, "+.2f").replace(", ", ",\u00a0")
