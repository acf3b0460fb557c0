"""`academiceval extract FILE...`: files -> JSON lines, with no workspace."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from builder.errors import BuildError
from builder.extract import quality
from builder.extract.stage import EXTRACTOR
from builder.extract.workers import Extracted, extract_files
from builder.ids import PaperId
from builder.records import READING_REASONS
from builder.round.tables import ExtractTable, QualityTable
from builder.sources.object_store import expand_names, is_address, local_path
from lm_eval_tasks.base.files import atomic_file, exclusive, sha256_of
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import parse_json, valid
from lm_eval_tasks.engines.registry import Engine


def extract_to_jsonl(
    names: Sequence[str], output: Path, engine: Engine, time_limit: float, memory_limit: int
) -> tuple[int, int]:
    """Extract files and write one JSON line for each, in input order; the file appears once it is complete.

    A line's status is "ok", "doubtful" (a document that the default thresholds of `[quality]` do not trust, `reason` says
    which) or "failed" (no document).

    Args:
        names: paths, or addresses in an object store, in which `*` matches anything.

    Returns:
        How many gave a document, and how many did not.
    """
    limits = _limits(time_limit, memory_limit)
    files = expand_names(names)
    if output.is_dir() or output.resolve() in {path.resolve() for path in map(local_path, files) if path is not None}:
        raise BuildError(
            f"--output {output} is {'a folder' if output.is_dir() else 'one of the files to read'}; name another file"
        )
    with exclusive(output), closing(_Results(output.with_name(f".{output.name}.results"))) as results:
        todo = [name for name in files if not results.has(name)]
        extracted = extract_files(todo, engine, limits.time_limit, limits.memory_limit)
        for result in progress(extracted, "extract", len(todo)):
            results.add(result)
        done = 0
        with atomic_file(output) as lines:
            for name in files:
                line = results.line(name)
                done += json.loads(line)["status"] != "failed"
                lines.write(line)
        results.remove()
    return done, len(files) - done


class _Results:
    """The lines of a call that has not ended, in the order in which they came; a later call with the same files
    continues from them.

    Only lines of this extractor about unchanged files count, and none that says what happened to the reading process.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # file -> the hash that it had, and the place of its line.
        self._places: dict[str, tuple[str, int]] = {}
        self._of_call: dict[str, int] = {}
        self._file = path.open("a+b")
        self._file.seek(0)
        place, line = 0, b"\n"
        for line in self._file:
            if (parsed := _parse_line(line)) is not None:
                name, digest = parsed
                self._places[name] = digest, place
            place += len(line)
        if not line.endswith(b"\n"):
            self._file.write(b"\n")

    def has(self, name: str) -> bool:
        digest, place = self._places.get(valid(name), (None, 0))
        # Only what an earlier call has read is read here to compare it; an object would have to be fetched for that.
        if digest is None or (not is_address(name) and digest != _hash(name)):
            return False
        self._of_call[name] = place
        return True

    def add(self, result: Extracted) -> None:
        self._of_call[result.name] = self._file.seek(0, os.SEEK_END)
        self._file.write(valid(json.dumps(_line(result), ensure_ascii=False) + "\n").encode())
        self._file.flush()

    def line(self, name: str) -> bytes:
        self._file.seek(self._of_call[name])
        return self._file.readline()

    def remove(self) -> None:
        self._path.unlink()

    def close(self) -> None:
        self._file.close()


def _parse_line(line: bytes) -> tuple[str, str] | None:
    """The file that a line is about, and its hash; None if the line does not count."""
    try:
        result = parse_json(line)
        reason = str(result["reason"]).partition(":")[0]
        if result["extractor"] == EXTRACTOR and reason not in READING_REASONS and line.endswith(b"\n"):
            return str(result["file"]), str(result["sha256"])
    except (ValueError, KeyError, TypeError):
        pass
    return None


def _limits(time_limit: float, memory_limit: int) -> ExtractTable:
    try:
        return ExtractTable(time_limit=time_limit, memory_limit=memory_limit)
    except ValidationError as err:
        problem = err.errors()[0]
        raise BuildError(f"--{str(problem['loc'][0]).replace('_', '-')}: {problem['msg']}") from err


def _hash(name: str) -> str:
    """The hash of a file, "" if there is none that can be read."""
    path = Path(name)
    try:
        return sha256_of(path) if path.is_file() else ""
    except OSError:
        return ""


def _line(result: Extracted) -> dict[str, Any]:
    document = result.document
    stamped = document.stamped_id if document else None
    reason = f"{result.reason}: {result.detail}" if result.reason else ""
    doubt = quality.fault(result.quality, QualityTable()) if result.quality else None
    named = PaperId.of_stem(Path(result.name).name.split(".html")[0].removesuffix(".pdf"))
    line: dict[str, Any] = {
        "file": valid(result.name),
        "id": stamped or (named.bare if named else None),
        "status": "failed" if document is None else "doubtful" if doubt else "ok",
        "reason": reason or doubt or "",
        "title": document.title if document else "",
        "abstract": document.abstract if document else "",
        "sections": [asdict(section) for section in document.sections] if document else [],
        "references": [asdict(entry) for entry in document.references] if document else [],
        "mentions": [asdict(mention) for mention in document.mentions] if document else [],
        "quality": asdict(result.quality) if result.quality else None,
        "sha256": result.sha256,
        "extractor": EXTRACTOR,
        "seconds": round(result.seconds, 3),
    }
    return line
