"""Rows of the writing settings: their columns, whole and by id, what is in them, and how rows by id alone become whole again.

Texts are taken from the workspace, and each is compared with its hash. Reasons why a row cannot be completed: missing_paper,
missing_file, changed_text.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from builder.families.writing.prepare import content_texts, target_of
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
ID_COLUMNS = pa.schema(
    [
        *map(columns("title").field, _KEPT),
        ("position", INTEGER),
        ("task", STRING),
        ("demonstrations", pa.list_(pa.struct(strings(*_SHOWN)))),
        ("citations", pa.list_(pa.struct(strings("id", "license")))),
        TEXTS,
        ROW_SHA256,
    ]
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RowTexts:
    """What a row shows and asks for besides its paper's record."""

    content: str
    target: str
    demonstrations: Sequence[Row]
    citations: Sequence[Row]


def row_of(paper: Paper, task: Task, shown: RowTexts) -> Row:
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
        "content": shown.content,
        "demonstrations": shown.demonstrations,
        "target": shown.target,
        **({"citations": shown.citations} if task == "related" else {}),
    }


def texts(row: Row) -> dict[str, str]:
    """Return every text of a row, by its place in it."""
    by_place = {name: row[name] for name in ("title", "abstract", "content", "target")}
    for i, demo in enumerate(row["demonstrations"]):
        by_place |= {f"demonstrations.{i}.{name}": demo[name] for name in ("title", "abstract", "content", "output")}
    for i, cited in enumerate(row.get("citations") or ()):
        by_place |= {f"citations.{i}.{name}": cited[name] for name in ("title", "abstract")}
    return by_place


def papers(row: Row) -> list[tuple[str, str]]:
    """Return (id with version, licence) of the papers whose texts a row shows, or would if it were whole.

    Of cited papers it shows abstracts, which count unless they are in the public domain, as arXiv's are.
    """
    cited = (cited for cited in row.get("citations") or () if cited["license"] != PUBLIC_DOMAIN)
    return [(shown["id"], shown["license"]) for shown in (row, *row["demonstrations"], *cited)]


def schema_of_task(task: Task) -> RowSchema:
    """Return the kind of the rows of a task."""
    return RowSchema(
        columns=columns(task),
        id_columns=ID_COLUMNS,
        paper_column="id",
        shown_column="demonstrations",
        texts=texts,
        papers=papers,
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
    kept = {
        name: value
        for name, value in row.items()
        if name not in ("position", "task", "texts", "row_sha256", "citations")
    }
    full_row: Row = kept | paper_texts | {"demonstrations": demonstrations}
    if task == "related":
        full_row["citations"] = [
            {**cited, "title": paper.title, "abstract": paper.abstract, "authors": list(paper.authors)}
            for cited in row["citations"]
            for paper in store.papers([cited["id"]])
        ]
    return full_row if matches(texts(full_row), hashes) else "changed_text"


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
