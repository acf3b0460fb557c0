"""Rows of recall: ids, stretches of the papers' texts, and spans; the texts are rows of `Papers`."""

from collections.abc import Sequence

import pyarrow as pa

from builder.families.reading import columns as reading
from builder.families.reading.columns import PART, SHOWN
from builder.parquet.schema import (
    INTEGER,
    ROW_SHA256,
    STRING,
    TEXTS,
    Lacking,
    Row,
    RowSchema,
    hashes_of,
    matches,
    strings,
)
from builder.records import Paper
from builder.store import Store

_SPAN = pa.struct([("kind", STRING), ("start", INTEGER), ("end", INTEGER), ("times", INTEGER)])
COLUMNS = pa.schema(
    [
        *strings("id", "paper_id", "title", "section", "place", "published", "license", "primary_category", "round"),
        ("input_tokens", INTEGER),
        ("authors", pa.list_(STRING)),
        ("papers", pa.list_(SHOWN)),
        ("parts", pa.list_(PART)),
        ("text", PART),
        ("spans", pa.list_(_SPAN)),
        ("parts_version", INTEGER),
    ]
)
_KEPT = tuple(name for name in COLUMNS.names if name != "title")
ID_COLUMNS = pa.schema([*map(COLUMNS.field, _KEPT), ("position", INTEGER), TEXTS, ROW_SHA256])


def _texts(row: Row) -> dict[str, str]:
    return {"title": row["title"]}


SCHEMA = RowSchema(
    columns=COLUMNS,
    id_columns=ID_COLUMNS,
    paper_column="paper_id",
    shown_column="papers",
    texts=_texts,
    papers=lambda row: [(paper["id"], paper["license"]) for paper in row["papers"]],
)


def complete(row: Row, task: str, store: Store) -> Row | Lacking:
    """Return the whole row, or why it cannot be had."""
    paper = store.paper(row["paper_id"])
    if paper is None:
        return "missing_paper"
    whole = {**{name: row[name] for name in _KEPT}, "title": paper.title}
    return whole if matches(_texts(whole), hashes_of(row)) else "changed_text"


def shared_columns(papers: Sequence[Paper], round_name: str) -> Row:
    """Return the columns that do not depend on what is asked; those of a reading question's row that a row of recall has too."""
    return {name: value for name, value in reading.shared_columns(papers, round_name).items() if name in COLUMNS.names}
