"""Crawl a whole metadata file into a fresh store and build its co-author graph: seconds, peak memory, sizes.

  python benchmarks/graph.py [METADATA] [--quick]

METADATA: default ../shared/data/arxiv_meta.jsonl.xz (152,736 records). The ratio is against a plain loop that only decompresses
and parses the same file in the same run. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import resource
import tempfile
import time
from itertools import islice
from pathlib import Path

from builder.pipeline import crawl_only
from builder.round.model import Round
from builder.round.source import MirrorTable

DEFAULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "arxiv_meta.jsonl.xz"
QUICK_RECORDS = 20_000


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metadata", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK_RECORDS} records only")
    arguments = parser.parse_args()
    if not arguments.metadata.is_file():
        parser.exit(1, f"error: no metadata file {arguments.metadata}\n")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(arguments.metadata, Path(folder), arguments.quick)))


def measure(metadata: Path, folder: Path, quick: bool) -> dict[str, float]:
    """Crawl and build in `folder`; print the stage reports and return the figures."""
    started = time.perf_counter()
    with (
        lzma.open(metadata, "rt", encoding="utf-8") as lines,
        (folder / "meta.jsonl").open("w", encoding="utf-8") as copy,
    ):
        for line in islice(lines, QUICK_RECORDS if quick else None):
            json.loads(line)
            copy.write(line)
    plain = time.perf_counter() - started
    round_ = Round(
        round="2026.11",
        workspace=folder / "work",
        source=MirrorTable(kind="mirror", path=folder, metadata="meta.jsonl"),
    )
    started = time.perf_counter()
    graph, reports = crawl_only(round_)
    seconds = time.perf_counter() - started
    for report in reports:
        print(report.line())
    print(f"{seconds:.1f} s, {seconds / plain:.1f} times as long as only reading the file")
    return {
        "seconds": round(seconds, 2),
        "ratio_to_reading": round(seconds / plain, 2),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "authors": graph.authors,
        "first_authors": graph.first_authors,
        "largest_component": len(graph.nodes),
        "edges": graph.edges,
    }


if __name__ == "__main__":
    main()
