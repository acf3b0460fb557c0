"""A folder of PDFs to a table of their metadata: a CSV file that its owner may correct before a round is built from it."""

import csv
import io
import logging
import re
from collections.abc import Iterable, Sequence
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
from builder.sources import open_source
from builder.sources.metadata_file import COLUMNS, delimiter_of, table_rows
from builder.store import Store
from lm_eval_tasks.base.files import exclusive, named, write_whole
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import day, guarded, valid
from lm_eval_tasks.engines.registry import Engine

_LOGGER = logging.getLogger(__name__)
# Papers that arXiv is asked for together.
_AT_ONCE = 20
_Row = dict[str, str]


def pdf_files(folder: Path) -> list[str]:
    """Return the PDFs of a folder and of those in it, relative to it, in order; a RoundError if there is none."""
    files = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() == ".pdf" and path.is_file()
    )
    if not files:
        raise RoundError(f"{folder} has no PDF file in it" if folder.is_dir() else f"{folder} is no folder")
    return files


def write_table(
    folder: Path, files: Iterable[str], table: Path, engine: Engine, contact: str = ""
) -> tuple[int, int, int]:
    """Add the PDFs of a folder that a table lacks; its other rows stay as they are.

    The table is written whole, once all are read. What a call that was killed has read lies in a journal beside it.

    Args:
        files: the folder's, as `pdf_files` lists them.
        contact: if given, arXiv is asked for the records of papers whose arXiv id is printed on them.

    Returns:
        How many rows the table has, how many of them can be used (title and day are there), and how many of these have authors.
    """
    if table.exists() and not table.is_file():
        raise RoundError(f"{table} is not a regular file: name another round.toml, or move it away")
    with exclusive(table), named(table):
        is_there = table.is_file() and table.stat().st_size > 0
        rows = list(table_rows(table)) if is_there else []
        known = {row["file"] for row in rows}
        fresh = _read_rows(
            folder, [name for name in files if valid(name).strip() not in known], rows, table, engine, contact
        )
        if fresh or not is_there:
            write_whole(table, (table.read_bytes() if is_there else b"") + _lines(table, is_there, fresh).encode())
        _journal_of(table).unlink(missing_ok=True)
    rows += fresh
    usable = [row for row in rows if row["title"] and _is_day(row["published"])]
    return len(rows), len(usable), sum(bool(row["authors"]) for row in usable)


def _is_day(text: str) -> bool:
    try:
        return bool(day(text[:10]))
    except ValueError:
        return False


def _journal_of(table: Path) -> Path:
    return table.with_name(f".{table.name}.journal")


def _read_rows(
    folder: Path, names: Sequence[str], rows: Sequence[_Row], table: Path, engine: Engine, contact: str
) -> list[_Row]:
    """Read files into rows, of which those that an earlier call has read are in the journal."""
    journal = Journal(_journal_of(table))
    taken = {bare_id(row["id"]) for row in (*rows, *(journal[valid(name)] for name in names if valid(name) in journal))}
    limits = ExtractTable()
    todo = [name for name in names if valid(name) not in journal]
    read = extract_files((str(folder / name) for name in todo), engine, limits.time_limit, limits.memory_limit)
    found = zip(todo, progress(read, "PDFs", len(todo)), strict=True)
    while batch := list(islice(found, _AT_ONCE)):
        for row in _looked_up([_row(name, extracted, taken) for name, extracted in batch], contact):
            journal.add(row["file"], row)
    return [dict(journal[valid(name)]) for name in names]


def _lines(table: Path, is_there: bool, rows: Sequence[_Row]) -> str:
    """Write rows as the lines that follow those of a table: in the order of its own columns, in a line of their own."""
    columns: Sequence[str] = COLUMNS
    delimiter, before = ",", ""
    if is_there:
        delimiter = delimiter_of(table)
        with table.open(encoding="utf-8-sig", newline="") as file:
            columns = next(csv.reader(file, delimiter=delimiter))
        before = "" if table.read_bytes().endswith((b"\n", b"\r")) else "\r\n"
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", delimiter=delimiter)
    if not is_there:
        writer.writeheader()
    writer.writerows({name: guarded(value) for name, value in row.items()} for row in rows)
    return before + text.getvalue()


def _row(name: str, extracted: Extracted, taken: set[str]) -> _Row:
    """Return what a file says of itself; it gets an id of its own if it prints none, or one that another file has."""
    row = dict.fromkeys(COLUMNS, "") | {"file": name, "source": extracted.reason or "page"}
    document = extracted.document
    stamped = PaperId.parse(document.stamped_id or "") if document else None
    of_name = PaperId.of_stem(Path(name).stem)
    printed = stamped or (of_name if of_name and of_name.kind == "arxiv" else None)
    row["id"] = f"{printed.bare}v{printed.version or 1}" if printed else ""
    if not row["id"] or bare_id(row["id"]) in taken:
        plain = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-")[:60] or "paper"
        row["id"], printed = f"local:{plain}-{sha256(name.encode(errors='surrogateescape')).hexdigest()[:6]}", None
    taken.add(bare_id(row["id"]))
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


def _looked_up(rows: list[_Row], contact: str) -> list[_Row]:
    """Return the rows, with arXiv's record in place of what was read where a paper has one; unchanged if arXiv is not to be asked or
    reached.
    """
    ids = [row["id"] for row in rows if (parsed := PaperId.parse(row["id"])) and parsed.kind == "arxiv"]
    if not ids or not contact:
        return rows
    try:
        with TemporaryDirectory() as folder, Store.open(Path(folder) / "store.sqlite3") as store:
            round_ = round_of_source("2000.01", {"kind": "arxiv", "contact": contact}, Path(folder))
            found = {
                item.id: _of_record(item) for item in open_source(round_, store).by_ids(ids) if isinstance(item, Paper)
            }
    except BuildError as err:
        _LOGGER.warning("arXiv was not asked for %d papers, which keep what their pages say: %s", len(ids), err)
        return rows
    return [row | found.get(bare_id(row["id"]), {}) for row in rows]


def _of_record(paper: Paper) -> _Row:
    return {
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "published": paper.published.isoformat(),
        "categories": " ".join(paper.categories),
        "license": paper.license,
        "abstract": paper.abstract,
        "source": "arXiv",
    }
