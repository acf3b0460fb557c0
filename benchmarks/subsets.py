"""How far the scores of a part of the samples lie from those of all: `--limit`, and samples that represent all, as in `academiceval_tiny`.

  python benchmarks/subsets.py [DATA] [--quick]

DATA: default ../shared/data. The three baselines answer all samples of every split of two rounds over real papers (`lab`, and `pdf`, see
docs/arxiv.md), for a title, an abstract and an introduction. The mean ROUGE-L of a part is compared with that of all, in points of
100: the root of the mean square over rounds, tasks, baselines and 50 orders of hashes. `--limit` takes the first rows, which are in such an
order; the old order was by date. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["HF_HUB_OFFLINE"] = "1"

from benchmarks.report_card import made  # noqa: E402
from lm_eval_tasks.core.files import sha256_of_bytes  # noqa: E402
from lm_eval_tasks.data.rows import Fact, representative_rows  # noqa: E402
from lm_eval_tasks.evaluate.generation import WRITERS  # noqa: E402
from lm_eval_tasks.evaluate.run import Part, evaluate  # noqa: E402
from lm_eval_tasks.samples.sample import Sample, by_task, read  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"
SETTINGS = ("Title-10K", "Abs-9K", "Intro-8K", "Abs-28K")
TASKS = [f"academiceval_{name.lower().replace('-', '_')}" for name in SETTINGS]
SIZES = (20, 50)
# Orders of hashes that the error is averaged over: a round has one of them.
ORDERS = 50
Chosen = Callable[[Sequence[Sample], int, int], Sequence[Sample]]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="one round, one baseline")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.exit(1, f"error: no folder {arguments.data}\n")
    with tempfile.TemporaryDirectory() as place:
        names, baselines = (["lab"], ["lead"]) if arguments.quick else (["lab", "pdf"], list(WRITERS))
        runs = [samples for name in names for samples in scored(name, arguments.data, Path(place), baselines)]
    print(json.dumps({"samples": sum(map(len, runs)), **errors(runs)}))


def scored(name: str, data: Path, place: Path, baselines: Sequence[str]) -> list[list[Sample]]:
    """The samples of each task and baseline over a round."""
    dataset = made(name, data, place / name, SETTINGS)
    found = []
    for baseline in baselines:
        output = place / f"{name}-{baseline}"
        evaluate(
            baseline, "", TASKS, {"dataset": str(dataset), "bertscore_model": "none", "split": "all"}, Part(), output
        )
        samples = [one for one in read([output]) if "rouge_l" in one.scores]
        found += by_task(samples).values()
    return found


def errors(runs: Sequence[Sequence[Sample]]) -> Mapping[str, float]:
    """For each way to choose and each size the error in points."""
    ways: dict[str, Chosen] = {
        "limit": lambda rows, n, order: sorted(rows, key=lambda one: sha256_of_bytes(f"{order} {one.id}"))[:n],
        "oldest": lambda rows, n, order: sorted(rows, key=lambda one: (one.row.published, one.id))[:n],
        "tiny": stratified,
    }
    return {
        f"{way}_{n}": round(
            sqrt(
                fmean(
                    (mean(chosen(rows, n, order)) - mean(rows)) ** 2
                    for rows in runs
                    if len(rows) > n
                    for order in range(ORDERS)
                )
            ),
            2,
        )
        for n in SIZES
        for way, chosen in ways.items()
    }


def stratified(rows: Sequence[Sample], n: int, order: int) -> Sequence[Sample]:
    """As `academiceval_tiny` chooses; the categories of these papers are few."""
    facts = [Fact(f"{order} {one.id}", one.row.published, "") for one in rows]
    return [rows[i] for i in representative_rows(range(len(rows)), facts, n)]


def mean(rows: Sequence[Sample]) -> float:
    """Mean ROUGE-L in points."""
    return 100 * fmean(one.scores["rouge_l"] for one in rows)


if __name__ == "__main__":
    main()
