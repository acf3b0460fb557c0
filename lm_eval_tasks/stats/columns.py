"""Samples -> columns: each metric over all samples that have it. Whatever states a score asks here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.intervals import SHARES, Interval, interval
from lm_eval_tasks.metrics import registry

if TYPE_CHECKING:
    from lm_eval_tasks.families.family import Metric
    from lm_eval_tasks.samples.sample import Sample


_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over the samples that have it.

    Attributes:
        scores: sample -> score, at least one.
        clusters: sample -> its first author.
        limits: the least and the greatest score; None if there are none.
    """

    metric: str
    scores: dict[str, float]
    clusters: dict[str, str]
    limits: tuple[float, float] | None

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def mean(self) -> float:
        return fmean(self.scores.values())

    def interval(self) -> Interval:
        """The mean and its 95 % interval, clustered by first authors."""
        return interval(list(self.scores.values()), list(self.clusters.values()), self.limits)

    def pairs(self) -> dict[str, tuple[float, str]]:
        """Sample -> score and first author."""
        return {id_: (score, self.clusters[id_]) for id_, score in self.scores.items()}


def column(
    metric: str, scores: Iterable[tuple[str, float, str]], limits: tuple[float, float] | None = SHARES
) -> Column | None:
    """A column of (sample, score, first author); None if there are none."""
    rows = list(scores)
    if not rows:
        return None
    return Column(metric, {id_: score for id_, score, _ in rows}, {id_: cluster for id_, _, cluster in rows}, limits)


def columns_of(samples: Sequence[Sample]) -> dict[str, Column]:
    """Metric -> its column over the samples of one task, in the order of its family.

    A metric that some samples lack, the first one even, is there over the others; one that all lack, or that is not registered, is not.

    Raises:
        SamplesError: a score lies beyond its metric's limits.
    """
    present = {name for sample in samples for name in sample.scores}
    columns = {}
    for name in (metric.name for metric in _in_order(samples) if metric.name in present):
        rows = [(sample.id, sample.scores[name], sample.cluster) for sample in samples if name in sample.scores]
        _check_scores(name, rows)
        if metric_column := column(name, rows, registry.limits_of(name)):
            columns[name] = metric_column
    return columns


def _in_order(samples: Sequence[Sample]) -> Iterable[Metric]:
    of_family = samples[0].row.family.metrics if samples else ()
    return dict.fromkeys((*of_family, *registry.METRICS))


def _check_scores(metric: str, rows: Sequence[tuple[str, float, str]]) -> None:
    limits = registry.limits_of(metric)
    most = max(map(abs, limits)) + _ROUNDING if limits else inf
    if wrong := next((row for row in rows if abs(row[1]) > most), None):
        raise SamplesError(
            f"the sample {wrong[0]} has a {metric} of {wrong[1]:g}, which cannot be: its file was not written by a run"
        )


def zero_of(metric: Metric, columns: Mapping[str, Column]) -> Column | None:
    """The highest of the floors that count as a metric's 0; None if there are none."""
    return max((columns[name] for name in metric.zero if name in columns), key=lambda floor: floor.mean, default=None)
