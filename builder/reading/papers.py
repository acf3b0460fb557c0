"""The configurations `Papers` and `Abstracts`: each text that contexts show, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from builder.dataset.completion import documents_of, paper_of
from builder.dataset.families import Family, Lacking
from builder.dataset.row_kind import Row, RowKind
from builder.dataset.text_hashes import TEXTS, hash_column, matches
from builder.reading.text import abstract_text, shown_text
from builder.samples.tokens import token_counter
from lm_eval_tasks.base.row_format import PAPERS

if TYPE_CHECKING:
    from builder.records import Paper
    from builder.store import Store

COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "title")),
        ("authors", pa.list_(pa.string())),
        *((name, pa.string()) for name in ("primary_category", "published", "license", "text")),
        ("input_tokens", pa.int64()),
        ("round", pa.string()),
    ]
)
_TEXTS = ("title", "text")
_KEPT = tuple(name for name in COLUMNS.names if name not in _TEXTS)
_ID_COLUMNS = pa.schema([*(COLUMNS.field(name) for name in _KEPT), ("position", pa.int64()), TEXTS])


def row_of(paper: Paper, text: str, license_: str, round_name: str) -> Row:
    """A paper's row."""
    return {
        "id": paper.versioned_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "published": paper.published.isoformat(),
        "license": license_,
        "text": text,
        "input_tokens": token_counter()([text])[0],
        "round": round_name,
    }


def _texts(row: Row) -> dict[str, str]:
    return {name: row[name] for name in _TEXTS}


def _id_row(row: Row, position: int) -> Row:
    return {**{name: row[name] for name in _KEPT}, "position": position, "texts": hash_column(_texts(row))}


def complete(row: Row, store: Store) -> Row | Lacking:
    """The whole row, or why it cannot be had."""
    paper = paper_of(store, row["id"])
    if paper is None:
        return "missing_paper"
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    documents = documents_of(store, paper.id)
    for text in (abstract_text(paper), *(shown_text(paper, document).text for document in documents)):
        texts = {"title": paper.title, "text": text}
        if matches(texts, hashes):
            return {**{name: row[name] for name in _KEPT}, **texts}
    return "changed_text" if documents else "missing_file"


KIND = RowKind(
    columns=COLUMNS,
    id_columns=_ID_COLUMNS,
    paper_column="id",
    shown_column="",
    texts=_texts,
    papers=lambda row: [(row["id"], row["license"])],
    id_row=_id_row,
)
# Written with the families whose rows show the papers.
FAMILY = Family(PAPERS, KIND, complete, lambda *_: None, lambda *_: iter(()))
