"""Extraction against MuPDF's own text pass, in one run: processor time, a worker's peak memory, what a second job brings.

  python benchmarks/extraction.py [FOLDER OF PDF FILES] [--quick]

FOLDER: default ../shared/data/pdf, and papers drawn for the occasion where that is absent. The last line is JSON: cpu_ratio (ours over
one `get_text("dict")` pass over the same files), worker_peak_mb, speedup_2_jobs.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import pymupdf

from builder.extract.pool import extract_files
from builder.extract.worker import answer
from builder.sources.sample import SampleSource

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "pdf"
QUICK_FILES = 16


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_FILES} files only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder
        if not folder.is_dir():
            folder = SampleSource(Path(temporary), papers=40).metadata.parent / "pdf"
        files = sorted(folder.glob("*.pdf"))
        if not files:
            parser.exit(1, f"error: no PDF file in {folder}\n")
        print(json.dumps(measure(files[: QUICK_FILES if arguments.quick else None])))


def measure(files: list[Path]) -> dict[str, float]:
    """All figures over some files."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # The pools come first: what this process holds when it starts a child counts towards that child's peak.
    one, two = _pool_seconds(files, 1), _pool_seconds(files, 2)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"one job {one:.1f} s, two jobs {two:.1f} s")
    plain, pages = _plain_pass(files)
    started = time.process_time()
    for file in files:
        answer(file)
    ours = time.process_time() - started
    print(f"{len(files)} files, {pages} pages: text pass {plain:.1f} s, extraction {ours:.1f} s of processor time")
    return {
        "cpu_ratio": round(ours / plain, 3),
        "worker_peak_mb": round(peak, 1),
        "speedup_2_jobs": round(one / two, 3),
        "pages_per_second": round(pages / ours, 1),
        "files": len(files),
    }


def _plain_pass(files: list[Path]) -> tuple[float, int]:
    started, pages = time.process_time(), 0
    for file in files:
        try:
            with pymupdf.open(file) as pdf:
                for page in pdf:
                    page.get_text("dict")
                    pages += 1
        except RuntimeError:
            continue
    return time.process_time() - started, pages


def _pool_seconds(files: list[Path], jobs: int) -> float:
    started = time.perf_counter()
    for _ in extract_files(files, jobs, time_limit=120.0, memory_limit=2048):
        pass
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
