"""Files that are in no workspace: to JSON lines (`academiceval extract FILE...`); or a folder of PDFs to a table of their metadata, a CSV
file that its owner may correct before a round is built from it.
"""

import csv
import json
import logging
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from pydantic import ValidationError

from builder.errors import BuildError, RoundError
from builder.extract import quality
from builder.extract.stage import EXTRACTOR
from builder.extract.workers import Extracted, extract_files
from builder.ids import PaperId, bare_id
from builder.records import READING_REASONS, Document, Paper
from builder.round.model import round_of_source
from builder.round.tables import ExtractTable, QualityTable
from builder.sources import open_source
from builder.sources.metadata_file import COLUMNS, delimiter_of, table_rows
from builder.sources.object_store import expand_names, is_address, local_path
from builder.store import Store
from lm_eval_tasks.base.files import atomic_file, exclusive, named, sha256_of
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import parse_json, valid
from lm_eval_tasks.engines.registry import Engine

_LOGGER = logging.getLogger(__name__)


def extract_to_jsonl(
    names: Sequence[str], output: Path, engine: Engine, time_limit: float, memory_limit: int
) -> tuple[int, int]:
    """Extract files and write one JSON line for each, in input order; the file appears once it is complete.

    A line's status is "ok", "doubtful" (a document that the default thresholds of `[quality]` do not trust, `reason` says
    which) or "failed" (no document). A later call with the same files continues from one that has not ended.

    Args:
        names: paths, or addresses in an object store, in which `*` matches anything.

    Returns:
        How many gave a document, and how many did not.
    """
    try:
        limits = ExtractTable(time_limit=time_limit, memory_limit=memory_limit)
    except ValidationError as err:
        problem = err.errors()[0]
        raise BuildError(f"--{str(problem['loc'][0]).replace('_', '-')}: {problem['msg']}") from err
    files = expand_names(names)
    if output.is_dir() or output.resolve() in {path.resolve() for path in map(local_path, files) if path is not None}:
        raise BuildError(
            f"--output {output} is {'a folder' if output.is_dir() else 'one of the files to read'}; name another file"
        )
    results_path = output.with_name(f".{output.name}.results")
    with exclusive(output), results_path.open("a+b") as results:
        earlier = _earlier_lines(results)
        # File -> the place of its line.
        offsets = {name: earlier[valid(name)][1] for name in files if _is_unchanged(name, earlier)}
        todo = [name for name in files if name not in offsets]
        for result in progress(
            extract_files(todo, engine, limits.time_limit, limits.memory_limit), "extract", len(todo)
        ):
            offsets[result.name] = results.seek(0, os.SEEK_END)
            results.write(valid(json.dumps(_line(result), ensure_ascii=False) + "\n").encode())
            results.flush()
        done = 0
        with atomic_file(output) as lines:
            for name in files:
                results.seek(offsets[name])
                line = results.readline()
                done += json.loads(line)["status"] != "failed"
                lines.write(line)
        results_path.unlink()
    return done, len(files) - done


def _earlier_lines(results: IO[bytes]) -> dict[str, tuple[str, int]]:
    """Return the lines of a call that did not end: file -> the hash that it had, and the place of its line.

    Only lines of this extractor count, and none that says what happened to the reading process.
    """
    results.seek(0)
    earlier: dict[str, tuple[str, int]] = {}
    offset, line = 0, b"\n"
    for line in results:
        try:
            result = parse_json(line)
            reason = str(result["reason"]).partition(":")[0]
            if result["extractor"] == EXTRACTOR and reason not in READING_REASONS and line.endswith(b"\n"):
                earlier[str(result["file"])] = str(result["sha256"]), offset
        except (ValueError, KeyError, TypeError):
            pass
        offset += len(line)
    if not line.endswith(b"\n"):
        results.write(b"\n")
    return earlier


def _is_unchanged(name: str, earlier: dict[str, tuple[str, int]]) -> bool:
    """Tell whether a file was read by an earlier call, and is what it was then; an object would have to be fetched to tell."""
    if valid(name) not in earlier or is_address(name):
        return valid(name) in earlier
    path = Path(name)
    try:
        return earlier[valid(name)][0] == (sha256_of(path) if path.is_file() else "")
    except OSError:
        return earlier[valid(name)][0] == ""


