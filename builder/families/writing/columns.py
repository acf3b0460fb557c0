"""Rows of the writing settings: their columns, whole and by id, what is in them, and how rows by id alone become whole again.

Texts are taken from the workspace, and each is compared with its hash. Reasons why a row cannot be completed: missing_paper,
missing_file, changed_text.
"""

from collections.abc import Sequence
from functools import cache

import pyarrow as pa

from builder.families.writing.prepare import content_texts, target_of
from builder.parquet.schema import INTEGER, STRING, Lacking, Row, RowSchema, hashes_of, strings
from builder.records import PUBLIC_DOMAIN, DemoOrigin, Paper, writing_task
from builder.store import Store
from lm_eval_tasks.base.contract import Task
from lm_eval_tasks.base.files import sha256_of_bytes

_STRINGS = pa.list_(STRING)
_AUTHORS = ("authors", _STRINGS)
_SHOWN = ("id", "kind", "published", "license")
_CITATION = pa.struct([*strings("id", "license", "title", "abstract"), _AUTHORS])
_DEMONSTRATION = pa.struct([*strings(*_SHOWN, "title", "abstract", "content", "output"), _AUTHORS])


def columns(task: Task) -> pa.Schema:
    """List the columns of a row of this task, the short ones first, as viewers show them; `published` and `updated` are ISO days."""
    citations = [("citations", pa.list_(_CITATION))] if task == "related" else []
    return pa.schema(
        [
            *strings("id", "title", "published", "license", "primary_category"),
            ("input_tokens", INTEGER),
            ("target_tokens", INTEGER),
            *strings("round", "updated"),
            ("categories", _STRINGS),
            _AUTHORS,
            *strings("target", "abstract", "content"),
            *citations,
            ("demonstrations", pa.list_(_DEMONSTRATION)),
        ]
    )


_KEPT = "id authors primary_category categories published updated license input_tokens target_tokens round".split()
_LISTED = {
    "demonstrations": (pa.struct(strings(*_SHOWN)), ("title", "abstract", "content", "output")),
    "citations": (pa.struct(strings("id", "license")), ("title", "abstract")),
}


def demonstration_of(paper: Paper, origin: DemoOrigin, content: str, output: str) -> Row:
    """Return an older paper shown as an input-output pair."""
    shown = {
        "id": paper.versioned_id,
        "kind": origin,
        "published": paper.published.isoformat(),
        "license": paper.license,
    }
    texts = {"title": paper.title, "abstract": paper.abstract, "content": content, "output": output}
    return {**shown, **texts, "authors": list(paper.authors)}


def row_of(paper: Paper, content: str, target: str, demonstrations: Sequence[Row], citations: Sequence[Row]) -> Row:
    """Make a row without its round and tokens, which are those of bert-base-uncased, the prompt's own words left out."""
    return {
        "id": paper.versioned_id,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "categories": list(paper.categories),
        "published": paper.published.isoformat(),
        "updated": paper.updated.isoformat(),
        "license": paper.license,
        "content": content,
        "demonstrations": demonstrations,
        "target": target,
        "citations": citations,
    }


@cache
def schema_of_task(task: Task) -> RowSchema:
    """Return the kind of the rows of a task."""
    return RowSchema(
        columns=columns(task),
        kept=_KEPT,
        own=("title", "abstract", "content", "target"),
        paper_column="id",
        shown_column="demonstrations",
        listed=_LISTED,
        cited_column="citations" if task == "related" else "",
        uncounted=PUBLIC_DOMAIN,
        constants={"task": task},
    )


def complete_row(row: Row, task: str, store: Store) -> Row | Lacking:
    """Return the whole row of a writing setting, or why it cannot be had."""
    asked = writing_task(task)
    hashes = hashes_of(row)
    paper_texts = _texts(store, row["id"], asked, hashes, "", "target")
    if isinstance(paper_texts, str):
        return paper_texts
    demonstrations = []
    for i, demonstration in enumerate(row["demonstrations"]):
        demo_texts = _texts(store, demonstration["id"], asked, hashes, f"demonstrations.{i}.", "output")
        if isinstance(demo_texts, str):
            return demo_texts
        shown = store.paper(demonstration["id"])
        demonstrations.append({**demonstration, **demo_texts, "authors": list(shown.authors if shown else ())})
    found: Row = paper_texts | {"demonstrations": demonstrations}
    if asked == "related":
        cited_papers = list(store.papers(cited["id"] for cited in row["citations"]))
        if len(cited_papers) < len(row["citations"]):
            return "missing_paper"
        found["citations"] = [
            {**cited, "title": paper.title, "abstract": paper.abstract, "authors": list(paper.authors)}
            for cited, paper in zip(row["citations"], cited_papers, strict=True)
        ]
    return schema_of_task(asked).completed(row, found)


def _texts(
    store: Store, name: str, task: Task, hashes: dict[str, str], prefix: str, target_column: str
) -> dict[str, str] | Lacking:
    """Return the texts of one paper, from the document whose hash is right."""
    paper = store.paper(name)
    if paper is None:
        return "missing_paper"
    documents = store.documents(paper.id)
    if not documents:
        return "missing_file"
    for document in documents:
        content = "\n\n".join(content_texts(document, task))
        if sha256_of_bytes(content) == hashes[f"{prefix}content"]:
            asked_for = target_of(paper, document, task)
            return {"title": paper.title, "abstract": paper.abstract, "content": content, target_column: asked_for}
    return "changed_text"
