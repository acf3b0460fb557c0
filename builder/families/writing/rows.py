"""Rows of the writing settings: their columns, whole and by id, and what is in them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from builder.dataset.families import TEXTS, RowKind
from builder.records import PUBLIC_DOMAIN, Task, WritingSample

_STRINGS = pa.list_(pa.string())
_AUTHORS = ("authors", _STRINGS)
_CITATION = pa.struct([*((name, pa.string()) for name in ("id", "license", "title", "abstract")), _AUTHORS])
_CITED_BY_ID = pa.struct([("id", pa.string()), ("license", pa.string())])
_DEMONSTRATION = pa.struct(
    [
        *(
            (name, pa.string())
            for name in ("id", "kind", "published", "license", "title", "abstract", "content", "output")
        ),
        _AUTHORS,
    ]
)


def columns(task: Task) -> pa.Schema:
    """Columns of a row of this task, the short ones first, as viewers show them; `published` and `updated` are ISO days."""
    fields = [
        *((name, pa.string()) for name in ("id", "title", "published", "license", "primary_category")),
        ("input_tokens", pa.int64()),
        ("target_tokens", pa.int64()),
        ("round", pa.string()),
        ("updated", pa.string()),
        ("categories", _STRINGS),
        ("authors", _STRINGS),
        *((name, pa.string()) for name in ("target", "abstract", "content")),
        *([("citations", pa.list_(_CITATION))] if task == "related" else []),
        ("demonstrations", pa.list_(_DEMONSTRATION)),
    ]
    return pa.schema(fields)


_KEPT = (
    "id",
    "authors",
    "primary_category",
    "categories",
    "published",
    "updated",
    "license",
    "input_tokens",
    "target_tokens",
    "round",
)
_SHOWN = ("id", "kind", "published", "license")
ID_COLUMNS = pa.schema(
    [
        *(columns("title").field(name) for name in _KEPT),
        ("position", pa.int64()),
        ("task", pa.string()),
        ("demonstrations", pa.list_(pa.struct([(name, pa.string()) for name in _SHOWN]))),
        ("citations", pa.list_(_CITED_BY_ID)),
        TEXTS,
    ]
)


def row_of(sample: WritingSample, task: Task, round_name: str, input_tokens: int, target_tokens: int) -> dict[str, Any]:
    """A sample as a row; its tokens are those of bert-base-uncased, the prompt's own words left out."""
    paper = sample.paper
    row: dict[str, Any] = {
        "id": paper.versioned_id,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "categories": list(paper.categories),
        "published": paper.published.isoformat(),
        "updated": paper.updated.isoformat(),
        "license": paper.license,
        "content": sample.content,
        "demonstrations": [
            {name: getattr(demo, name) for name in _DEMONSTRATION.names} for demo in sample.demonstrations
        ],
        "target": sample.target,
        "input_tokens": input_tokens,
        "target_tokens": target_tokens,
        "round": round_name,
    }
    if task == "related":
        row["citations"] = [{name: getattr(cited, name) for name in _CITATION.names} for cited in sample.citations]
    return row


def texts(row: dict[str, Any]) -> dict[str, str]:
    """Every text of a row, by its place in it."""
    by_place = {name: row[name] for name in ("title", "abstract", "content", "target")}
    for i, demo in enumerate(row["demonstrations"]):
        by_place |= {f"demonstrations.{i}.{name}": demo[name] for name in ("title", "abstract", "content", "output")}
    for i, cited in enumerate(row.get("citations") or ()):
        by_place |= {f"citations.{i}.{name}": cited[name] for name in ("title", "abstract")}
    return by_place


def papers(row: dict[str, Any]) -> list[tuple[str, str]]:
    """(id with version, licence) of the papers whose texts a row shows, or would if it were whole.

    Of cited papers it shows abstracts, which count unless they are in the public domain, as arXiv's are.
    """
    cited = (cited for cited in row.get("citations") or () if cited["license"] != PUBLIC_DOMAIN)
    beside = (*row["demonstrations"], *cited)
    return [(row["id"], row["license"]), *((shown["id"], shown["license"]) for shown in beside)]


def kind_of(task: Task) -> RowKind:
    """The kind of the rows of a task."""
    return RowKind(
        columns=columns(task),
        id_columns=ID_COLUMNS,
        paper_column="id",
        shown_column="demonstrations",
        texts=texts,
        papers=papers,
        constants={"task": task},
    )
