"""Every metric of every family by its name: what the families' descriptors declare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import MetricError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.families.every import FAMILIES

if TYPE_CHECKING:
    from lm_eval_tasks.families.family import Metric

METRICS: tuple[Metric, ...] = tuple(dict.fromkeys(metric for family in FAMILIES for metric in family.metrics))
_BY_NAME = {metric.name: metric for metric in METRICS}


def headline() -> tuple[str, ...]:
    """The names of all headline metrics."""
    return tuple(metric.name for metric in METRICS if metric.headline)


def floors_of(name: str) -> tuple[str, ...]:
    """The floors of a metric; none if it is not registered."""
    return metric.floors if (metric := find_metric(name)) else ()


def find_metric(name: str) -> Metric | None:
    """The metric of a name; None if there is none."""
    return _BY_NAME.get(name)


def limits_of(name: str) -> tuple[float, float] | None:
    """The least and the greatest value of a metric; of others than ours, None."""
    metric = find_metric(name)
    return metric.limits if metric else None


def check_names(names: Iterable[str]) -> None:
    """Raise a MetricError for a name that no metric has."""
    for name in names:
        if name not in _BY_NAME:
            raise MetricError(f"no metric {name!r:.60}; {suggestion(name, _BY_NAME, '{}')}")


def label(name: str) -> str:
    """A metric's name for display; the name itself if it is not one of ours."""
    metric = find_metric(name)
    return metric.label if metric else name
