"""What a row has: its columns, the texts in it, and how it stands by id alone where a text may not be published."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from lm_eval_tasks.base.files import sha256_of_bytes

Row = dict[str, Any]
STRING, INTEGER = pa.string(), pa.int64()


def strings(*names: str) -> list[tuple[str, pa.DataType]]:
    """Declare columns of texts."""
    return [(name, STRING) for name in names]


# In place of the texts of a row by id: by their places in the whole row, their hashes and lengths.
TEXTS = ("texts", pa.list_(pa.struct([*strings("name", "sha256"), ("characters", INTEGER)])))
# Of a row by id, the hash of the whole row.
ROW_SHA256 = ("row_sha256", STRING)
# Why a row by id cannot be completed.
Lacking = Literal["missing_paper", "missing_file", "changed_text", "changed_row"]


@dataclass(frozen=True, slots=True)
class RowSchema:
    """What the rows of a task have, whole and by id alone.

    Attributes:
        columns: of whole rows.
        kept: those of them that rows by id have too.
        own: the names of the row's own texts.
        listed: columns that are lists of records -> the fields of a record that rows by id keep, and the names of its texts.
        paper_column: where a row has the id of the paper that it asks about.
        shown_column: the list of the papers that a row shows, or of the others; "" without one.
        cited_column: a list of works whose abstracts a row shows; "" without one.
        uncounted: the licence of cited works that need no mention.
        constants: columns that every row by id has, and whole rows have not.
    """

    columns: pa.Schema
    kept: Sequence[str]
    own: Sequence[str]
    paper_column: str
    shown_column: str = ""
    listed: Mapping[str, tuple[pa.StructType, Sequence[str]]] = field(default_factory=dict)
    cited_column: str = ""
    uncounted: str = ""
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def id_columns(self) -> pa.Schema:
        """The columns of rows by id."""
        lists = [(name, pa.list_(record)) for name, (record, _) in self.listed.items()]
        beside = [("position", INTEGER), *strings(*self.constants), *lists, TEXTS, ROW_SHA256]
        return pa.schema([*map(self.columns.field, self.kept), *beside])

    def texts(self, row: Row) -> dict[str, str]:
        """Return every text of a whole row, by its place in it."""
        by_place = {name: row[name] for name in self.own}
        for column, (_, names) in self.listed.items():
            for i, record in enumerate(row.get(column) or ()):
                by_place |= {f"{column}.{i}.{name}": record[name] for name in names}
        return by_place

    def papers(self, row: Row) -> list[tuple[str, str]]:
        """Return (id with version, licence) of the papers whose texts a row shows, or would if it were whole.

        Of cited works it shows abstracts, which count unless they are in the public domain, as arXiv's are.
        """
        cited = (cited for cited in row.get(self.cited_column) or () if cited["license"] != self.uncounted)
        shown = (*(row[self.shown_column] if self.shown_column else ()), *cited)
        return [(row[self.paper_column], row["license"]), *((each["id"], each["license"]) for each in shown)]

    def completed(self, row: Row, found: Row) -> Row | Lacking:
        """Return the whole row: a row by id with what was found for it; `changed_text` if the texts are not those that it was made of."""
        whole = {**{name: row[name] for name in self.kept}, **found}
        return whole if matches(self.texts(whole), hashes_of(row)) else "changed_text"

    @property
    def facts(self) -> list[str]:
        """The columns, as pyarrow names them, that say which papers a row shows, and their licences."""
        lists = filter(None, (self.shown_column, self.cited_column))
        shown = [f"{column}.list.element.{name}" for column in lists for name in ("id", "license")]
        return [*dict.fromkeys(("id", self.paper_column, "license")), *shown]

    def id_row(self, row: Row, position: int) -> Row:
        """Make the row by id: what `id_columns` have of a whole row, its position in its split, its hash and those of its texts."""
        made = {
            **self.constants,
            "position": position,
            "row_sha256": self.sha256_of(row),
            "texts": [
                {"name": name, "sha256": sha256_of_bytes(text), "characters": len(text)}
                for name, text in self.texts(row).items()
            ],
        }
        columns = self.id_columns
        return {name: made[name] if name in made else _fields_of(row, columns.field(name)) for name in columns.names}

    def sha256_of(self, row: Row) -> str:
        """Hash all of a whole row, as its columns hold it."""
        [held] = pa.Table.from_pylist([row], schema=self.columns).to_pylist()
        return sha256_of_bytes(json.dumps(held, sort_keys=True, ensure_ascii=False))


def _fields_of(row: Row, column: pa.Field) -> Any:
    """Take what a column has of a whole row; of a list of records only their fields that it has, none if the row has no such list."""
    if not (pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type)):
        return row[column.name]
    names = [field.name for field in column.type.value_type]
    return [{name: record[name] for name in names} for record in row.get(column.name) or ()]


def hashes_of(row: Row) -> dict[str, str]:
    """Read the hashes of a row by id: place of a text in the whole row -> its hash."""
    return {text["name"]: text["sha256"] for text in row["texts"]}


def matches(texts: Mapping[str, str], hashes: Mapping[str, str]) -> bool:
    """Tell whether texts are those that these hashes were made of."""
    return {name: sha256_of_bytes(text) for name, text in texts.items()} == hashes
