"""Extraction of 98 real papers against MuPDF's own text pass: processor time, a worker's peak memory, what a second job brings.

Each file is read by one `get_text("dict")` pass and by the extraction in turn, so that a machine whose speed changes slows both. The
ratios are of all files together, of the median paper and of the worst.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.shared.data import PDF, pdf_files
from benchmarks.shared.running import Figures, best, run
from builder.extract.worker import answer
from builder.extract.workers import extract_files
from builder.mupdf import pymupdf
from lm_eval_tasks.engines.registry import LocalEngine


def measure(folder: Path, quick: bool) -> Figures:
    """Return all figures; the times of a file's turns are added up."""
    files, turns = (pdf_files(16), 1) if quick else (pdf_files(), 2)
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # These come first: the memory of this process when it starts a child counts towards that child's peak.
    (one, _), (two, _) = best(lambda: extract(files, 1), lambda: extract(files, 2), times=turns)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    extraction(files[0])  # what is loaded once does not count
    taken = []
    for file in files:
        both = [(extraction(file), text_pass(file)) for _ in range(turns)]
        taken.append([sum(seconds) for seconds in zip(*both, strict=True)])
    ours, plain = (sum(seconds) for seconds in zip(*taken, strict=True))
    ratios = sorted(own / floor for own, floor in taken if floor)
    print(
        f"one job {one:.1f} s, two jobs {two:.1f} s; {len(files)} files, {turns} times: {ours:.1f} s, text pass {plain:.1f} s"
    )
    return {
        "cpu_ratio": round(ours / plain, 3),
        "median_ratio": round(median(ratios), 3),
        "worst_ratio": round(ratios[-1], 3),
        "worker_peak_mb": round(peak, 1),
        "speedup_2_jobs": round(one / two, 3),
    }


def extract(files: Sequence[Path], jobs: int) -> None:
    """Extract all files by so many workers."""
    for _ in extract_files(map(str, files), LocalEngine(jobs), time_limit=120.0, memory_limit=2048):
        pass


def extraction(file: Path) -> float:
    """Return the processor seconds of extracting a file."""
    started = time.process_time()
    answer(file)
    pymupdf.TOOLS.store_shrink(100)
    return time.process_time() - started


def text_pass(file: Path) -> float:
    """Return the processor seconds of MuPDF's text pass; 0 for a file that MuPDF does not read."""
    started = time.process_time()
    try:
        with pymupdf.open(file) as pdf:
            for page in pdf:
                page.get_text("dict")
    except RuntimeError:
        return 0.0
    finally:
        pymupdf.TOOLS.store_shrink(100)
    return time.process_time() - started


if __name__ == "__main__":
    run(measure, PDF)
