"""How well boards, ranks, contamination and linking are inferred: simulated runs with known truths.

  python benchmarks/inference.py [DATA] [--quick]

DATA: default ../shared/data. Papers' difficulties and their noise are drawn from the ROUGE-L of two baselines on the real papers of `lab`
(docs/arxiv.md). For contamination, four models with cut-offs half a year apart are run on papers of three years; a memorised
paper scores 0.8. What is planted: `simulated/contamination.py`; boards, floors and linked rounds: next to it. 500 draws each. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
os.environ["HF_HUB_OFFLINE"] = "1"

from benchmarks.report_card import made  # noqa: E402
from benchmarks.simulated import boards, contamination, linking  # noqa: E402
from lm_eval_tasks.evaluate.run import evaluate  # noqa: E402
from lm_eval_tasks.samples.sample import read  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="8 draws")
    arguments = parser.parse_args()
    if not arguments.data.is_dir():
        parser.exit(1, f"error: no folder {arguments.data}\n")
    with tempfile.TemporaryDirectory() as place:
        real = real_scores(arguments.data, Path(place))
    draws = 8 if arguments.quick else 500
    figures = {
        **boards.figures(draws, arguments.data),
        **linking.figures(draws, real),
        **contamination.figures(draws, real),
    }
    for name, value in figures.items():
        print(f"{name:24} {value}")
    print(json.dumps(figures))


def real_scores(data: Path, place: Path) -> np.ndarray:
    """The ROUGE-L of two baselines, shape (papers, 2)."""
    dataset = made("lab", data, place)
    columns = []
    for baseline in ("lead", "random-sentence"):
        metadata = {"dataset": str(dataset), "bertscore_model": "none", "split": "all"}
        evaluate(baseline, "", ["academiceval_abs_9k"], metadata, None, place / baseline)
        columns.append({sample.id: sample.scores["rouge_l"] for sample in read([place / baseline])})
    return np.array([[column[id_] for column in columns] for id_ in sorted(columns[0])])


if __name__ == "__main__":
    main()
