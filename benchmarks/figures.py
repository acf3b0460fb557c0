"""Do the two estimators hold? Levels, differences, several models, boards: how often a 95 % interval contains the truth, and how often a
row or a rank is false.

Scores come from a Gaussian copula: what an author's papers share, and what each has of its own, then the shape of a metric. Authors have
unequal numbers of papers; the estimators assume none of that. A cell is one shape, one way in which papers belong to authors, and one
share of an author's variance; it counts where an interval is printed in at least half of the draws. Each cell is printed with its coverage,
the share of draws with an interval, and their mean width.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.shared.running import Figures, run
from lm_eval_tasks.base.intervals import FEWEST_OF_GAINS, Interval, difference, holm, level
from lm_eval_tasks.stats.columns import Column
from lm_eval_tasks.stats.placed import PlacedTask, by_task, difference_over, interval_over, place_task

Values = NDArray[np.float64]
AUTHORS = (10, 20, 40, 100)
SHARED = (0.0, 0.4)
# Of a quantile between 0 and 1, the score: the shape of a metric.
SHAPES: dict[str, Callable[[Values], Values]] = {
    "like_rouge": lambda u: special.betaincinv(4, 8, u),
    "half_right": lambda u: (u > 0.5).astype(float),
    "often_right": lambda u: (u > 0.1).astype(float),
    "near_one": lambda u: special.betaincinv(12, 0.8, u),
    "near_zero": lambda u: special.betaincinv(0.8, 12, u),
    "zero_inflated": lambda u: np.where(u < 0.6, 0.0, special.betaincinv(2, 2, np.clip((u - 0.6) / 0.4, 0, 1))),
    "twentieths": lambda u: np.round(20 * special.betaincinv(5, 1.5, u)) / 20,
    "ties": lambda u: np.array([0, 0.25, 0.5, 0.75, 1])[np.searchsorted([0.1, 0.3, 0.8, 0.9], u)],
    "refusals": lambda u: np.where(u < 0.05, 0.0, 0.85 + 0.08 * u),
    "heavy_tail": lambda u: np.minimum(1, 0.03 * np.exp(1.2 * special.ndtri(np.clip(u, 1e-12, 1 - 1e-12)))),
}


def bits(u: Values) -> Values:
    """Return bits per byte, which have no bounds, as those of small models over real abstracts are: about 0.87, with a standard
    deviation of 0.13 and a skewness of 0.9.
    """
    scores: Values = 0.42 + 0.43 * np.exp(0.28 * special.ndtri(np.clip(u, 1e-12, 1 - 1e-12)))
    return scores


# Papers of each author.
SIZES: dict[str, Callable[[int, np.random.Generator], NDArray[np.int64]]] = {
    "one_each": lambda authors, _: np.ones(authors, dtype=np.int64),
    "unequal": lambda authors, rng: rng.geometric(0.4, authors),
    "dominant": lambda authors, rng: np.append(rng.geometric(0.5, authors - 1), max(2, authors // 2)),
}
MODELS, ROWS = 12, 13


def measure(_: Path, quick: bool) -> Figures:
    """Return all cells, and over them what the estimators are to hold."""
    draws = 150 if quick else 4_000
    levels, differences = {}, {}
    for name, shape, truth, sizes, shared, rng in cells(quick):
        numbers = [level(*draw(shape, sizes, shared, rng)) for _ in range(draws)]
        levels[f"level_{name}"] = coverage(numbers, truth)
        apart = [difference(*pair(shape, sizes, shared, rng)) for _ in range(draws)]
        differences[f"difference_{name}"] = coverage(apart, 0.0)
    for n in AUTHORS:
        differences[f"difference_collapse_{n}"] = coverage(list(collapses_of(n, draws)), 0.0)
    gains = {f"gain_{n}": coverage(list(gains_of(n, draws)), 0.05) for n in (FEWEST_OF_GAINS, 80)}
    held = [cell["coverage"] for cell in levels.values() if cell["printed"] >= 0.5]
    # What prints only on unusual draws holds less often than on all.
    rare = [cell for cell in levels.values() if 0 < cell["printed"] < 0.5]
    apart_held = [cell["coverage"] for cell in differences.values() if cell["printed"] >= 0.5]
    for name, cell in {**levels, **differences, **gains}.items():
        print(f"{name}: {cell}", flush=True)
    return {
        **{name: cell["coverage"] for name, cell in {**levels, **differences, **gains}.items()},
        "coverage_min": min(held),
        "coverage_max": max(held),
        "coverage_in_band": round(fmean(0.93 <= share <= 0.97 for share in held), 3),
        "difference_min": min(apart_held),
        "difference_max": max(apart_held),
        "printed": round(fmean(cell["printed"] for cell in levels.values()), 3),
        "printed_rare": round(sum(cell["printed"] for cell in rare) / len(levels), 3),
        "coverage_rare": round(
            sum(cell["printed"] * cell["coverage"] for cell in rare) / (sum(cell["printed"] for cell in rare) or 1), 3
        ),
        **several(draws),
        **boards(draws // 4),
        **{f"{name}_uneven": figure for name, figure in boards(draws // 4, (16, 40, 40, 40)).items()},
    }


def means(draws: int, quick: bool) -> Figures:
    """Return how often intervals of means without bounds hold the truth, of the cells with an interval (`benchmarks/likelihood.py`)."""
    drawn = [
        coverage([difference(*draw(shape, sizes, shared, rng)) for _ in range(draws)], truth)
        for _, shape, truth, sizes, shared, rng in cells(quick, {"bits": bits})
    ]
    held = [cell["coverage"] for cell in drawn if cell["printed"] >= 0.5]
    return {"mean_min": min(held), "mean_max": max(held)}


def cells(
    quick: bool, shapes: dict[str, Callable[[Values], Values]] = SHAPES
) -> Iterator[tuple[str, Callable[[Values], Values], float, NDArray[np.int64], float, np.random.Generator]]:
    """Yield name, shape, true mean, papers of each author, share of the variance that is the author's, source of chance."""
    names = list(shapes)[: 2 if quick else None]
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    for number, name in enumerate(names):
        truth = float(shapes[name](quantiles).mean())
        for authors in AUTHORS[: 2 if quick else None]:
            for place, (kind, sizes) in enumerate(SIZES.items()):
                for shared in SHARED[: 1 if kind == "one_each" else None]:
                    rng = np.random.default_rng([number, authors, place, int(10 * shared)])
                    yield f"{name}_{authors}_{kind}_{shared:g}", shapes[name], truth, sizes(authors, rng), shared, rng


