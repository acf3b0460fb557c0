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
    rows = [(task, model, *_cells(one)) for task, judges in results["tasks"].items() for model, one in judges.items()]
    return Table(head, "llrrrrrrrrr", rows)


def _cells(one: Mapping[str, Any]) -> tuple[object, ...]:
    rate = one["win_rate"]
    shown = with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if rate else ""
    names = ("raw_win_rate", "length_controlled_win_rate", "position_consistency", "first_place_share")
    numbers = ("" if one[name] is None else f"{one[name]:.3f}" for name in names)
    return one["samples"], shown, *numbers, one["unparseable"], one["failed"], _contradicted(one["claims"])


def _contradicted(claims: Mapping[str, Mapping[str, int]] | None) -> str | None:
    if claims is None:
        return None
    return " and ".join(f"{one['contradicted']} of {sum(one.values())}" for one in claims.values())
