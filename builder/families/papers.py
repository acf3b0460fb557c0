"""The texts that rows of other families show, each once: rows of the configuration `Papers`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from builder.families.descriptor import FamilyBuilder, Written
from builder.families.reading.papers_read import PaperLibrary, shown_text
from builder.parquet.schema import INTEGER, STRING, Lacking, Row, RowSchema, strings
from builder.records import Paper
from builder.sources.tokenizer import token_counter
from builder.stage_report import StageReport
from builder.store import Store
from lm_eval_tasks.base.contract import PAPERS
from lm_eval_tasks.base.manifest import ListedConfiguration

if TYPE_CHECKING:
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine

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


SCHEMA = RowSchema(
    columns=COLUMNS,
    kept=[name for name in COLUMNS.names if name not in _TEXTS],
    own=_TEXTS,
    paper_column="id",
)


def complete(row: Row, task: str, store: Store) -> Row | Lacking:
    """Return the whole row, or why it cannot be had."""
    paper = store.paper(row["id"])
    if paper is None:
        return "missing_paper"
    documents = store.documents(paper.id)
    for text in (shown_text(paper, document).text for document in documents):
        whole = SCHEMA.completed(row, {"title": paper.title, "text": text})
        if not isinstance(whole, str):
            return whole
    return "changed_text" if documents else "missing_file"


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Write the texts of the papers that the rows of other families show."""
    from builder.families.reading.making import library_of

    if workspace.shown:
        yield write_texts(folder, library_of(workspace), workspace.shown, workspace.round_.round)


def write_texts(
    folder: Path, library: PaperLibrary, shown: Collection[str], round_name: str
) -> tuple[ListedConfiguration, Sequence[StageReport]]:
    """Write the texts of papers, in the order of their ids."""
    from builder.families.writer import ConfigurationWriter

    writer = ConfigurationWriter(folder, ListedConfiguration(PAPERS, "papers", "papers"))
    for id_ in sorted(shown):
        read = library.read(id_)
        writer.add("test", row_of(read.paper, read.shown.text, round_name))
    return writer.close(), [StageReport(PAPERS, len(shown))]


# Written behind the families whose rows show the papers.
FAMILY = FamilyBuilder(schema=lambda _: SCHEMA, complete=complete, write=write)
