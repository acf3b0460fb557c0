"""SCALAR questions by id alone, for texts that may not be published, and their completion on the reader's own machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from builder.dataset.question_columns import COLUMNS
from builder.dataset.text_hashes import TEXTS, described, digest
from builder.records import Document, Paper
from builder.round.licenses import Licenses, allows
from builder.scalar.render import candidate, parts, question

_TEXTS = ("title", "section", "question")
_KEPT = tuple(name for name in COLUMNS.names if name not in (*_TEXTS, "candidates"))
_SHOWN = ("id", "license")
ID_COLUMNS = pa.schema(
    [
        *(COLUMNS.field(name) for name in _KEPT),
        ("position", pa.int64()),
        ("candidates", pa.list_(pa.struct([(name, pa.string()) for name in _SHOWN]))),
        TEXTS,
    ]
)
# A paper's record and all its documents, by its id with version; None where there is no such record.
Known = Callable[[str], tuple[Paper, Sequence[Document]] | None]


def is_question(row: dict[str, Any]) -> bool:
    """Whether a row is SCALAR's, whole or by id."""
    return "candidates" in row


def may_publish(row: dict[str, Any], licenses: Licenses) -> bool:
    """Whether the licences of the paper and of all candidates allow it."""
    return all(allows(one, licenses) for one in (row["license"], *(one["license"] for one in row["candidates"])))


def id_row(row: dict[str, Any], position: int) -> dict[str, Any]:
    """A question without its texts."""
    return {
        **{name: row[name] for name in _KEPT},
        "position": position,
        "candidates": [{name: one[name] for name in _SHOWN} for one in row["candidates"]],
        "texts": described(_texts(row)),
    }


def papers_of(row: dict[str, Any]) -> Iterator[str]:
    """The ids of the papers whose texts a question shows."""
    yield row["paper_id"]
    yield from (one["id"] for one in row["candidates"])


def fill_row(row: dict[str, Any], known: Known) -> dict[str, Any] | str:
    """The whole question, or why it cannot be had: missing_paper, missing_file, changed_text."""
    found = [known(name) for name in papers_of(row)]
    if any(one is None for one in found):
        return "missing_paper"
    hashes = {text["name"]: text["sha256"] for text in row["texts"]}
    (paper, documents), *cited = (one for one in found if one is not None)
    if not documents:
        return "missing_file"
    shown = []
    for i, (given, (other, read)) in enumerate(zip(row["candidates"], cited, strict=True)):
        options = (candidate(document, other.abstract, row["candidate_text"]) for document in (*read, None))
        content = _first(options, hashes[f"candidates.{i}.content"])
        if content is None:
            return "changed_text" if read else "missing_file"
        shown.append({"id": given["id"], "title": other.title, "license": given["license"], "content": content})
    for document in documents:
        text = _question(row, paper, document)
        if text is not None and digest(text[1]) == hashes["question"]:
            whole = {name: row[name] for name in _KEPT} | {"title": paper.title, "candidates": shown}
            whole |= {"section": text[0], "question": text[1]}
            return whole if {name: digest(one) for name, one in _texts(whole).items()} == hashes else "changed_text"
    return "changed_text"


def _question(row: dict[str, Any], paper: Paper, document: Document) -> tuple[str, str] | None:
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


def _first(texts: Iterable[str | None], wanted: str) -> str | None:
    return next((text for text in texts if text is not None and digest(text) == wanted), None)


def _texts(row: dict[str, Any]) -> dict[str, str]:
    """Every text of a question, by its place in it."""
    texts = {name: row[name] for name in _TEXTS}
    for i, one in enumerate(row["candidates"]):
        texts |= {f"candidates.{i}.{name}": one[name] for name in ("title", "content")}
    return texts
