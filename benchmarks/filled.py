"""Settings that fill a long context with whole papers: what building them takes.

  python benchmarks/filled.py [--quick]

`Title-128K-G` and `Title-1M-G`, and `Title-10K` beside them, over papers of 8,000 words. Groups of authors have written 400 papers
together, so that co-authors alone fill a prompt. Each build is a separate process. The floor is what no build can do without: each text
tokenized once, and the same rows written by `pyarrow.parquet.write_table`. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.build import child, fill_workspace, hashes  # noqa: E402

_SETTING = """
[[setting]]
name = "Title-{name}-G"
task = "title"
tokens = {tokens}
fill = ["co-author"]
"""
_GROUP_PAPERS = 400


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="an eighth of the papers and of the tokens of 1M")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), 8 if arguments.quick else 1)))


def measure(folder: Path, smaller: int) -> dict[str, float]:
    """Build each setting over 1,600 papers, and the longest over 400 and with four jobs."""
    figures: dict[str, float] = {}
    most = 1_048_576 // smaller
    for name, tokens in (("128K", 131_072), ("1M", most)):
        built = build(folder / name, 1600 // smaller, name, tokens, smaller)
        figures |= {f"{key}_{name.lower()}": value for key, value in built.items()}
    few = build(folder / "few", 400 // smaller, "1M", most, smaller)
    figures["growth_1m"] = round(figures["seconds_a_row_1m"] / few["seconds_a_row"], 2)
    place = folder / "1M"
    once = hashes(place / "academiceval")
    shutil.rmtree(place / "academiceval")
    child("--build", place, "--jobs", "4")
    figures["jobs_identical_1m"] = hashes(place / "academiceval") == once
    return figures


def build(place: Path, papers: int, name: str, tokens: int, smaller: int) -> dict[str, float]:
    """Rows of the filled setting, processor time of the build by its floor and by row, and its peak of memory."""
    fill_workspace(place, papers, _SETTING.format(name=name, tokens=tokens), _GROUP_PAPERS // smaller, '["Title-10K"]')
    built = child("--build", place)
    seconds, floor = built["seconds"] - built["imports"], child("--floor", place)["seconds"]
    files = (place / "academiceval" / f"Title-{name}-G").glob("*.parquet")
    rows = sum(pq.read_metadata(file).num_rows for file in files)
    print(
        f"{papers} papers, {name}: {rows} rows, {seconds:.1f} s, floor {floor:.1f} s, {built['peak_mb']:.0f} MB",
        flush=True,
    )
    return {
        "rows": rows,
        "floor_ratio": round(seconds / floor, 2),
        "seconds_a_row": round(seconds / rows, 4),
        "peak_mb": round(built["peak_mb"], 1),
    }


if __name__ == "__main__":
    main()
