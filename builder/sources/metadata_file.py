"""A file of metadata records: Kaggle's snapshot format or plain JSON lines, compressed or not.

It is streamed line by line and never held in memory whole. Two record shapes are read: the snapshot's
(https://www.kaggle.com/datasets/Cornell-University/arxiv: `versions`, `authors_parsed`, `categories` as one text) and
plain lines with `published`, `authors` and `categories` as lists. A plain line with `id` and `drop` says why something is no paper.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from builder.errors import SourceError
from builder.ids import PaperId
from builder.packed import ERRORS, lines_of
from builder.records import GROUP, UNKNOWN_LICENSE, CrawlReason, Drop, Paper
from builder.sources.record_check import checked_paper, is_withdrawn, names_of
from lm_eval_tasks.base.text import ODD, day, parse_json

# Of a table of PDFs; `source` says where a row is from.
COLUMNS = ("file", "id", "title", "authors", "published", "categories", "license", "doi", "source", "abstract")
# Raise with every change that can affect a record: indexes of another version are made again.
READER = "3"


def file_fingerprint(path: Path) -> str:
    """Name, size and time of a file of records that are only looked up."""
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
        if path.suffix == ".csv":
            rows = enumerate(table_rows(path), start=2)
            yield from (_of_row(row, f"{path.name}:{number}") for number, row in islice(rows, after, None))
            return
        numbered = ((i, line) for i, line in enumerate(lines_of(path), start=1) if line is None or line.strip())
        for number, line in islice(numbered, after, None):
            yield _parse_line(line, f"{path.name}:{number}")
    except ERRORS as err:
        raise SourceError(f"cannot read the metadata file {path}: {err}") from err


def delimiter_of(table: Path) -> str:
    """What spreadsheets put between the columns of a table, which depends on their language."""
    with table.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.readline()
    return max(",;\t", key=head.count)


def table_rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of a table of PDFs, as spreadsheets write it; a SourceError if it cannot be read, or lacks a column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter=delimiter_of(path))
            if lacking := [name for name in COLUMNS if name not in (rows.fieldnames or ())]:
                raise SourceError(f"the table {path} has no column {', '.join(lacking)}")
            yield from ({name: (row[name] or "").strip() for name in COLUMNS} for row in rows)
    except (OSError, ValueError, csv.Error) as err:
        raise SourceError(f"cannot read the table {path}: {err}") from err


def _of_row(row: dict[str, str], where: str) -> Paper | Drop:
    """The paper of a row. Where its authors are unknown it stands for itself, and joins nobody to anybody."""
    try:
        authors = [name for name in row["authors"].split(";") if name.strip()]
        unknown = {"authors": [f"unknown ({row['id']})"], "author_ids": [GROUP]}
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
        paper = checked_paper(paper_from_record(record))
        return Drop(paper.id, "withdrawn") if is_withdrawn(record.get("comments"), paper.abstract) else paper
    except ODD:
        return Drop(where, "bad_record")


def paper_from_record(record: dict[str, Any]) -> Paper:
    """One metadata record, of either shape, as a `Paper`.

    Raises:
        ValueError, KeyError, TypeError, IndexError: a field is missing or not what it should be.
    """
    parsed = PaperId.parse(record["id"])
    if parsed is None:
        raise ValueError(f"{record['id']!r} is not the id of a paper")
    versions = record.get("versions")
    if versions:
        published = parsedate_to_datetime(versions[0]["created"]).date()
        updated = parsedate_to_datetime(versions[-1]["created"]).date()
        version = int(versions[-1]["version"].lstrip("v"))
    else:
        published = day(record["published"][:10])
        updated = day((record.get("updated") or record["published"])[:10])
        version = int(str(record.get("version") or parsed.version or 1).lstrip("v"))
    categories = record["categories"]
    authors = _authors(record)
    if not authors:
        raise ValueError("a record without authors")
    return Paper(
        id=parsed.bare,
        version=version,
        title=" ".join(record["title"].split()),
        abstract=" ".join((record.get("abstract") or "").split()),
        authors=authors,
        categories=tuple(categories.split() if isinstance(categories, str) else categories),
        published=published,
        updated=max(published, updated),
        license=record.get("license") or UNKNOWN_LICENSE,
        doi=(record.get("doi") or "").strip().partition(" ")[0].lower(),
        author_ids=tuple(record.get("author_ids") or ()),
        other_ids=tuple(record.get("other_ids") or ()),
    )


def _authors(record: dict[str, Any]) -> tuple[str, ...]:
    parsed = record.get("authors_parsed")
    if parsed:
        names = (" ".join(part for part in (first, last, suffix) if part) for last, first, suffix, *_ in parsed)
    elif isinstance(record["authors"], str):
        # Numbers of affiliations stand in brackets, and a collaboration before a colon.
        plain = re.sub(r"\s*\([^()]*\)", "", record["authors"])
        names = (name for part in re.split("[,:;]", plain) for name in part.split(" and "))
    else:
        if record.get("author_ids"):
            return tuple(" ".join(name.split()) for name in record["authors"])
        names = iter(record["authors"])
    return names_of(names)
