"""Extraction of real papers and a build on a Ray cluster of two nodes on this machine, against the same number of local jobs.

One node is killed in the middle of a second extraction.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.shared.data import PDF, pdf_files
from benchmarks.shared.made_up import fill_workspace
from benchmarks.shared.running import Figures, run
from builder.extract.workers import Extracted, extract_files
from builder.round.model import load_round
from lm_eval_tasks.engines.ray import RayEngine
from lm_eval_tasks.engines.registry import Engine, LocalEngine
from standins.ray_cluster import RayCluster
from standins.rounds import build, hashes

NODES = ("head", "other")


def measure(folder: Path, quick: bool) -> Figures:
    """Return all figures."""
    files = list(map(str, pdf_files(8 if quick else None)))
    fill_workspace(folder / "made", 20 if quick else 200)
    round_ = load_round(folder / "made" / "round.toml")
    with closing(RayCluster()) as cluster:
        for name in NODES:
            cluster.start(name)
        with LocalEngine(len(NODES)) as here, RayEngine(cluster.address) as there:
            list(extract(files[:4], there))  # starting the first workers is not what is measured
            local, local_seconds = timed(files, here)
            spread, ray_seconds = timed(files, there)
            print(
                f"{len(files)} files: {local_seconds:.1f} s here, {ray_seconds:.1f} s on {len(NODES)} nodes", flush=True
            )
            build(round_, here)
            build(round_.model_copy(update={"output": folder / "again"}), there)
            killed = []
            for outcome in extract(files, there):
                killed.append(outcome)
                if len(killed) == len(files) // 4:
                    cluster.kill(NODES[1])
    return {
        "seconds_ratio": round(ray_seconds / local_seconds, 2),
        "extracted_identical": spread == local,
        "killed_identical": killed == local,
        "identical": hashes(folder / "again") == hashes(round_.output),
    }


def timed(files: Sequence[str], engine: Engine) -> tuple[list[object], float]:
    """Return the outcomes, and the seconds that they took."""
    started = time.perf_counter()
    return list(extract(files, engine)), time.perf_counter() - started


def extract(files: Sequence[str], engine: Engine) -> Iterator[object]:
    """Yield the outcomes without their times."""
    result: Extracted
    for result in extract_files(files, engine, 120.0, 2048):
        yield result.name, result.sha256, result.reason, result.document, result.quality


if __name__ == "__main__":
    run(measure, PDF)
