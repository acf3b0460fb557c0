"""A file of metadata records: Kaggle's snapshot format or plain JSON lines, compressed or not; and what a record of any source must
contain before it may become part of a round.

It is streamed line by line and never held in memory whole. Two record shapes are read: the snapshot's
(https://www.kaggle.com/datasets/Cornell-University/arxiv: `versions`, `authors_parsed`, `categories` as one text) and
plain lines with `published`, `authors` and `categories` as lists. A plain line with `id` and `drop` says why something is no paper.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from builder.errors import SourceError
from builder.ids import PaperId, names_of
from builder.packed import ERRORS, lines_of
from builder.records import GROUP, UNKNOWN_LICENSE, CrawlReason, Drop, Paper
from builder.retractions import is_taken_back
from lm_eval_tasks.base.text import ODD, day, in_one_line, is_valid, parse_json, unguarded, without_controls
from lm_eval_tasks.base.typed import LONGEST_NAME, is_name

# Of a table of PDFs; `source` says where a row is from.
COLUMNS = ("file", "id", "title", "authors", "published", "categories", "license", "doi", "source", "abstract")
_UNKNOWN = "unknown "
# Raise with every change that can affect a record: indexes of another version are made again.
READER = "7"
# The endings of tables.
TABLES = (".csv", ".tsv")


def file_fingerprint(path: Path) -> str:
    """Return name, size and time of a file of records that are only looked up."""
    stat = path.stat()
    return f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}"


def read_metadata(path: Path, after: int = 0) -> Iterator[Paper | Drop]:
    """Stream the records of a metadata file; a line that is not a usable record is a `Drop` named by its line number.

    Args:
        after: how many records to skip, without parsing them.

    Raises:
        SourceError: the file cannot be read or decompressed.
    """
    try:
        if path.suffix.lower() in TABLES:
            rows = enumerate(table_rows(path), start=2)
            yield from (_of_row(row, f"{path.name}:{number}") for number, row in islice(rows, after, None))
            return
        numbered = ((i, line) for i, line in enumerate(lines_of(path), start=1) if line is None or line.strip())
        for number, line in islice(numbered, after, None):
            yield _parse_line(line, f"{path.name}:{number}")
    except ERRORS as err:
        raise SourceError(f"cannot read the metadata file {path}: {err}") from err


def once_within(items: Iterable[Paper | Drop], first: date, last: date) -> Iterator[Paper | Drop]:
    """Yield what a service lists, each once; papers of other days as drops."""
    seen: set[str] = set()
    for item in items:
        if item.id not in seen:
            seen.add(item.id)
            outside = isinstance(item, Paper) and not first <= item.published <= last
            yield Drop(item.id, "outside_window") if outside else item


def delimiter_of(table: Path) -> str:
    """Return what spreadsheets put between the columns of a table, which depends on their language."""
    with table.open(encoding="utf-8-sig", errors="replace") as file:
        return max(",;\t", key=file.readline().count)


def table_rows(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a table of PDFs, as spreadsheets write it; a SourceError if it cannot be read, or lacks a column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter=delimiter_of(path))
            lacking = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
            if lacking:
                raise SourceError(f"the table {path} has no column {', '.join(lacking)}")
            yield from ({name: unguarded((row[name] or "").strip()) for name in COLUMNS} for row in rows)
    except (OSError, ValueError, csv.Error) as err:
        raise SourceError(f"cannot read the table {path}: {err}") from err


def has_unknown_authors(paper: Paper) -> bool:
    """Tell whether a table of PDFs does not say who wrote a paper."""
    return paper.author_ids == (GROUP,) and paper.authors[0].startswith(_UNKNOWN)


def _of_row(row: dict[str, str], where: str) -> Paper | Drop:
    """Return the paper of a row. Where its authors are unknown it stands for itself, and joins nobody to anybody."""
    try:
        authors = [name for name in row["authors"].split(";") if name.strip()]
        unknown = {"authors": [f"{_UNKNOWN}({row['id']})"], "author_ids": [GROUP]}
        return checked_paper(paper_from_record(row | ({"authors": names_of(authors)} if authors else unknown)))
    except ODD as err:
        if row["title"] and row["published"]:
            raise SourceError(f"{where}: {err}; correct that row") from err
        return Drop(where, "bad_record")


def _parse_line(line: bytes | None, where: str) -> Paper | Drop:
    try:
        if line is None:
            raise ValueError("a line that is too long")
        record = parse_json(line)
        if (reason := record.get("drop")) in get_args(CrawlReason):
            return Drop(str(record["id"])[:200], reason)
        return paper_or_drop(record, where)
    except ODD:
        return Drop(where, "bad_record")


def paper_or_drop(record: dict[str, Any], where: str) -> Paper | Drop:
    """Return the paper of a record, or why it does not become one: bad_record, named by where it stands, or withdrawn."""
    try:
        paper = checked_paper(paper_from_record(record))
        is_gone = is_taken_back(paper.title, paper.abstract, record.get("comments"))
        return Drop(paper.id, "withdrawn") if is_gone else paper
    except ODD:
        return Drop(where, "bad_record")


def paper_from_record(record: dict[str, Any]) -> Paper:
    """Return one metadata record, of either shape, as a `Paper`.

    Raises:
        ValueError, KeyError, TypeError, IndexError: a field is missing or not what it should be.
    """
    if (parsed := PaperId.parse(record["id"])) is None:
        raise ValueError(f"{record['id']!r} is not the id of a paper")
    versions = record.get("versions")
    if versions:
        published = _day_of(parsedate_to_datetime(versions[0]["created"]))
        updated = _day_of(parsedate_to_datetime(versions[-1]["created"]))
        version = int(versions[-1]["version"].lstrip("v"))
    else:
        published = _day(record["published"])
        updated = _day(record.get("updated") or record["published"])
        version = int(str(record.get("version") or parsed.version or 1).lstrip("v"))
    categories, classes = _categories_and_classes(record["categories"])
    authors, author_ids = _authors_with_ids(record)
    return Paper(
        id=parsed.bare,
        version=version,
        title=in_one_line(record["title"]),
        abstract=in_one_line(record.get("abstract") or ""),
        authors=authors,
        categories=categories,
        published=published,
        updated=max(published, updated),
        license=_license(record.get("license") or ""),
        doi=_doi(record.get("doi") or ""),
        author_ids=author_ids,
        other_ids=tuple(record.get("other_ids") or ()),
        classes=classes,
    )


def _doi(stated: str) -> str:
    """Return the first DOI of a field, without its address."""
    first = _BETWEEN_DOIS.split(stated.strip())[0]
    parsed = PaperId.parse(first)
    return parsed.bare if parsed and parsed.kind == "doi" else first.lower()


def _categories_and_classes(stated: str | Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the categories of a record, and apart from them the classes of the ACM or the MSC that authors have put among them."""
    listed = [stated] if isinstance(stated, str) else stated
    values = [value for each in listed for value in _BETWEEN_CLASSES.split(each) if value.strip("/.")]
    classes = [value for value in values if all(map(_CLASS.fullmatch, value.rstrip(".").split("/")))]
    rest = [value for value in values if value not in classes]
    # Beside a class stands what it is called: "I.2.7 Natural Language Processing".
    fitting = [value for value in rest if _CATEGORY.fullmatch(value) and (not classes or _OF_ARCHIVE.search(value))]
    kept = fitting or rest
    return tuple(kept), tuple(value for value in values if value not in kept)


