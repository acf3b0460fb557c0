"""What there is to know about a kind of row; each kind is described once, in the module of its rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row, such as that of a writing task or SCALAR's.

    Attributes:
        columns, id_columns: of whole rows, and of rows by id.
        paper_column: where a row has the id of the paper that it asks about.
        shown_column: the list of the papers that a row shows, or of the others; "" without one.
        texts: a whole row -> every text in it, by its place.
        papers: a row of either form -> (id with version, licence) of the papers whose texts it shows or represents.
        id_row: a whole row and its position in its split -> the row by id.
    """

    columns: pa.Schema
    id_columns: pa.Schema
    paper_column: str
    shown_column: str
    texts: Callable[[Row], dict[str, str]]
    papers: Callable[[Row], list[tuple[str, str]]]
    id_row: Callable[[Row, int], Row]

    @property
    def facts(self) -> list[str]:
        """The columns, as pyarrow names them, that say which papers a row shows, and their licences."""
        names = ("id", "license") if self.shown_column else ()
        shown = [f"{self.shown_column}.list.element.{name}" for name in names]
        return [*dict.fromkeys(("id", self.paper_column, "license")), *shown]
