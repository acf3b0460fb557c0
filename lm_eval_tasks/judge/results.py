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
        "n",
        "Win rate [95%]",
        "One order",
        "Length-controlled",
        "Consistent",
        "First place",
        "Unparseable",
        "Failed",
        "Contradicted claims, text and reference",
    )
    rows = [
        (task, model, *_cells(figures))
        for task, judges in results["tasks"].items()
        for model, figures in judges.items()
    ]
    return Table(head, "llrrrrrrrrr", rows)


def _cells(figures: Mapping[str, Any]) -> tuple[object, ...]:
    rate = figures["win_rate"]
    rate_text = with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if rate else ""
    names = ("raw_win_rate", "length_controlled_win_rate", "position_consistency", "first_place_share")
    numbers = ("" if figures[name] is None else f"{figures[name]:.3f}" for name in names)
    return (
        figures["samples"],
        rate_text,
        *numbers,
        figures["unparseable"],
        figures["failed"],
        _contradictions(figures["claims"]),
    )


def _contradictions(claims: Mapping[str, Mapping[str, int]] | None) -> str | None:
    if claims is None:
        return None
    return " and ".join(f"{counts['contradicted']} of {sum(counts.values())}" for counts in claims.values())
