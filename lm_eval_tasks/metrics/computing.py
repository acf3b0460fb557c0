"""The functions that compute the metrics which families declare; the modules are loaded when a metric is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_tasks.families.family import Metric
    from lm_eval_tasks.samples.answers import Answers

# One value for each answer; None if an answer has none of this metric.
Compute = Callable[["Answers"], Sequence[float | None]]


def compute_of(metric: Metric) -> Compute:
    """What computes a metric of all answers of a task; its docstring says what the metric measures, in docs/options.md too."""
    function: Compute = getattr(import_module(f"lm_eval_tasks.{metric.module}"), metric.name)
    return function


def meaning_of(metric: Metric) -> str:
    """What a metric measures."""
    return (compute_of(metric).__doc__ or "").partition("\n")[0]
