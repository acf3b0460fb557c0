"""Rows by id alone -> whole rows: their texts are taken from the workspace, and each is compared with its hash.

Reasons why a row cannot be completed: missing_paper, missing_file, changed_text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from builder.dataset import question_rows, writing_rows
from builder.dataset.text_hashes import digest
from builder.extract.stage import KINDS
from builder.ids import PaperId
from builder.samples import task_view
from builder.scalar.render import candidate, parts, question

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row
    from builder.records import Document, Paper, Task
    from builder.store import Store

Lacking = Literal["missing_paper", "missing_file", "changed_text"]


def documents_of(store: Store, paper_id: str) -> list[Document]:
    """All documents of a paper, whatever file they came from."""
    return [document for kind in KINDS if (document := store.document(paper_id, kind)) is not None]


def paper_of(store: Store, name: str) -> Paper | None:
    """The record of this id and version; None if the workspace has none, or one of another version."""
    paper_id = PaperId.parse(name)
    paper = next(store.papers([paper_id.bare]), None) if paper_id else None
    return paper if paper is not None and paper.versioned_id == name else None


# --- writing


def complete_writing(row: Row, task: Task, store: Store) -> Row | Lacking:
    """The whole row of a writing setting, or why it cannot be had."""
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    paper_texts = _texts(store, row["id"], task, hashes, "", "target")
    if isinstance(paper_texts, str):
        return paper_texts
    demonstrations = []
    for i, demonstration in enumerate(row["demonstrations"]):
        texts = _texts(store, demonstration["id"], task, hashes, f"demonstrations.{i}.", "output")
        if isinstance(texts, str):
            return texts
        demonstrations.append(demonstration | texts)
    kept = {name: value for name, value in row.items() if name not in ("position", "task", "texts", "citations")}
    full_row: Row = kept | paper_texts | {"demonstrations": demonstrations}
    if task == "related":
        cited = [paper for name in row["citations"] for paper in store.papers([name])]
        full_row["citations"] = [
            {"id": name, "title": paper.title, "abstract": paper.abstract}
            for name, paper in zip(row["citations"], cited, strict=False)
        ]
    return full_row if _matches(writing_rows.texts(full_row), hashes) else "changed_text"


def _texts(
    store: Store, name: str, task: Task, hashes: dict[str, str], prefix: str, target_column: str
) -> dict[str, str] | Lacking:
    """The texts of one paper, from the document whose hash is right."""
    paper = paper_of(store, name)
    if paper is None:
        return "missing_paper"
    documents = documents_of(store, paper.id)
    if not documents:
        return "missing_file"
    for document in documents:
        content = task_view.content(document, task)
        if digest(content) == hashes[f"{prefix}content"]:
            target = task_view.target(paper, document, task)
            return {"title": paper.title, "abstract": paper.abstract, "content": content, target_column: target}
    return "changed_text"


# --- SCALAR


def complete_question(row: Row, store: Store) -> Row | Lacking:
    """The whole question, or why it cannot be had."""
    papers = [paper_of(store, name) for name, _ in question_rows.papers(row)]
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
        options = (candidate(document, cited_paper.abstract, row["candidate_text"]) for document in (*read, None))
        content = _text_with_hash(options, hashes[f"candidates.{i}.content"])
        if content is None:
            return "changed_text" if read else "missing_file"
        candidates.append(
            {"id": entry["id"], "title": cited_paper.title, "license": entry["license"], "content": content}
        )
    for document in documents:
        text = _question(row, paper, document)
        if text is not None and digest(text[1]) == hashes["question"]:
            full_row: dict[str, Any] = {name: row[name] for name in question_rows.KEPT}
            full_row |= {"title": paper.title, "candidates": candidates, "section": text[0], "question": text[1]}
            return full_row if _matches(question_rows.texts(full_row), hashes) else "changed_text"
    return "changed_text"


def _question(row: Row, paper: Paper, document: Document) -> tuple[str, str] | None:
    """The section's heading and the question's text, as a document gives them."""
    number = int(row["id"].rpartition("#")[2])
    if number >= len(document.mentions):
        return None
    mention, all_parts = document.mentions[number], parts(document)
    part = next((part for part in all_parts if mention.section in part.sections), None)
    if part is None:
        return None
    text = question(document, paper.title, paper.abstract, mention, part, row["question_paper"], all_parts)
    return (part.heading, text) if text is not None else None


def _text_with_hash(texts: Iterable[str | None], sha256: str) -> str | None:
    return next((text for text in texts if text is not None and digest(text) == sha256), None)


def _matches(texts: dict[str, str], hashes: dict[str, str]) -> bool:
    return {name: digest(text) for name, text in texts.items()} == hashes
