"""Extraction and a build on a Ray cluster of two nodes on this machine, against the same number of local jobs.

  python benchmarks/ray.py [FOLDER OF PDF FILES] [--quick]

FOLDER: default ../shared/data/pdf, and papers drawn for the occasion where that is absent. One node is killed in the middle of a second
extraction. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# This file has the same name as the package that it measures.
HERE = Path(__file__).resolve().parent
sys.path[:] = [str(HERE.parent), *(place for place in sys.path if Path(place or ".").resolve() != HERE)]

from benchmarks.build import fill_workspace, hashes  # noqa: E402
from builder.extract.workers import Extracted, extract_files  # noqa: E402
from builder.pipeline import build  # noqa: E402
from builder.round.model import load_round  # noqa: E402
from builder.sources.sample.source import SampleSource  # noqa: E402
from lm_eval_tasks.engines.base import Engine  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.engines.ray import RayEngine  # noqa: E402
from tests.helpers.ray_cluster import RayCluster  # noqa: E402

DEFAULT = HERE.parent.parent / "shared" / "data" / "pdf"
NODES = ("head", "other")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="8 files, 20 papers")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder
        if not folder.is_dir():
            folder = SampleSource(Path(temporary), papers=40).metadata.parent / "pdf"
        files = sorted(map(str, folder.glob("*.pdf")))
        print(
            json.dumps(
                measure(Path(temporary), files[:8] if arguments.quick else files, 20 if arguments.quick else 200)
            )
        )


def measure(folder: Path, files: list[str], papers: int) -> dict[str, object]:
    """All figures."""
    with nodes() as cluster, LocalEngine(len(NODES)) as here, RayEngine(cluster.address) as there:
        list(extract(files[:4], there))  # starting the first workers is not what is measured
        local, local_seconds = timed(files, here)
        spread, ray_seconds = timed(files, there)
        print(f"{len(files)} files: {local_seconds:.1f} s here, {ray_seconds:.1f} s on {len(NODES)} nodes")
        fill_workspace(folder / "build", papers)
        round_ = load_round(folder / "build" / "round.toml")
        build(round_, here)
        once = hashes(round_.output)
        build(round_.model_copy(update={"output": folder / "again"}), there)
        killed = []
        for one in extract(files, there):
            killed.append(one)
            if len(killed) == len(files) // 4:
                cluster.kill(NODES[1])
    return {
        "files": len(files),
        "seconds_ratio": round(ray_seconds / local_seconds, 2),
        "extracted_identical": spread == local,
        "killed_identical": killed == local,
        "identical": hashes(folder / "again") == once,
    }


@contextmanager
def nodes() -> Iterator[RayCluster]:
    """The cluster."""
    cluster = RayCluster()
    try:
        for name in NODES:
            cluster.start(name)
        yield cluster
    finally:
        cluster.close()


def timed(files: list[str], engine: Engine) -> tuple[list[object], float]:
    """The outcomes, and the seconds that they took."""
    started = time.perf_counter()
    return list(extract(files, engine)), time.perf_counter() - started


def extract(files: list[str], engine: Engine) -> Iterator[object]:
    """The outcomes without their times."""
    one: Extracted
    for one in extract_files(files, engine, 120.0, 2048):
        yield one.name, one.sha256, one.reason, one.document, one.quality


if __name__ == "__main__":
    main()
