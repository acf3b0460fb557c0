"""How often 95 % intervals contain the truth: made-up scores of papers whose first authors have one to three of them.

  python benchmarks/intervals.py [--quick]

2,000 draws for each number of first authors. `like_rouge` is bounded and skewed a little, as ROUGE-L is; `accuracy` is right or
wrong. The last line is JSON: the share of intervals that contain the true mean, goal 0.95 within 0.015
from ten authors up.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lm_eval_tasks.core.intervals import SHARES, interval

DRAWS = 2_000
AUTHORS = (10, 25, 100)
Values = NDArray[np.float64]
# From what an author's papers share, and what each has of its own, both standard normal.
SHAPES: dict[str, Callable[[Values, Values, np.random.Generator], Values]] = {
    "normal": lambda author, paper, _: 0.2 + 0.05 * author + 0.05 * paper,
    "like_rouge": lambda author, paper, _: special.expit(-1.4 + 0.3 * author + 0.3 * paper),
    "accuracy": lambda author, _, rng: (rng.random(len(author)) < special.expit(0.7 * author)).astype(float),
    "often_right": lambda author, _, rng: (rng.random(len(author)) < special.expit(2.4 + 0.7 * author)).astype(float),
    "almost_always_right": lambda author, _, rng: (rng.random(len(author)) < special.expit(3.7 + 0.7 * author)).astype(
        float
    ),
    "very_skewed": lambda author, paper, _: np.exp(0.6 * author + 0.6 * paper),
}


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="200 draws")
    draws = 200 if parser.parse_args().quick else DRAWS
    rng = np.random.default_rng(0)
    figures = {}
    for name in SHAPES:
        truth = float(draw(name, 400_000, rng)[0].mean())
        for authors in AUTHORS:
            held = sum(holds(name, authors, truth, rng) for _ in range(draws))
            figures[f"{name}_{authors}"] = round(held / draws, 3)
            print(f"{name}, {authors} first authors: {held / draws:.3f}", flush=True)
    print(json.dumps(figures))


def holds(name: str, authors: int, truth: float, rng: np.random.Generator) -> bool:
    """Whether one interval does."""
    values, of = draw(name, authors, rng)
    limits = SHARES if "right" in name or name == "accuracy" else None
    bounds = interval(values.tolist(), [str(author) for author in of], limits)
    assert bounds.low is not None and bounds.high is not None
    return bounds.low <= truth <= bounds.high


def draw(name: str, authors: int, rng: np.random.Generator) -> tuple[Values, NDArray[np.int64]]:
    """Scores, and whose they are."""
    of = np.repeat(np.arange(authors), rng.integers(1, 4, authors))
    return SHAPES[name](rng.normal(size=authors)[of], rng.normal(size=len(of)), rng), of


if __name__ == "__main__":
    main()
