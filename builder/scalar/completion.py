"""Questions by id alone -> whole questions, as `builder.dataset.completion` does for the writing settings."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING, Any

from builder.dataset.completion import documents_of, paper_of
from builder.dataset.text_hashes import digest, matches
from builder.extract.sections import parts
from builder.scalar import rows
from builder.scalar.render import MOST_CHARACTERS, candidate, question

if TYPE_CHECKING:
    from builder.dataset.families import Lacking
    from builder.dataset.row_kind import Row
    from builder.records import Document, Paper
    from builder.store import Store

# A round cuts long papers, or leaves them out.
_CUTS = (MOST_CHARACTERS, None)


def complete_question(row: Row, store: Store) -> Row | Lacking:
    """The whole question, or why it cannot be had."""
    papers = [paper_of(store, name) for name, _ in rows.papers(row)]
    known = [paper for paper in papers if paper is not None]
    if len(known) < len(papers):
        return "missing_paper"
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    paper, *cited = known
    documents = documents_of(store, paper.id)
    if not documents:
        return "missing_file"
    candidates = []
    for i, (entry, cited_paper) in enumerate(zip(row["candidates"], cited, strict=True)):
        read = documents_of(store, cited_paper.id)
        options = (
            candidate(document, cited_paper.abstract, row["candidate_text"], most)
            for document in (*read, None)
            for most in _CUTS
        )
        content = _text_with_hash(options, hashes[f"candidates.{i}.content"])
        if content is None:
            return "changed_text" if read else "missing_file"
        candidates.append(
            {**entry, "title": cited_paper.title, "content": content, "authors": list(cited_paper.authors)}
        )
    for document, most in product(documents, _CUTS):
        text = _question(row, paper, document, most)
        if text is not None and digest(text[1]) == hashes["question"]:
            full_row: dict[str, Any] = {name: row[name] for name in rows.KEPT}
            full_row |= {"title": paper.title, "candidates": candidates, "section": text[0], "question": text[1]}
            return rows.with_choices(full_row) if matches(rows.texts(full_row), hashes) else "changed_text"
    return "changed_text"


def _question(row: Row, paper: Paper, document: Document, most: int | None) -> tuple[str, str] | None:
    """The section's heading and the question's text, as a document gives them."""
    number = int(row["id"].rpartition("#")[2])
    if number >= len(document.mentions):
        return None
    mention, all_parts = document.mentions[number], parts(document)
    part = next((part for part in all_parts if mention.section in part.sections), None)
    if part is None:
        return None
    text = question(document, paper.title, paper.abstract, mention, part, row["question_paper"], all_parts, most)
    return (part.heading, text) if text is not None else None


def _text_with_hash(texts: Iterable[str | None], sha256: str) -> str | None:
    return next((text for text in texts if text is not None and digest(text) == sha256), None)
