"""The plot of what is kept, over rows that its families do not give."""

from __future__ import annotations

from pathlib import Path

from hub_scripts.report import kept
from hub_scripts.report.drawing import Sheet, looks


def _rows(model: str, *parts: str) -> list[kept.KeptPoint]:
    reach = "held to Recall-4K, no size lost; asked: Recall-4K"
    line = kept.KeptPoint("Recall-4K", 4, model, 0.95, 0.9, 1.0, "held", 11.0, reach)
    return [line, *(line._replace(part=part, part_share=0.9) for part in parts)]


def test_a_model_may_lack_a_part(tmp_path: Path) -> None:
    rows = [*_rows("A", "first", "last"), *_rows("B", "first")]
    plot = kept.by_length(Sheet(tmp_path), rows, "2026.11", looks(["A", "B", "C"]))
    assert plot.table is not None
    assert [row[0] for row in plot.table.rows] == ["A", "B"]
    assert (tmp_path / f"{plot.name}.svg").is_file()