def _day(moment: str) -> date:
    """Return the day of a moment, in UTC where it has an offset."""
    return day(moment) if len(moment) <= 10 else _day_of(datetime.fromisoformat(moment))


def _day_of(moment: datetime) -> date:
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date()


def _license(stated: str) -> str:
    """Return a licence as rows hold it; one that is a whole page names none."""
    name = in_one_line(stated)
    return name if is_name(name) else UNKNOWN_LICENSE


def _authors_with_ids(record: dict[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the authors and, where each has one, their ids; an author without a name is none."""
    ids = record.get("author_ids")
    if not ids or record.get("authors_parsed") or isinstance(record["authors"], str):
        return tuple(map(in_one_line, _authors(record))), tuple(ids or ())
    pairs = [(in_one_line(name), id_) for name, id_ in zip(record["authors"], ids, strict=True)]
    named = [(name, id_) for name, id_ in pairs if any(map(str.isalnum, name))]
    return tuple(name for name, _ in named), tuple(id_ for _, id_ in named)


def _given_first(name: str) -> str:
    family, _, given = name.partition(",")
    return f"{given.strip()} {family.strip()}"


def _authors(record: dict[str, Any]) -> tuple[str, ...]:
    if parsed := record.get("authors_parsed"):
        names = (" ".join(piece for piece in (first, last, suffix) if piece) for last, first, suffix, *_ in parsed)
    elif isinstance(record["authors"], str):
        # Numbers of affiliations stand in brackets, and a collaboration before a colon.
        plain = re.sub(r"\s*\([^()]*\)", "", record["authors"])
        people = [piece for piece in plain.split(";") if piece.strip()]
        is_inverted = len(people) > 1 and all(map(_INVERTED.fullmatch, people))
        pieces = map(_given_first, people) if is_inverted else re.split("[,:;]", plain)
        names = (name for piece in pieces for name in piece.split(" and "))
    else:
        names = iter(record["authors"])
    return names_of(names)


# --- what a record must contain

_CATEGORY = re.compile(r"[A-Za-z][A-Za-z0-9-]{1,60}(?:\.[A-Za-z0-9-]{1,60})?")
# "I.2.7", "14J60", "(Primary)" (https://dl.acm.org/ccs, https://msc2020.org).
_CLASS = re.compile(
    r"[A-Z]\.?(?:\d+|m)(?:\.(?:\d+|[a-z]))*|\d\S*|(?:prim(?:ary|\.)?|sec(?:ondary|\.)?|msc|acm|class(?:es)?|and)(?:[-_]?(?:class|\d{4}))?",
    re.IGNORECASE,
)
# "Lee, Ann", between semicolons; "A. Lee, B. Ek" and "Ann Lee, Bo Ek" are two people.
_INVERTED = re.compile(r"\s*(?:[a-z]+ )*[^\s,.:]+\s*,[^,:]+")
_BETWEEN_DOIS = re.compile(r"[\s,;]+(?=10\.|https?:|doi:|$)|\s", re.IGNORECASE)
_BETWEEN_CLASSES = re.compile(r"[\s,;:()|\[\]–—]+")
# arXiv's archives and their subjects, which no word of a sentence looks like.
_OF_ARCHIVE = re.compile(r"[.-]|^(?:math|cs|physics|stat|econ|eess|nlin)$")
_MOST_VERSIONS, _MOST_AUTHORS = 9999, 20_000
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", re.ASCII)
_LONGEST = {"title": 10_000, "abstract": 100_000, "license": LONGEST_NAME, "doi": 1_000, "author": 1_000}


def checked_paper(paper: Paper) -> Paper:
    """Return the paper, if every field is what it should be; a ValueError if one is not; the message names it."""
    if not _is_bare(paper.id):
        raise ValueError(f"{paper.id!r:.40} is not the bare id of a paper")
    if type(paper.version) is not int or not 1 <= paper.version <= _MOST_VERSIONS:
        raise ValueError(f"version {paper.version!r:.40}")
    _check_texts(paper)
    _check_authors(paper)
    for category in paper.categories:
        if not isinstance(category, str) or not _CATEGORY.fullmatch(category):
            raise ValueError(f"category {category!r:.40}")
    for other in paper.other_ids:
        if not _is_bare(other):
            raise ValueError(f"other id {other!r:.40}")
    for moment in (paper.published, paper.updated):
        day(moment.isoformat())
    return paper


def _check_texts(paper: Paper) -> None:
    for name in ("title", "abstract", "license", "doi"):
        _text(name, getattr(paper, name))
    if not paper.title:
        raise ValueError("no title")
    if not is_name(paper.license):
        raise ValueError(f"license {paper.license!r:.40}")


def _is_bare(id_: object) -> bool:
    parsed = PaperId.parse(id_) if isinstance(id_, str) else None
    return parsed is not None and (parsed.bare, parsed.version) == (id_, None)


def _check_authors(paper: Paper) -> None:
    if not 0 < len(paper.authors) <= _MOST_AUTHORS:
        raise ValueError("no authors, or too many")
    for author in paper.authors:
        _text("author", author)
        if not author.strip():
            raise ValueError("an author without a name")
    if len(paper.author_ids) not in (0, len(paper.authors)):
        raise ValueError("not as many ids of authors as authors")
    for id_ in paper.author_ids:
        is_id = isinstance(id_, str) and (id_ in ("", GROUP) or _ORCID.fullmatch(id_))
        if not is_id:
            raise ValueError(f"id of an author {id_!r:.40}")


def _text(name: str, value: object) -> None:
    is_text = isinstance(value, str) and len(value) <= _LONGEST[name] and _is_plain(value)
    if not is_text:
        raise ValueError(f"{name} is not a text, is too long, or contains what no text may contain")


def _is_plain(text: str) -> bool:
    """Tell whether a text has neither a control character nor half of a pair; what can be printed has none."""
    return text.isprintable() or (is_valid(text) and without_controls(text) == text)
