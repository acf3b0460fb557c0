"""What a judge's file of results shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lm_eval_tasks.core.tables import Table, with_bounds


def table(results: Mapping[str, Any]) -> Table:
    """A row for each task and judge."""
    head = (
        "Task",
        "Judge",
        "Judged",
        "Win rate [95%]",
        "Worst and best case",
        "One order",
        "Consistent",
    )
    rows = [
        (task, model, *_cells(figures))
        for task, judges in results["tasks"].items()
        for model, figures in judges.items()
    ]
    return Table(head, "llrrrrr", rows)


def _cells(figures: Mapping[str, Any]) -> tuple[object, ...]:
    raw, consistent = (
        "" if figures[name] is None else f"{figures[name]:.3f}" for name in ("raw_win_rate", "position_consistency")
    )
    judged = figures["judged"]
    return (
        f"{judged} of {figures['samples']}",
        _rate(figures["win_rate"]),
        " to ".join(f"{rate:.3f}" for rate in figures["worst_and_best"] or ()) if judged < figures["samples"] else "",
        raw,
        consistent,
    )


def _rate(rate: Mapping[str, Any] | None) -> str:
    return with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if rate else ""