def latent(sizes: NDArray[np.int64], shared: float, rng: np.random.Generator) -> Values:
    """Return standard normal values of papers, of whose variance a share is their author's."""
    of_author = np.repeat(rng.normal(size=len(sizes)), sizes)
    return np.asarray(shared**0.5 * of_author + (1 - shared) ** 0.5 * rng.normal(size=sizes.sum()))


def draw(
    shape: Callable[[Values], Values], sizes: NDArray[np.int64], shared: float, rng: np.random.Generator
) -> tuple[list[float], list[str]]:
    """Return the scores of papers, and their authors."""
    return shape(special.ndtr(latent(sizes, shared, rng))).tolist(), names_of(sizes)


def pair(
    shape: Callable[[Values], Values], sizes: NDArray[np.int64], shared: float, rng: np.random.Generator
) -> tuple[list[float], list[str]]:
    """Return the differences of two equal models, which find the same papers hard, and their authors."""
    hard = latent(sizes, shared, rng)
    first, second = (shape(special.ndtr((hard + latent(sizes, shared, rng)) / 2**0.5)) for _ in range(2))
    return (first - second).tolist(), names_of(sizes)


def names_of(sizes: NDArray[np.int64]) -> list[str]:
    """Return the author of each paper."""
    return np.repeat(np.arange(len(sizes)), sizes).astype(str).tolist()


def coverage(intervals: Sequence[Interval], truth: float) -> dict[str, Any]:
    """Return the share of draws with an interval, and of these of those that hold the truth, and their mean width."""
    printed = [bounds for interval in intervals if (bounds := interval.bounds)]
    return {
        "coverage": round(fmean(low <= truth <= high for low, high in printed), 3) if printed else None,
        "printed": round(len(printed) / len(intervals), 3),
        "width": round(fmean(high - low for low, high in printed), 3) if printed else None,
    }


def collapses_of(authors: int, draws: int) -> Iterator[Interval]:
    """Yield the differences whose mean is 0: a little better nearly always, much worse in one of twenty papers."""
    rng = np.random.default_rng(authors)
    for _ in range(draws):
        sizes = SIZES["unequal"](authors, rng)
        values = np.where(special.ndtr(latent(sizes, 0.2, rng)) < 0.05, -0.38, 0.02)
        yield difference(values.tolist(), names_of(sizes))


