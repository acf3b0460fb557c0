"""CSV files for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_tasks.core.intervals import Interval


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A CSV file whose cells a spreadsheet takes for texts or numbers, never for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_csv_cell(cell) for cell in line] for line in lines)
    return text.getvalue()


def interval_cells(estimate: Interval | None) -> tuple[float | None, float | None, float | None]:
    """Mean and bounds, each None where there is none."""
    return (estimate.mean, estimate.low, estimate.high) if estimate else (None, None, None)


def _csv_cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
