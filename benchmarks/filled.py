"""Settings that fill a long context with whole papers: what building them takes.

`Title-128K-G` and `Title-1M-G`, and `Title-10K` beside them, over papers of 8,000 words. Groups of authors have written 400 papers
together, so that co-authors alone fill a prompt. The floor is that of `build.py`.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.build import floor, with_jobs
from benchmarks.shared.made_up import build_workspace, fill_workspace
from benchmarks.shared.running import Figures, call, run

_SETTING = """
settings = ["Title-10K"]
[[setting]]
name = "Title-{name}-G"
task = "title"
tokens = {tokens}
fill = ["co-author"]
"""


def measure(folder: Path, quick: bool) -> Figures:
    """Build each setting over 1,600 papers, and the longest over 400 and with four jobs; `quick` takes a sixteenth."""
    part = 16 if quick else 1
    most = 1_048_576 // part
    figures: Figures = {}
    for name, tokens in (("128K", min(131_072, most)), ("1M", most)):
        built = build(folder / name, 1600 // part, name, tokens, 400 // part)
        figures |= {f"{key}_{name.lower()}": value for key, value in built.items()}
    few = build(folder / "few", 400 // part, "1M", most, 400 // part)
    figures["growth_1m"] = round(figures["seconds_a_row_1m"] / few["seconds_a_row"], 2)
    _, figures["jobs_identical_1m"] = with_jobs(folder / "1M")
    return figures


def build(place: Path, papers: int, name: str, tokens: int, group_papers: int) -> Figures:
    """Return the rows of the filled setting, processor time of the build by its floor and by row, and its peak of memory."""
    setting = _SETTING.format(name=name, tokens=tokens)
    fill_workspace(place, papers, group_papers=group_papers, settings=setting)
    built = call(build_workspace, place)
    files = (place / "academiceval" / f"Title-{name}-G").glob("*.parquet")
    figures = {
        "rows": sum(pq.read_metadata(file).num_rows for file in files),
        "floor_ratio": round(built.processor_seconds / call(floor, place).result, 2),
        "peak_mb": round(built.peak_mb, 1),
    }
    figures["seconds_a_row"] = round(built.processor_seconds / figures["rows"], 4)
    print(f"{papers} papers, {name}: {figures}", flush=True)
    return figures


if __name__ == "__main__":
    run(measure)
