"""`academiceval extract FILE...`: files -> JSON lines, with no workspace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from builder.extract import quality
from builder.extract.pool import Extracted, extract_files
from builder.keys import stem_to_id
from builder.progress import progress
from builder.round import QualityTable


def extract_to_jsonl(
    files: Sequence[Path], output: Path, jobs: int, time_limit: float, memory_limit: int
) -> tuple[int, int]:
    """Extract files and write one JSON line for each, in input order; the file appears when it is whole.

    A line's status is "ok", "doubtful" (a document that the default thresholds of `[quality]` do not trust, `reason` says
    which) or "failed" (no document).

    Returns:
        How many gave a document, and how many did not.
    """
    done = 0
    part = output.with_name(f".{output.name}.part")
    with part.open("w", encoding="utf-8") as lines:
        results = extract_files(files, jobs, time_limit, memory_limit)
        for result in progress(results, "extract", len(files)):
            done += result.document is not None
            lines.write(json.dumps(_line(result), ensure_ascii=False) + "\n")
    part.rename(output)
    return done, len(files) - done


def _line(result: Extracted) -> dict[str, Any]:
    document = result.document
    stamped = document.stamped_id if document else None
    reason = f"{result.reason}: {result.detail}" if result.reason else ""
    doubt = quality.fault(result.quality, QualityTable()) if result.quality else None
    line: dict[str, Any] = {
        "file": str(result.path),
        "id": stamped or stem_to_id(result.path.name.split(".html")[0].removesuffix(".pdf")),
        "status": "failed" if document is None else "doubtful" if doubt else "ok",
        "reason": reason or doubt or "",
        "title": document.title if document else "",
        "abstract": document.abstract if document else "",
        "sections": [asdict(section) for section in document.sections] if document else [],
        "references": [asdict(entry) for entry in document.references] if document else [],
        "mentions": [asdict(mention) for mention in document.mentions] if document else [],
        "quality": asdict(result.quality) if result.quality else None,
        "seconds": round(result.seconds, 3),
    }
    return line
