"""The texts that rows of other families show, as one of the families of `builder.dataset.families`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.dataset.families import Family, Lacking, Row, hashes_of, matches
from builder.families.papers.rows import KEPT, KIND
from builder.families.reading.text import abstract_text, shown_text

if TYPE_CHECKING:
    from builder.store import Store


def complete(row: Row, task: str, store: Store) -> Row | Lacking:
    """The whole row, or why it cannot be had."""
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
FAMILY = Family(rows=lambda _: KIND, complete=complete)