def gains_of(authors: int, draws: int) -> Iterator[Interval]:
    """Yield gains of 0.05 in accuracy over a shorter context, of questions that three in four answers get alike."""
    rng = np.random.default_rng(authors)
    for _ in range(draws):
        sizes = SIZES["unequal"](authors, rng)
        alike, hard = rng.random(sizes.sum()) < 0.5, latent(sizes, 0.4, rng)
        full = special.ndtr((hard + latent(sizes, 0.4, rng)) / 2**0.5)
        short = np.where(alike, full, special.ndtr((hard + latent(sizes, 0.4, rng)) / 2**0.5))
        values = (full > 0.45).astype(float) - (short > 0.5)
        yield difference(values.tolist(), names_of(sizes), FEWEST_OF_GAINS)


def several(draws: int) -> Figures:
    """Draw five equal models by one metric: a row is false if Holm's p is below 0.05. And how often a true difference of the size that is
    said to be detectable, in a table of thirteen rows, is found.
    """
    rng = np.random.default_rng(5)
    shape, sizes = SHAPES["like_rouge"], SIZES["unequal"](60, rng)
    false, found = 0, 0
    for _ in range(draws):
        hard = latent(sizes, 0.3, rng)
        models = [shape(special.ndtr((hard + latent(sizes, 0.3, rng)) / 2**0.5)) for _ in range(5)]
        rows = [difference((a - b).tolist(), names_of(sizes)) for a, b in combinations(models, 2)]
        false += min(holm([1.0 if row.p is None else row.p for row in rows])) < 0.05
    size = fmean(difference(*pair(shape, sizes, 0.3, rng)).detectable(ROWS) or 0.0 for _ in range(200))
    for _ in range(draws):
        values, names = pair(shape, sizes, 0.3, rng)
        found += (difference([value + size for value in values], names).p or 1.0) < 0.05 / ROWS
    return {
        "false_row": round(false / draws, 3),
        "power": round(found / draws, 3),
        "detectable_of_13_rows": round(size, 3),
    }


def boards(draws: int, asked: Sequence[int] = (40,) * 4) -> Figures:
    """Return a board of four tasks that ask about papers of the same authors: a model's interval, the difference of two, and ranks of equal
    models.

    Args:
        asked: authors of each task, of sixty.
    """
    rng = np.random.default_rng(6)
    truth = (float(SHAPES["like_rouge"]((np.arange(200_000) + 0.5) / 200_000).mean()) - 0.1) / 0.9
    own, apart, false = [], [], 0
    for _ in range(draws):
        models = drawn_board(rng, MODELS, asked)
        own.append(interval_over(by_task(models[0])))
        leads = [difference_over(by_task(a), by_task(b)) for a, b in combinations(models, 2)]
        apart.append(leads[0])
        false += min(holm([lead.p if lead.p is not None else 1.0 for lead in leads])) < 0.05
    shared, of_two = coverage(own, truth), coverage(apart, 0.0)
    return {
        "board_shared_authors": shared["coverage"],
        "board_difference": of_two["coverage"],
        "false_rank": round(false / draws, 3),
    }


def drawn_board(rng: np.random.Generator, models: int, authors: Sequence[int]) -> list[list[PlacedTask]]:
    """Return the parts of equal models; an author's papers are hard in all tasks."""
    every = np.arange(60)
    hard = rng.normal(size=60)
    parts: list[list[PlacedTask]] = [[] for _ in range(models)]
    for task, count in enumerate(authors):
        asked = rng.choice(every, count, replace=False)
        sizes = rng.geometric(0.5, count)
        names = np.repeat(asked, sizes).astype(str)
        common = np.repeat(hard[asked], sizes)
        for of_model in parts:
            mine = 0.6 * common + 0.8 * rng.normal(size=len(names))
            scores = SHAPES["like_rouge"](special.ndtr(mine))
            ids = [f"{task} {i}" for i in range(len(names))]
            of_paper = dict(zip(ids, names.tolist(), strict=True))
            of_task = Column("score", dict(zip(ids, scores.tolist(), strict=True)), of_paper)
            part = place_task(
                f"setting {task}", f"task {task}", of_task, Column("floor", dict.fromkeys(ids, 0.1), of_paper)
            )
            assert part is not None
            of_model.append(part)
    return parts


if __name__ == "__main__":
    run(measure)
