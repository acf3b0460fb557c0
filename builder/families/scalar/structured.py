"""SCALAR's structured papers -> our Documents: sections with the places of their citations, and the cited papers' texts.

A record, one JSON line or file each: `title`, `abstract`, `paper_id` (URL), `sections` (heading -> `content` and `citations`), `references`
(`data`: key -> `title`, `arxiv_id`, `abstract`, `sections`).
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from builder.errors import FolderError
from builder.extract.sections import role_of, split_number
from builder.ids import PaperId
from builder.packed import ERRORS, lines_of, read_packed
from builder.records import Cited, Citing, Document, Mention, Paper, Reference, Role, Section
from lm_eval_tasks.base.text import parse_json, title_key

_LOGGER = logging.getLogger(__name__)
# An arXiv id, the key of a title, or what an address says after its host.
_ID = re.compile(r"\w[\w.:?=&-]{0,199}(?:/\w[\w.:?=&-]{0,199})?")
_ADDRESS = re.compile(r"https?://[\w.:-]+/(?:abs/|pdf/)?", re.IGNORECASE)
_BIBLIOGRAPHY = re.compile(r"^#+ *(?:\d+\.? *)?(?:References|Bibliography)\b.*$", re.MULTILINE | re.IGNORECASE)


# As the file has them, strictly typed.
class _Mention(BaseModel, strict=True):
    paper_id: str
    start_pos: int
    end_pos: int
    single_citation: bool


class _Text(BaseModel, strict=True):
    content: str


class _Section(_Text):
    citations: list[_Mention]


class _Work(BaseModel, strict=True):
    title: str | None = None
    arxiv_id: str | None = None
    abstract: str | None = None
    citation: str | None = None
    sections: dict[str, _Text] | None = None


class _References(BaseModel, strict=True):
    data: dict[str, _Work]


class _Record(BaseModel, strict=True):
    title: str
    abstract: str
    paper_id: str
    sections: dict[str, _Section]
    references: _References
    markdown_content: str = ""


@dataclass(frozen=True, slots=True)
class Structured:
    """Papers to make questions of, and what they cite, by id.

    Attributes:
        known: without ids that come with several titles, or with a title that comes with several ids: their text may be another paper's.
    """

    citing: tuple[Citing, ...]
    known: Mapping[str, Cited]


def read_structured(path: Path) -> Structured:
    """Read a JSON lines file, compressed or not; or a folder of JSON files with one paper each, as SCALAR's repository has them.

    Raises:
        FolderError: it cannot be read, or a line is not a structured paper.
    """
    citing: dict[str, Citing] = {}
    known: dict[str, Cited] = {}
    titles: dict[str, set[str]] = defaultdict(set)
    for where, record in _records(path):
        try:
            read = _Record.model_validate(record)
            paper = paper_of(read.paper_id, read.title, read.abstract)
            if paper.id in citing:
                _LOGGER.warning("%s: %s is there already, the first one counts", where, paper.id)
            else:
                citing[paper.id] = _citing_paper(read, paper, known, titles)
        except ValidationError as err:
            first = err.errors()[0]
            field_name = ".".join(map(str, first["loc"]))
            raise FolderError(f"{where} is not a structured paper of SCALAR ({field_name}: {first['msg']})") from err
        except ValueError as err:
            raise FolderError(f"{where} is not a structured paper of SCALAR ({err})") from err
    ids: dict[str, set[str]] = defaultdict(set)
    for id_, keys in titles.items():
        for key in keys:
            ids[key].add(id_)
    certain = {id_ for id_, keys in titles.items() if len(keys) == 1 and all(len(ids[key]) == 1 for key in keys)}
    return Structured(tuple(citing.values()), {id_: cited for id_, cited in known.items() if id_ in certain})


def _records(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what to call each record in a message, and the record."""
    where = str(path)
    try:
        if path.is_dir():
            for file in sorted(file for file in path.glob("*.json") if file.is_file()):
                where = str(file)
                yield where, parse_json(read_packed(file))
            return
        for number, line in enumerate(lines_of(path), 1):
            where = f"line {number} of {path}"
            if line is None:
                raise ValueError("a line that is too long")
            if line.strip():
                yield where, parse_json(line)
    except (*ERRORS, ValueError) as err:
        raise FolderError(f"{where} cannot be read as JSON: {err}") from err


