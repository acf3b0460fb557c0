"""Tables for people: made once, shown as Markdown or on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_RULES = {"l": "---", "r": "---:"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        head: the columns' names.
        align: a letter for each column, "l" for text and "r" for numbers.
        rows: cells of any kind; None is an empty cell.
    """

    head: Sequence[str]
    align: str
    rows: Sequence[Sequence[object]]

    def __post_init__(self) -> None:
        if {len(self.align), *map(len, self.rows)} != {len(self.head)}:
            raise ValueError(f"the table {', '.join(self.head)} has rows of another width")


def markdown(table: Table) -> Iterator[str]:
    """The lines of a table in Markdown; what a cell holds cannot break its row."""
    yield _line(table.head)
    yield _line([_RULES[letter] for letter in table.align])
    yield from (_line([_cell(cell) for cell in row]) for row in table.rows)


def _line(cells: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def _cell(cell: object) -> str:
    return "" if cell is None else " ".join(str(cell).replace("|", "\\|").split())
