"""How often 95 % intervals contain the truth: made-up scores of papers whose first authors have one to three of them.

2,000 draws for each number of first authors. `like_rouge` is bounded and skewed a little, as ROUGE-L is; `accuracy` is right or wrong.
The goal is 0.95 within 0.015 from ten authors up.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.shared.running import Figures, run
from lm_eval_tasks.base.intervals import SHARES, interval

AUTHORS = (10, 25, 100)
Values = NDArray[np.float64]
# From what an author's papers share, and what each has of its own, both standard normal.
Shape = Callable[[Values, Values, np.random.Generator], Values]


def right(logit: float) -> Shape:
    """Answers that are right or wrong."""
    return lambda author, _, rng: (rng.random(len(author)) < special.expit(logit + 0.7 * author)).astype(float)


SHAPES: dict[str, Shape] = {
    "normal": lambda author, paper, _: 0.2 + 0.05 * author + 0.05 * paper,
    "like_rouge": lambda author, paper, _: special.expit(-1.4 + 0.3 * author + 0.3 * paper),
    "accuracy": right(0.0),
    "often_right": right(2.4),
    "almost_always_right": right(3.7),
    "very_skewed": lambda author, paper, _: np.exp(0.6 * author + 0.6 * paper),
}


def measure(_: Path, quick: bool) -> Figures:
    """The share of intervals that contain the true mean."""
    draws = 200 if quick else 2_000
    rng = np.random.default_rng(0)
    figures = {}
    for name in SHAPES:
        truth = float(draw(name, 400_000, rng)[0].mean())
        for authors in AUTHORS:
            held = sum(holds(name, authors, truth, rng) for _ in range(draws))
            figures[f"{name}_{authors}"] = round(held / draws, 3)
    return figures


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
    run(measure)