def _citing_paper(record: _Record, paper: Paper, known: dict[str, Cited], titles: Mapping[str, set[str]]) -> Citing:
    """Return a paper with its text, and note what is said of the works that it cites."""
    data = record.references.data
    # Works about which nothing is known are cited too: their entries are empty.
    mentioned = (mention.paper_id for section in record.sections.values() for mention in section.citations)
    keys = list(dict.fromkeys([*data, *mentioned]))
    index = {key: i for i, key in enumerate(keys)}
    cited: dict[int, str] = {}
    for key, read in data.items():
        if work := _cited_paper(read):
            cited[index[key]] = work.paper.id
            titles[work.paper.id].add(title_key(work.paper.title))
            if work.paper.id not in known or known[work.paper.id].document is None:
                known[work.paper.id] = work
    entries = tuple(
        Reference(work.citation or "", title=work.title or "", arxiv_id=work.arxiv_id or None)
        for work in (data.get(key, _Work()) for key in keys)
    )
    bibliography = Section("References", "references", 1, _BIBLIOGRAPHY.split(record.markdown_content)[-1])
    sections = (*_sections(record.sections), bibliography)
    document = Document(record.title, record.abstract, sections, entries, tuple(_mentions(record.sections, index)))
    return Citing(paper, document, cited)


def _sections(sections: Mapping[str, _Text]) -> tuple[Section, ...]:
    return tuple(Section(heading, _role(heading), 1, section.content) for heading, section in sections.items())


def _role(heading: str) -> Role:
    """Return its role as SCALAR's code has it: it goes by two words, and shows every section that a file has, acknowledgements too."""
    named: tuple[Role, ...] = ("introduction", "conclusion")
    for role in named:
        if role in heading.lower():
            return role
    return "related_work" if role_of(split_number(heading)[1]) == "related_work" else "body"


def _mentions(sections: Mapping[str, _Section], index: Mapping[str, int]) -> Iterator[Mention]:
    for s, section in enumerate(sections.values()):
        for mention in section.citations:
            if not 0 <= mention.start_pos <= mention.end_pos <= len(section.content):
                raise ValueError(f"a citation at {mention.start_pos} to {mention.end_pos}, which is not in its section")
            yield Mention(
                s, mention.start_pos, mention.end_pos, (index[mention.paper_id],), not mention.single_citation
            )


def _cited_paper(work: _Work) -> Cited | None:
    """Return a cited work; None if nothing tells it from others."""
    name = work.arxiv_id or title_key(work.title or "")
    if not name or not (work.title or "").strip():
        return None
    paper = paper_of(name, work.title or "", work.abstract or "")
    sections = _sections(work.sections) if work.sections else ()
    return Cited(paper, Document(paper.title, paper.abstract, sections) if sections else None)


def paper_of(name: str, title: str, abstract: str) -> Paper:
    """Return a record with what the file says: the month of publication is taken from the arXiv id, the day is unknown."""
    address = _ADDRESS.match(name)
    bare = name[address.end() :].rstrip("/") if address else name
    if not _ID.fullmatch(bare) or not title.strip():
        raise ValueError(f"a paper called {name!r:.60} with the title {title!r:.60}")
    parsed = PaperId.parse(bare)
    id_, version = (parsed.bare, parsed.version or 1) if parsed else (bare, 1)
    month = (parsed.month if parsed else None) or date(1991, 8, 1)
    return Paper(id_, version, title, abstract, (), (), month, month)
