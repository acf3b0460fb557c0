"""A round over a small made-up world."""

from __future__ import annotations

from pathlib import Path

from builder.round.model import Round
from builder.round.source import SampleTable
from builder.round.tables import SplitTable


def small_round(folder: Path, **changes: object) -> Round:
    """A round over a small made-up world that all tests share, in a workspace of its own."""
    fields: dict[str, object] = {
        "round": "2026.11",
        "seed": 7,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": SampleTable(kind="sample", authors=20, papers=50),
        "split": SplitTable(validation=0.2, test=0.25),
    }
    return Round.model_validate({**fields, **changes})