def _line(result: Extracted) -> dict[str, Any]:
    """Write what became of a file as a record of `academiceval extract`."""
    document = result.document or Document("", "", ())
    texts = {name: list(map(asdict, getattr(document, name))) for name in ("sections", "references", "mentions")}
    return {
        "file": valid(result.name),
        "id": document.stamped_id or _id_in_name(result.name),
        **_outcome(result),
        "title": document.title,
        "abstract": document.abstract,
        **texts,
        "quality": asdict(result.quality) if result.quality else None,
        "sha256": result.sha256,
        "extractor": EXTRACTOR,
        "seconds": round(result.seconds, 3),
    }


def _id_in_name(name: str) -> str | None:
    """Read the paper's id in the name of its file; None if it has none."""
    stem = Path(name).name.split(".html")[0].removesuffix(".pdf")
    named = PaperId.of_stem(stem)
    return named.bare if named else None


def _outcome(result: Extracted) -> dict[str, str]:
    """Tell whether a file was read, and if it was not or is doubtful, why."""
    reason = f"{result.reason}: {result.detail}" if result.reason else ""
    doubt = quality.fault(result.quality, QualityTable()) if result.quality else None
    if result.document is None:
        return {"status": "failed", "reason": reason or doubt or ""}
    return {"status": "doubtful" if doubt else "ok", "reason": reason or doubt or ""}


# --- a folder of PDFs -> a table

# Rows that are written together; what a kill costs.
_AT_ONCE = 20


def pdf_files(folder: Path) -> list[str]:
    """Return the PDFs of a folder and of those in it, relative to it, in order; a RoundError if there is none."""
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
                fresh = _looked_up([_row(name, extracted, taken) for name, extracted in batch], contact)
                writer.writerows(fresh)
                file.flush()
                rows += fresh
    usable = [row for row in rows if row["title"] and row["published"]]
    return len(rows), len(usable), sum(bool(row["authors"]) for row in usable)


def _row(name: str, extracted: Extracted, taken: set[str]) -> dict[str, str]:
    """Return what a file says of itself; it gets an id of its own if it prints none, or one that another file has."""
    row = dict.fromkeys(COLUMNS, "") | {"file": name, "source": extracted.reason or "page"}
    document = extracted.document
    stamped = PaperId.parse(document.stamped_id or "") if document else None
    of_name = PaperId.of_stem(Path(name).stem)
    printed = stamped or (of_name if of_name and of_name.kind == "arxiv" else None)
    row["id"] = f"{printed.bare}v{printed.version or 1}" if printed else ""
    if not row["id"] or row["id"] in taken:
        plain = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-")[:60] or "paper"
        row["id"], printed = f"local:{plain}-{sha256(name.encode(errors='surrogateescape')).hexdigest()[:6]}", None
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


def _looked_up(rows: list[dict[str, str]], contact: str) -> list[dict[str, str]]:
    """Return the rows, with arXiv's record in place of what was read where a paper has one; unchanged if arXiv is not to be asked or
    reached.
    """
    ids = [row["id"] for row in rows if (parsed := PaperId.parse(row["id"])) and parsed.kind == "arxiv"]
    if not ids or not contact:
        return rows
    try:
        with TemporaryDirectory() as offset, Store.open(Path(offset) / "store.sqlite3") as store:
            round_ = round_of_source("2000.01", {"kind": "arxiv", "contact": contact}, Path(offset))
            found = {
                item.id: _of_record(item) for item in open_source(round_, store).by_ids(ids) if isinstance(item, Paper)
            }
    except BuildError as err:
        _LOGGER.warning("arXiv was not asked for %d papers, which keep what their pages say: %s", len(ids), err)
        return rows
    return [row | found.get(bare_id(row["id"]), {}) for row in rows]


def _of_record(paper: Paper) -> dict[str, str]:
    return {
        "title": paper.title,
        "authors": "; ".join(paper.authors),
        "published": paper.published.isoformat(),
        "categories": " ".join(paper.categories),
        "license": paper.license,
        "abstract": paper.abstract,
        "source": "arXiv",
    }
