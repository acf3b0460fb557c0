"""Extraction against MuPDF's own text pass, in one run: processor time, a worker's peak memory, what a second job brings.

  python benchmarks/extraction.py [FOLDER OF PDF FILES] [--quick]

FOLDER: default ../shared/data/pdf, and papers drawn for the occasion where that is absent. Each file is read by one
`get_text("dict")` pass and by the extraction in turn, so that a machine whose speed changes slows both. The last line is JSON:
cpu_ratio (ours over the pass, all files together), median_ratio and worst_ratio (of single files), worker_peak_mb, speedup_2_jobs.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path
from statistics import median

import pymupdf

from builder.extract.worker import answer
from builder.extract.workers import extract_files
from builder.sources.sample.source import SampleSource
from lm_eval_tasks.engines.local import LocalEngine

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "pdf"
QUICK_FILES = 16
TURNS = 2


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
        chosen = files[:QUICK_FILES] if arguments.quick else files
        print(json.dumps(measure(chosen, 1 if arguments.quick else TURNS)))


def measure(files: list[Path], turns: int) -> dict[str, float]:
    """All figures over some files; the times of a file's turns are added up."""
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    # The pools come first: the memory of this process when it starts a child counts towards that child's peak.
    pools = [(_pool_seconds(files, 1), _pool_seconds(files, 2)) for _ in range(turns)]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    one, two = (min(seconds) for seconds in zip(*pools, strict=True))
    print(f"one job {one:.1f} s, two jobs {two:.1f} s")
    _extraction(files[0])  # what is loaded once does not count
    taken = [
        [sum(both) for both in zip(*((_plain(file), _extraction(file)) for _ in range(turns)), strict=True)]
        for file in files
    ]
    plain, ours = (sum(seconds) for seconds in zip(*taken, strict=True))
    ratios = sorted(mine / theirs for theirs, mine in taken if theirs)
    pages = sum(_pages(file) for file in files)
    print(
        f"{len(files)} files, {pages} pages, {turns} times: text pass {plain:.1f} s, extraction {ours:.1f} s of processor time"
    )
    return {
        "cpu_ratio": round(ours / plain, 3),
        "median_ratio": round(median(ratios), 3),
        "worst_ratio": round(ratios[-1], 3),
        "worker_peak_mb": round(peak, 1),
        "speedup_2_jobs": round(one / two, 3),
        "pages_per_second": round(turns * pages / ours, 1),
        "files": len(files),
    }


def _pages(file: Path) -> int:
    try:
        with pymupdf.open(file) as pdf:
            return int(pdf.page_count)
    except RuntimeError:
        return 0


def _extraction(file: Path) -> float:
    started = time.process_time()
    answer(file)
    pymupdf.TOOLS.store_shrink(100)
    return time.process_time() - started


def _plain(file: Path) -> float:
    started = time.process_time()
    try:
        with pymupdf.open(file) as pdf:
            for page in pdf:
                page.get_text("dict")
    except RuntimeError:
        return 0.0  # not a file that MuPDF reads
    finally:
        pymupdf.TOOLS.store_shrink(100)
    return time.process_time() - started


def _pool_seconds(files: list[Path], jobs: int) -> float:
    started = time.perf_counter()
    for _ in extract_files(map(str, files), LocalEngine(jobs), time_limit=120.0, memory_limit=2048):
        pass
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
