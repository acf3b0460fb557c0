"""How far the scores of a part of the samples lie from those of all: `--limit`, and samples that represent all, as in `academiceval_tiny`.

The three baselines answer all samples of every split of two rounds over real papers (`lab`, and `pdf`, see docs/arxiv.md), for a title, an
abstract and an introduction. The mean ROUGE-L of a part is compared with that of all, in points of 100: the root of the mean square over
rounds, tasks, baselines and 50 orders of hashes. `--limit` takes the first rows, which are in such an order; the old order was by date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.shared.data import DATA
from benchmarks.shared.running import Figures, run
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.data.rows import Fact, representative_rows
from lm_eval_tasks.engines.local import LocalEngine
from lm_eval_tasks.evaluate.run import SampleSelection, evaluate
from lm_eval_tasks.families import of_task
from lm_eval_tasks.samples.sample import Sample, by_task, read
from tests.helpers import rounds
from tests.helpers.rounds import small_round

SETTINGS = ("Title-10K", "Abs-9K", "Intro-8K", "Abs-28K")
TASKS = [f"academiceval_{name.lower().replace('-', '_')}" for name in SETTINGS]
# What a round over each set of papers changes.
PAPERS: dict[str, dict[str, Any]] = {
    "lab": {"source": {"kind": "mirror", "path": DATA / "lab"}},
    "pdf": {
        "source": {"kind": "mirror", "path": DATA, "metadata": "pdf_meta.jsonl"},
        "graph": {"component": "all"},
    },
}
SIZES = (20, 50)
# Orders of hashes that the error is averaged over: a round has one of them.
ORDERS = 50
Chosen = Callable[[Sequence[Sample], int, int], Sequence[Sample]]


def measure(folder: Path, quick: bool) -> Figures:
    """The errors; `quick` takes one round and one baseline."""
    names, baselines = (["lab"], ["lead"]) if quick else (list(PAPERS), list(of_task("title").baselines))
    runs = [samples for name in names for samples in scored(name, folder / name, baselines)]
    return {
        "samples": sum(map(len, runs)),
        **{f"{way}_{size}": error(runs, way, size) for size in SIZES for way in WAYS},
    }


def scored(name: str, place: Path, baselines: Sequence[str]) -> list[list[Sample]]:
    """The samples of each task and baseline over a round."""
    split, samples = {"validation": 0.2, "test": 0.2}, {"min_citations": 1}
    round_ = small_round(place, seed=2026, settings=list(SETTINGS), split=split, samples=samples, **PAPERS[name])
    rounds.run(round_, LocalEngine())
    metadata = {"dataset": str(round_.output), "bertscore_model": "none", "split": "all"}
    found = []
    for baseline in baselines:
        evaluate(baseline, "", TASKS, metadata, SampleSelection(), place / baseline)
        found += by_task([sample for sample in read([place / baseline]) if "rouge_l" in sample.scores]).values()
    return found


def representative(rows: Sequence[Sample], size: int, order: int) -> Sequence[Sample]:
    """As `academiceval_tiny` chooses; the categories of these papers are few."""
    facts = [Fact(f"{order} {row.id}", row.row.published, "") for row in rows]
    return [rows[i] for i in representative_rows(range(len(rows)), facts, size)]


WAYS: dict[str, Chosen] = {
    "limit": lambda rows, size, order: sorted(rows, key=lambda row: sha256_of_bytes(f"{order} {row.id}"))[:size],
    "oldest": lambda rows, size, order: sorted(rows, key=lambda row: (row.row.published, row.id))[:size],
    "tiny": representative,
}


def error(runs: Sequence[Sequence[Sample]], way: str, size: int) -> float:
    """Of a way to choose so many samples, in points."""
    differences = [
        mean(WAYS[way](rows, size, order)) - mean(rows) for rows in runs if len(rows) > size for order in range(ORDERS)
    ]
    return round(sqrt(fmean(difference**2 for difference in differences)), 2)


def mean(rows: Sequence[Sample]) -> float:
    """Mean ROUGE-L in points."""
    return 100 * fmean(row.scores["rouge_l"] for row in rows)


if __name__ == "__main__":
    run(measure, *(DATA / name for name in ("lab", "pdf")))
