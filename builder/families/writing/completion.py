"""Rows of the writing settings by id alone -> whole rows: their texts are taken from the workspace, and each is compared with its hash.

Reasons why a row cannot be completed: missing_paper, missing_file, changed_text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.dataset.families import Row, hashes_of, matches
from builder.families.writing import rows, task_view
from builder.records import Task, writing_task
from lm_eval_tasks.base.files import sha256_of_bytes

if TYPE_CHECKING:
    from builder.dataset.families import Lacking
    from builder.store import Store


def complete_row(row: Row, task: str, store: Store) -> Row | Lacking:
    """The whole row of a writing setting, or why it cannot be had."""
    asked = writing_task(task)
    hashes = hashes_of(row)
    paper_texts = _texts(store, row["id"], asked, hashes, "", "target")
    if isinstance(paper_texts, str):
        return paper_texts
    demonstrations = []
    for i, demonstration in enumerate(row["demonstrations"]):
        texts = _texts(store, demonstration["id"], asked, hashes, f"demonstrations.{i}.", "output")
        if isinstance(texts, str):
            return texts
        shown = store.paper(demonstration["id"])
        demonstrations.append({**demonstration, **texts, "authors": list(shown.authors if shown else ())})
    kept = {name: value for name, value in row.items() if name not in ("position", "task", "texts", "citations")}
    full_row: Row = kept | paper_texts | {"demonstrations": demonstrations}
    if task == "related":
        full_row["citations"] = [
            {**cited, "title": paper.title, "abstract": paper.abstract, "authors": list(paper.authors)}
            for cited in row["citations"]
            for paper in store.papers([cited["id"]])
        ]
    return full_row if matches(rows.texts(full_row), hashes) else "changed_text"


def _texts(
    store: Store, name: str, task: Task, hashes: dict[str, str], prefix: str, target_column: str
) -> dict[str, str] | Lacking:
    """The texts of one paper, from the document whose hash is right."""
    paper = store.paper(name)
    if paper is None:
        return "missing_paper"
    documents = store.documents(paper.id)
    if not documents:
        return "missing_file"
    for document in documents:
        content = task_view.content(document, task)
        if sha256_of_bytes(content) == hashes[f"{prefix}content"]:
            target = task_view.target(paper, document, task)
            return {"title": paper.title, "abstract": paper.abstract, "content": content, target_column: target}
    return "changed_text"
