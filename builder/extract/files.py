"""`academiceval extract FILE...`: files -> JSON lines, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from builder.errors import BuildError
from builder.extract import quality
from builder.extract.pool import Extracted, extract_files
from builder.extract.stage import EXTRACTOR
from builder.ids import PaperId
from builder.progress import progress
from builder.round.tables import ExtractTable, QualityTable
from lm_eval_tasks.files import part_of, sha256_of


def extract_to_jsonl(
    files: Sequence[Path], output: Path, jobs: int, time_limit: float, memory_limit: int
) -> tuple[int, int]:
    """Extract files and write one JSON line for each, in input order; the file appears when it is whole.

    A line's status is "ok", "doubtful" (a document that the default thresholds of `[quality]` do not trust, `reason` says
    which) or "failed" (no document).

    Returns:
        How many gave a document, and how many did not.
    """
    limits = _limits(time_limit, memory_limit)
    part = part_of(output)
    kept = list(_finished(part, files))
    part.write_text("".join(kept), encoding="utf-8")
    done = sum(json.loads(line)["status"] != "failed" for line in kept)
    todo = files[len(kept) :]
    with part.open("a", encoding="utf-8") as lines:
        results = extract_files(todo, jobs, limits.time_limit, limits.memory_limit)
        for result in progress(results, "extract", len(todo)):
            done += result.document is not None
            lines.write(json.dumps(_line(result), ensure_ascii=False) + "\n")
            lines.flush()
    part.rename(output)
    return done, len(files) - done


def _limits(time_limit: float, memory_limit: int) -> ExtractTable:
    try:
        return ExtractTable(time_limit=time_limit, memory_limit=memory_limit)
    except ValidationError as err:
        problem = err.errors()[0]
        raise BuildError(f"--{str(problem['loc'][0]).replace('_', '-')}: {problem['msg']}") from err


def _finished(part: Path, files: Sequence[Path]) -> Iterator[str]:
    """The lines that a killed call has left, as far as they are of the same files, unchanged, and of this extractor."""
    if not part.is_file():
        return
    with part.open(encoding="utf-8") as lines:
        for line, path in zip(lines, files, strict=False):
            if not line.endswith("\n"):
                return
            made = json.loads(line)
            if (made["file"], made["extractor"], made["sha256"]) != (str(path), EXTRACTOR, _hash(path)):
                return
            yield line


def _hash(path: Path) -> str:
    """The hash of a file, "" where there is no such file."""
    return sha256_of(path) if path.is_file() else ""


def _line(result: Extracted) -> dict[str, Any]:
    document = result.document
    stamped = document.stamped_id if document else None
    reason = f"{result.reason}: {result.detail}" if result.reason else ""
    doubt = quality.fault(result.quality, QualityTable()) if result.quality else None
    named = PaperId.of_stem(result.path.name.split(".html")[0].removesuffix(".pdf"))
    line: dict[str, Any] = {
        "file": str(result.path),
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
