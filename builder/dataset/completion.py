"""What rows by id alone are completed from: the records and documents of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.extract.stage import KINDS
from builder.ids import PaperId

if TYPE_CHECKING:
    from builder.records import Document, Paper
    from builder.store import Store


def documents_of(store: Store, paper_id: str) -> list[Document]:
    """All documents of a paper, whatever file they came from."""
    return [document for kind in KINDS if (document := store.document(paper_id, kind)) is not None]


def paper_of(store: Store, name: str) -> Paper | None:
    """The record of this id and version; None if the workspace has none, or one of another version."""
    paper_id = PaperId.parse(name)
    paper = next(store.papers([paper_id.bare]), None) if paper_id else None
    return paper if paper is not None and paper.versioned_id == name else None
