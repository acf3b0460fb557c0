"""SCALAR's structured papers -> our Documents: sections with the places of their citations, and the cited papers' texts.

A record, one JSON line or file each: `title`, `abstract`, `paper_id` (URL), `sections` (heading -> `content` and `citations`), `references`
(`data`: key -> `title`, `arxiv_id`, `abstract`, `sections`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from builder.errors import FolderError
from builder.extract.roles import role_of, split_number
from builder.ids import PaperId
from builder.packed import ERRORS, lines_of, read_packed
from builder.records import Document, Mention, Paper, Reference, Section
from builder.scalar.questions import Cited, Citing
from lm_eval_tasks.core.text import ODD, parse_json, title_key, why


@dataclass(frozen=True, slots=True)
class Structured:
    """Papers to make questions of, and what they cite, by id."""

    citing: tuple[Citing, ...]
    known: Mapping[str, Cited]


def read_structured(path: Path) -> Structured:
    """Read a JSON lines file, compressed or not; or a folder of JSON files with one paper each, as SCALAR's repository has them.

    Raises:
        FolderError: it cannot be read, or a line is not a structured paper.
    """
    citing: list[Citing] = []
    known: dict[str, Cited] = {}
    for where, record in _records(path):
        try:
            citing.append(_citing_paper(record, known))
        except ODD as err:
            raise FolderError(f"{where} is not a structured paper of SCALAR ({why(err)})") from err
    return Structured(tuple(citing), known)


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What to call each record in a message, and the record."""
    place = path
    try:
        for place in sorted(path.glob("*.json")) if path.is_dir() else ():
            yield str(place), parse_json(read_packed(place))
        for number, line in enumerate(() if path.is_dir() else lines_of(path), 1):
            if line is None:
                raise ValueError(f"line {number} is too long")
            yield f"line {number} of {path}", parse_json(line)
    except (*ERRORS, ValueError) as err:
        raise FolderError(f"{place} cannot be read as JSON: {err}") from err


def _citing_paper(record: dict[str, Any], known: dict[str, Cited]) -> Citing:
    data = record["references"]["data"]
    # Works about which nothing is known are cited too: their entries are empty.
    keys = list(
        dict.fromkeys(
            [*data, *(place["paper_id"] for section in record["sections"].values() for place in section["citations"])]
        )
    )
    index = {key: i for i, key in enumerate(keys)}
    cited: dict[int, str] = {}
    for key in data:
        work = _cited_paper(data[key])
        cited[index[key]] = work.paper.id
        known.setdefault(work.paper.id, work)
    entries = tuple(_reference(data.get(key, {})) for key in keys)
    document = Document(
        record["title"],
        record["abstract"],
        _sections(record["sections"]),
        entries,
        tuple(_mentions(record["sections"], index)),
    )
    return Citing(paper_of(record["paper_id"], record["title"], record["abstract"]), document, cited)


def _sections(sections: Mapping[str, Any]) -> tuple[Section, ...]:
    return tuple(
        Section(heading, role_of(split_number(heading)[1]) or "body", 1, section["content"])
        for heading, section in sections.items()
    )


def _mentions(sections: Mapping[str, Any], index: Mapping[str, int]) -> Iterator[Mention]:
    for s, section in enumerate(sections.values()):
        for place in section["citations"]:
            cited = (index[place["paper_id"]],)
            yield Mention(s, place["start_pos"], place["end_pos"], cited, not place["single_citation"])


def _reference(data: Mapping[str, Any]) -> Reference:
    return Reference(
        raw=data.get("citation") or "", title=data.get("title") or "", arxiv_id=data.get("arxiv_id") or None
    )


def _cited_paper(data: Mapping[str, Any]) -> Cited:
    name = data.get("arxiv_id") or title_key(data["title"])
    paper = paper_of(name, data["title"], data.get("abstract") or "")
    sections = _sections(data["sections"]) if data.get("sections") else ()
    return Cited(paper, Document(paper.title, paper.abstract, sections) if sections else None)


def paper_of(name: str, title: str, abstract: str) -> Paper:
    """A record with what the file says: the month of publication is taken from the arXiv id, the day is unknown."""
    bare = name.rstrip("/").rpartition("/abs/")[2]
    parsed = PaperId.parse(bare)
    id_, version = (parsed.bare, parsed.version or 1) if parsed else (bare, 1)
    month = (parsed.month if parsed else None) or date(1991, 8, 1)
    return Paper(id_, version, title, abstract, (), (), month, month)
