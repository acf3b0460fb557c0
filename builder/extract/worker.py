"""The child process that reads files: JSON lines in ({"path"}), JSON lines out; run by `builder.extract.workers` only.

A hostile file may crash, hang or eat memory; it then takes this process with it and nothing else. Nothing is unpickled
on either side.
"""

import gc
import json
import math
import os
import resource
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from builder.errors import ExtractError
from builder.extract import quality
from builder.extract.compat import FAULTS
from builder.extract.html import read_html
from builder.extract.jats import read_jats
from builder.extract.pdf import read_pdf
from builder.mupdf import pymupdf
from builder.packed import check_of_the_file
from builder.records import Document
from builder.sources.jats.markup import ENDINGS
from lm_eval_tasks.base.files import die_with, sha256_of
from lm_eval_tasks.base.text import without_controls

_DOCUMENT = TypeAdapter(Document)


def _limit(which: int, wanted: int) -> None:
    """Limit what this process may use, within what the system allows."""
    most = resource.getrlimit(which)[1]
    soft = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    resource.setrlimit(which, (soft, most if which == resource.RLIMIT_CPU else soft))


def main() -> None:
    """Answer requests until the input ends.

    Arguments: address-space limit in MiB beyond what is used at the start, seconds for a file, the parent's process id.
    """
    die_with(int(sys.argv[3]))
    # Beyond what is used at the start.
    used = (
        int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
    )
    _limit(resource.RLIMIT_AS, used + int(sys.argv[1]) * 2**20)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seconds = math.ceil(float(sys.argv[2]))
    # The pipe is ours alone: what libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    for line in sys.stdin:
        # The system ends this process with SIGXCPU when one file has taken this much processor time.
        _limit(resource.RLIMIT_CPU, math.ceil(time.process_time()) + seconds)
        answers.write(json.dumps(answer(Path(json.loads(line)["path"]))) + "\n")
        answers.flush()
        # MuPDF keeps what it has read for pages that nobody will ask for again.
        pymupdf.TOOLS.store_shrink(100)


def answer(path: Path) -> dict[str, Any]:
    """Read one file: its hash, and its document or the reason why there is none."""
    started = time.process_time()
    result: dict[str, Any] = {"sha256": "", "reason": "", "detail": "", "document": None, "quality": None}
    # A page is thousands of dictionaries, none of them in a circle: to look for circles among them takes a tenth of the time.
    gc.disable()
    try:
        result["sha256"] = _hash(path)
        name = path.name.casefold()
        is_page = name.endswith((".html", ".html.xz", ".htm", ".htm.xz"))
        reading = (read_jats if name.endswith(ENDINGS) else read_html if is_page else read_pdf)(path)
        if not reading.document.sections:
            raise ExtractError("no_sections", "no heading was found")
        result["document"] = _without_controls(_DOCUMENT.dump_python(reading.document, mode="json"))
        result["quality"] = asdict(quality.measure(reading))
    except ExtractError as err:
        result["reason"], result["detail"] = err.reason, err.detail
    except MemoryError:
        result["reason"], result["detail"] = "memory_limit", "out of the memory that round.toml allows"
    except FAULTS as err:
        # MuPDF reports all its faults so: damaged objects, and allocations (malloc, calloc, realloc) that the limit refused.
        memory = "alloc" in str(err) or "memory" in str(err)
        result["reason"], result["detail"] = ("memory_limit" if memory else "damaged"), str(err)[:200]
    finally:
        gc.enable()
    result["seconds"] = time.process_time() - started
    return result


def _without_controls(value: Any) -> Any:
    """Return what a document says without the control characters of its file; places in its texts stay as they are."""
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {name: _without_controls(item) for name, item in value.items()}
    return [_without_controls(item) for item in value] if isinstance(value, list) else value


def _hash(path: Path) -> str:
    try:
        return sha256_of(path)
    except OSError as err:
        # What ends this process is tried again, and no fact about the file.
        check_of_the_file(err, path)
        raise ExtractError("missing_file", f"{path}: {err.strerror}") from err


if __name__ == "__main__":
    main()
