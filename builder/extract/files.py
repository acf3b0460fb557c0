"""Files that are in no workspace, to JSON lines (`academiceval extract FILE...`)."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from builder.errors import BuildError
from builder.extract import quality
from builder.extract.stage import EXTRACTOR
from builder.extract.workers import Extracted, extract_files
from builder.ids import PaperId
from builder.records import READING_REASONS, Document
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
    stem = re.split(r"\.(?:html?|pdf|nxml|xml)\b", Path(name).name, flags=re.IGNORECASE)[0]
    named = PaperId.of_stem(stem)
    return named.bare if named else None


def _outcome(result: Extracted) -> dict[str, str]:
    """Tell whether a file was read, and if it was not or is doubtful, why."""
    reason = f"{result.reason}: {result.detail}" if result.reason else ""
    doubt = quality.fault(result.quality, QualityTable()) if result.quality else None
    if result.document is None:
        return {"status": "failed", "reason": reason or doubt or ""}
    return {"status": "doubtful" if doubt else "ok", "reason": reason or doubt or ""}
