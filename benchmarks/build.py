"""Build rounds of made-up papers: processor time against its floor, how it grows, memory, `--jobs`, kills.

Papers of 8,000 words, all sixteen settings. The floor is what no build can do without: each text tokenized once by the tokenizer's own
batches, and the same rows written by `pyarrow.parquet.write_table`.
"""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.shared.made_up import build_workspace, fill_workspace
from benchmarks.shared.running import ACADEMICEVAL, Figures, call, command, interrupt, run
from builder.sources.tokenizer import load_tokenizer
from builder.store import STORE, Store
from standins.rounds import hashes


def measure(folder: Path, quick: bool) -> Figures:
    """Build rounds of each size; the floor and another number of jobs at the middle one; kills with small ones."""
    small, middle, large = (20, 40, 60) if quick else (500, 2000, 5000)
    seconds, peak, figures = {}, 0.0, {}
    for size in (small, middle, large):
        place = folder / str(size)
        fill_workspace(place, size)
        built = call(build_workspace, place)
        seconds[size], peak = built.processor_seconds, built.peak_mb
        print(
            f"{size} papers: {seconds[size]:.1f} s of processor time, {built.seconds:.1f} s, {peak:.0f} MB", flush=True
        )
        if size == middle:
            jobs, is_same = with_jobs(place)
            figures = {
                "floor_ratio": round(seconds[size] / call(floor, place).result, 3),
                "jobs_identical": is_same,
                "speedup_4_jobs": round(built.seconds / jobs, 2),
            }
        shutil.rmtree(place)
    return {
        **figures,
        "growth": round((seconds[large] / large) / (seconds[small] / small), 3),
        "peak_mb": round(peak, 1),
        **killed(folder / "kills", 1 if quick else 30, 10 if quick else 60),
    }


def with_jobs(place: Path) -> tuple[float, bool]:
    """Build a built workspace again with four jobs: seconds, and whether the bytes are the same."""
    again = call(build_workspace, place, "again", 4)
    return again.seconds, hashes(place / "again") == hashes(place / "academiceval")


def floor(place: Path) -> float:
    """Return the processor seconds of tokenizing every text of a workspace once, and of writing the rows of its dataset folder again."""
    tokenizer = load_tokenizer()
    seconds = 0.0
    with Store.open(place / "work" / STORE) as store:
        for paper in store.papers():
            document = store.document(paper.id, "html")
            assert document
            texts = [paper.title, paper.abstract, *(section.text for section in document.sections)]
            started = time.process_time()
            tokenizer.encode_batch_fast(texts, add_special_tokens=False)
            seconds += time.process_time() - started
    for path in sorted((place / "academiceval").rglob("*.parquet")):
        table = pq.read_table(path)
        started = time.process_time()
        pq.write_table(table, place / "plain.parquet", compression="zstd", row_group_size=64)
        seconds += time.process_time() - started
    return seconds


def killed(place: Path, times: int, papers: int) -> Figures:
    """Kill builds at random points, start them again, compare every file with an undisturbed build."""
    fill_workspace(place, papers)
    line = (*ACADEMICEVAL, "run", place / "round.toml", "--only", "build", "--output")
    seconds = command(*line, place / "calm").seconds
    rng = random.Random(3)
    same = 0
    for i in range(times):
        output = place / f"rough-{i}"
        interrupt((*line, output), rng.uniform(0.2, 1.0) * seconds)
        same += hashes(output) == hashes(place / "calm")
        shutil.rmtree(output)
    print(f"{times} kills, {same} folders identical")
    return {"kills": times, "kills_identical": same}


if __name__ == "__main__":
    run(measure)
