"""The texts that rows of other families show, each once: rows of the configurations `Papers` and `Abstracts`."""

import pyarrow as pa

from builder.families.descriptor import FamilyBuilder
from builder.families.reading.papers_read import abstract_text, shown_text
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
from builder.sources.tokenizer import token_counter
from builder.store import Store

COLUMNS = pa.schema(
    [
        *strings("id", "title"),
        ("authors", pa.list_(STRING)),
        *strings("primary_category", "published", "license", "text"),
        ("input_tokens", INTEGER),
        ("round", STRING),
    ]
)
_TEXTS = ("title", "text")
KEPT = tuple(name for name in COLUMNS.names if name not in _TEXTS)


def row_of(paper: Paper, text: str, round_name: str) -> Row:
    """Return a paper's row."""
    return {
        "id": paper.versioned_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "published": paper.published.isoformat(),
        "license": paper.license,
        "text": text,
        "input_tokens": token_counter()([text])[0],
        "round": round_name,
    }


ID_COLUMNS = pa.schema([*map(COLUMNS.field, KEPT), ("position", INTEGER), TEXTS, ROW_SHA256])


def _texts_of(row: Row) -> dict[str, str]:
    return {name: row[name] for name in _TEXTS}


SCHEMA = RowSchema(
    columns=COLUMNS,
    id_columns=ID_COLUMNS,
    paper_column="id",
    shown_column="",
    texts=_texts_of,
    papers=lambda row: [(row["id"], row["license"])],
)


def complete(row: Row, task: str, store: Store) -> Row | Lacking:
    """Return the whole row, or why it cannot be had."""
    paper = store.paper(row["id"])
    if paper is None:
        return "missing_paper"
    hashes = hashes_of(row)
    documents = store.documents(paper.id)
    for text in (abstract_text(paper), *(shown_text(paper, document).text for document in documents)):
        texts = {"title": paper.title, "text": text}
        if matches(texts, hashes):
            return {**{name: row[name] for name in KEPT}, **texts}
    return "changed_text" if documents else "missing_file"


# Written with the families whose rows show the papers.
FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=complete)
