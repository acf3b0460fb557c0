"""Reading rows by id alone -> whole rows: titles are taken from the workspace, and the answers of a sealed copy worked out again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.dataset.completion import documents_of, paper_of
from builder.dataset.text_hashes import digest, matches
from builder.reading.rows import KEPT, texts

if TYPE_CHECKING:
    from builder.dataset.families import Lacking
    from builder.dataset.row_kind import Row
    from builder.records import Document
    from builder.store import Store

Answer = tuple[list[int], list[int]]


def complete_row(row: Row, store: Store) -> Row | Lacking:
    """The whole row, or why it cannot be had."""
    paper = paper_of(store, row["paper_id"])
    if paper is None:
        return "missing_paper"
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    whole: Row = {**{name: row[name] for name in KEPT}, "title": paper.title, "works": []}
    for i, work in enumerate(row["works"]):
        title = _title(work, store, hashes[f"works.{i}.title"])
        if title is None:
            return "changed_text"
        whole["works"].append({"title": title, **work})
    return whole if matches(texts(whole), hashes) else "changed_text"


def _title(work: Row, store: Store, sha256: str) -> str | None:
    """The title of an entry of a reference list."""
    lists = [document.references for document in _documents(store, work["paper"])]
    titles = (entries[work["entry"]].title for entries in lists if work["entry"] < len(entries))
    return next((title for title in titles if digest(title) == sha256), None)


def _documents(store: Store, name: str) -> list[Document]:
    paper = paper_of(store, name)
    return documents_of(store, paper.id) if paper else []
