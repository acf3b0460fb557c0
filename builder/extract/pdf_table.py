"""A folder of PDFs -> a table of their metadata, a CSV file that its owner may correct before a round is built from it."""

from __future__ import annotations

import csv
import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from builder.errors import BuildError, RoundError
from builder.extract.workers import Extracted, extract_files
from builder.ids import PaperId, bare_id
from builder.records import Paper
from builder.round.model import round_of_source
from builder.round.tables import ExtractTable
from builder.sources.base import open_source
from builder.sources.metadata_file import COLUMNS, delimiter_of, table_rows
from builder.store import Store
from lm_eval_tasks.base.files import exclusive, named
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.engines.registry import Engine

_LOGGER = logging.getLogger(__name__)
# Rows that are written together; what a kill costs.
_AT_ONCE = 20
Row = dict[str, str]


def pdf_files(folder: Path) -> list[str]:
    """The PDFs of a folder and of those in it, relative to it, in order; a RoundError if there is none."""
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.suffix.lower() == ".pdf")
    if not files:
        raise RoundError(f"{folder} has no PDF file in it" if folder.is_dir() else f"{folder} is no folder")
    return files


def write_table(
    folder: Path, files: Iterable[str], table: Path, engine: Engine, contact: str = ""
) -> tuple[int, int, int]:
    """Add the PDFs of a folder that a table lacks; its other rows stay as they are, so that a killed call goes on.

    Args:
        files: the folder's, as `pdf_files` lists them.
        contact: if given, arXiv is asked for the records of papers whose arXiv id is printed on them.

    Returns:
        How many rows the table has, how many of them can be used (title and day are there), and how many of these have authors.
    """
    with exclusive(table), named(table):
        rows = list(table_rows(table)) if table.is_file() else []
        there, taken = {row["file"] for row in rows}, {row["id"] for row in rows}
        todo = [name for name in files if name not in there]
        limits = ExtractTable()
        read = extract_files((str(folder / name) for name in todo), engine, limits.time_limit, limits.memory_limit)
        found = zip(todo, progress(read, "PDFs", len(todo)), strict=True)
        with table.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, delimiter=delimiter_of(table) if rows else ",")
            if not rows:
                writer.writeheader()
            while batch := list(islice(found, _AT_ONCE)):
                fresh = [_row(name, extracted, taken) for name, extracted in batch]
                fresh = _looked_up(fresh, contact) if contact else fresh
                writer.writerows(fresh)
                file.flush()
                rows += fresh
    usable = [row for row in rows if row["title"] and row["published"]]
    return len(rows), len(usable), sum(bool(row["authors"]) for row in usable)


def _row(name: str, extracted: Extracted, taken: set[str]) -> Row:
    """What a file says of itself; it gets an id of its own if it prints none, or one that another file has."""
    row = dict.fromkeys(COLUMNS, "") | {"file": name, "source": extracted.reason or "page"}
    document = extracted.document
    stamped = PaperId.parse(document.stamped_id or "") if document else None
    of_name = PaperId.of_stem(Path(name).stem)
    printed = stamped or (of_name if of_name and of_name.kind == "arxiv" else None)
    row["id"] = f"{printed.bare}v{printed.version or 1}" if printed else ""
    if not row["id"] or row["id"] in taken:
        row["id"], printed = _own_id(name), None
    taken.add(row["id"])
    if document is not None:
        front = document.front
        is_first = front.day_from == "stamp" and printed is not None and (printed.version or 1) == 1
        month = printed.month if printed else None
        row |= {
            "title": document.title,
            "authors": "; ".join(front.authors),
            "published": front.day if is_first or month is None else month.isoformat(),
            "categories": front.category,
            "doi": front.doi,
            "abstract": " ".join(document.abstract.split()),
        }
    return row


def _own_id(name: str) -> str:
    plain = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-")[:60]
    return f"local:{plain or 'paper'}-{sha256(name.encode(errors='surrogateescape')).hexdigest()[:6]}"


def _looked_up(rows: list[Row], contact: str) -> list[Row]:
    """The rows, with arXiv's record in place of what was read where a paper has one; unchanged if arXiv cannot be reached."""
    ids = [row["id"] for row in rows if (parsed := PaperId.parse(row["id"])) and parsed.kind == "arxiv"]
    try:
        records = {paper.id: paper for paper in _records(ids, contact)}
    except BuildError as err:
        _LOGGER.warning("arXiv was not asked for %d papers, which keep what their pages say: %s", len(ids), err)
        return rows
    return [row | _of_record(records[id_]) if (id_ := bare_id(row["id"])) in records else row for row in rows]


def _records(ids: Sequence[str], contact: str) -> Iterator[Paper]:
    if not ids:
        return
    with TemporaryDirectory() as place, Store.open(Path(place) / "store.sqlite3") as store:
        round_ = round_of_source("2000.01", {"kind": "arxiv", "contact": contact}, Path(place))
        yield from (item for item in open_source(round_, store).by_ids(ids) if isinstance(item, Paper))


def _of_record(paper: Paper) -> Row:
    return {
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "published": paper.published.isoformat(),
        "categories": " ".join(paper.categories),
        "license": paper.license,
        "abstract": paper.abstract,
        "source": "arXiv",
    }
