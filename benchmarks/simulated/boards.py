"""Boards of made-up models: whether intervals hold the truth, and whether ranks tell models apart."""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

from lm_eval_tasks.core.intervals import SHARES, holm, interval
from lm_eval_tasks.core.power import SPREADS
from lm_eval_tasks.metrics import rouge
from lm_eval_tasks.metrics.score import others_of
from lm_eval_tasks.stats.placed import Part, difference_over, interval_over, part_of

FLOOR = 0.1
SMALL = (3, 5, 10)
SECTIONS = "gold_sections.jsonl.xz"
_SALTS = 40


def figures(draws: int, data: Path) -> dict[str, float]:
    """Named figures; see `figures.toml`."""
    apart, alike = _ranks(draws, 0.02), _ranks(draws, 0.0)
    return {
        **{f"overall_coverage_{n}": _coverage(draws, n) for n in SMALL},
        "rank_power": apart,
        "rank_false": alike,
        "bounds_90": _bounds(draws, 0.9),
        "bounds_97": _bounds(draws, 0.97),
        "floor_error": floor_error(data),
    }


def _coverage(draws: int, few: int) -> float:
    """How often the interval over two tasks holds the truth where one has few authors; 1.0 if none is given."""
    held = 0
    for seed in range(draws):
        chance = np.random.default_rng([seed, few])
        parts = [_part(chance, "abs", int(chance.integers(40, 101)), 0.4), _part(chance, "related", few, 0.3)]
        over = interval_over([[part] for part in parts])
        truth = ((0.4 - FLOOR) + (0.3 - FLOOR)) / 2 / (1 - FLOOR)
        held += over.bounds is None or over.bounds[0] <= truth <= over.bounds[1]
    return round(held / draws, 3)


def _part(chance: np.random.Generator, task: str, authors: int, mean: float) -> Part:
    scores = {str(i): float(chance.normal(mean, 0.08)) for i in range(authors)}
    part = part_of(task, task, scores, dict.fromkeys(scores, FLOOR), {id_: id_ for id_ in scores})
    assert part is not None
    return part


def _ranks(draws: int, better: float) -> float:
    """How often a test tells two models over the same 100 papers apart, one better by so much, or any two of four that are alike."""
    separated = 0
    for seed in range(draws):
        chance = np.random.default_rng([seed, 17])
        papers = chance.normal(0.25, 0.06, 100)
        skills = (better, 0.0) if better else (0.0,) * 4
        models = [papers + skill + chance.normal(0, SPREADS["abs"] / 2**0.5, 100) for skill in skills]
        names = [str(i) for i in range(100)]
        sets = []
        for scores in models:
            values = dict(zip(names, scores.tolist(), strict=True))
            part = part_of("Abs-9K", "abs", values, dict.fromkeys(names, FLOOR), {name: name for name in names})
            assert part is not None
            sets.append([[part]])
        over = [difference_over(first, second) for first, second in combinations(sets, 2)]
        separated += min(holm([1.0 if difference.p is None else difference.p for difference in over])) < 0.05
    return round(separated / draws, 3)


def _bounds(draws: int, share: float) -> float:
    """How often the interval of a share of right answers holds it, 100 authors."""
    held = 0
    for seed in range(draws):
        chance = np.random.default_rng([seed, round(share * 100)])
        values = (chance.random(100) < share).astype(float).tolist()
        over = interval(values, [str(i) for i in range(100)], SHARES)
        held += over.bounds is not None and over.bounds[0] <= share <= over.bounds[1]
    return round(held / draws, 3)


def floor_error(data: Path) -> float:
    """The largest standard error, over pairings, of the floor of real titles and abstracts, by both kinds of ROUGE-L."""
    with lzma.open(data / SECTIONS, "rt", encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    measures: tuple[Callable[[str, str], float], ...] = (rouge.rouge_l, rouge.rouge_l_content)
    errors = []
    for part in ("title", "abstract"):
        texts = [record[part] for record in records]
        for measure in measures:
            scores = np.array([[measure(target, other) for other in texts] for target in texts])
            floors = []
            for salt in range(_SALTS):
                ids = [hashlib.sha256(f"{salt} {record['id']}".encode()).hexdigest() for record in records]
                pairs = [(i, other) for i, others in enumerate(others_of(ids)) for other in others]
                floors.append(float(np.mean([scores[pair] for pair in pairs])))
            errors.append(float(np.std(floors, ddof=1)))
    return round(max(errors), 5)
