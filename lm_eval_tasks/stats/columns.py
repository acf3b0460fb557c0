"""Samples -> columns: each metric over all samples that have it. Whatever states a score asks here."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.intervals import SHARES, Interval, difference, level
from lm_eval_tasks.families import registry

if TYPE_CHECKING:
    from lm_eval_tasks.families.family import Metric
    from lm_eval_tasks.samples.sample import Sample


_ROUNDING = 1e-6
BEST_PROGRAM = "best program"


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over the samples, by their identity, that have it, at least one; with the first author of each."""

    metric: str
    scores: dict[str, float]
    clusters: dict[str, str]

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def mean(self) -> float:
        return fmean(self.scores.values())

    def mean_of(self, half: int) -> float:
        """The mean over one half of the first authors; over all where it has none."""
        return fmean(
            [score for id_, score in self.scores.items() if _half(self.clusters[id_]) == half] or self.scores.values()
        )

    def interval(self) -> Interval:
        """The mean and its 95 % interval, clustered by first authors."""
        return interval_of(self.metric, list(self.scores.values()), list(self.clusters.values()))


def interval_of(metric: str, scores: Sequence[float], clusters: Sequence[str]) -> Interval:
    """The mean of some scores by one metric and its 95 % interval: that of a level, or of any mean for metrics that are no shares."""
    is_share = (known := registry.find_metric(metric)) is None or known.limits == SHARES
    return level(scores, clusters) if is_share else difference(scores, clusters)


def column(metric: str, scores: Iterable[tuple[str, float, str]]) -> Column | None:
    """A column of (sample, score, first author); None if there are none."""
    rows = list(scores)
    if not rows:
        return None
    return Column(metric, {id_: score for id_, score, _ in rows}, {id_: cluster for id_, _, cluster in rows})


def columns_of(samples: Sequence[Sample]) -> dict[str, Column]:
    """Metric -> its column over the samples of one task, in the order of its family.

    A metric that some samples lack, the first one even, is there over the others; one that all lack, or that is not registered, is not.

    Raises:
        SamplesError: a score lies beyond its metric's limits.
    """
    of_family = samples[0].row.family.metrics if samples else ()
    columns = {}
    for metric in dict.fromkeys((*of_family, *registry.METRICS)):
        name, (least, most) = metric.name, metric.limits or (-inf, inf)
        scored = [sample for sample in samples if name in sample.scores]
        for sample in scored:
            if not least - _ROUNDING <= sample.scores[name] <= most + _ROUNDING:
                raise SamplesError(
                    f"the sample {sample.id} has a {name} of {sample.scores[name]:g}, which cannot be: its file was not written by a run"
                )
        if over := column(name, ((sample.identity, sample.scores[name], sample.cluster) for sample in scored)):
            columns[name] = over
    return columns


def zero_of(metric: Metric, columns: Mapping[str, Column]) -> Column | None:
    """What the best program scores on each sample, as the metric's 0; None if no program of the metric was run.

    The program is chosen on one half of the first authors and counts on the other half, both ways: one that was lucky on the samples
    that it is chosen by would raise the floor.
    """
    programs = [columns[name] for name in metric.zero if name in columns]
    if not programs:
        return None
    best = [max(programs, key=lambda program: program.mean_of(half)) for half in (1, 0)]
    scores = {
        id_: best[_half(cluster)].scores[id_]
        for id_, cluster in programs[0].clusters.items()
        if id_ in best[_half(cluster)].scores
    }
    return Column(BEST_PROGRAM, scores, {id_: programs[0].clusters[id_] for id_ in scores}) if scores else None


def _half(cluster: str) -> int:
    return zlib.crc32(cluster.encode()) % 2
