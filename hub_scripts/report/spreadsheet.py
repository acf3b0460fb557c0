"""CSV files for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A CSV file whose cells a spreadsheet takes for texts or numbers, never for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_csv_cell(cell) for cell in line] for line in lines)
    return text.getvalue()


def _csv_cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
