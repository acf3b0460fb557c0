"""How well boards and ranks are inferred: 500 simulated boards of made-up models with known truths, and the floor of real texts."""

from __future__ import annotations

import hashlib
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.shared.data import GOLD_SECTIONS, records_of
from benchmarks.shared.running import Figures, run
from lm_eval_tasks.base.intervals import holm
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.score import others_of
from lm_eval_tasks.metrics import rouge
from lm_eval_tasks.stats.placed import PlacedTask, difference_over, interval_over, part_of

FLOOR = 0.1
SMALL = (3, 5, 10)
SALTS = 40


def measure(_: Path, quick: bool) -> Figures:
    """Coverage of boards, power and false alarms of ranks, the error of a floor."""
    draws = 8 if quick else 500
    return {
        **{f"overall_coverage_{few}": coverage(draws, few) for few in SMALL},
        "rank_power": told_apart(draws, (0.02, 0.0)),
        "rank_false": told_apart(draws, (0.0,) * 4),
        "floor_error": floor_error(),
    }


def coverage(draws: int, few: int) -> float:
    """How often the interval over two tasks holds the truth where one has few authors; 1.0 if none is given."""
    held = 0
    truth = ((0.4 - FLOOR) + (0.3 - FLOOR)) / 2 / (1 - FLOOR)
    for seed in range(draws):
        chance = np.random.default_rng([seed, few])
        abstracts = chance.normal(0.4, 0.08, chance.integers(40, 101))
        over = interval_over([[part("abs", abstracts)], [part("related", chance.normal(0.3, 0.08, few))]])
        held += over.bounds is None or over.bounds[0] <= truth <= over.bounds[1]
    return round(held / draws, 3)


def told_apart(draws: int, skills: tuple[float, ...]) -> float:
    """How often any two of several models over the same 100 papers are told apart."""
    apart = 0
    for seed in range(draws):
        chance = np.random.default_rng([seed, 17])
        papers = chance.normal(0.25, 0.06, 100)
        models = [
            part("abs", papers + skill + chance.normal(0, target_of("abs").spread / 2**0.5, 100)) for skill in skills
        ]
        over = [difference_over([[first]], [[second]]) for first, second in combinations(models, 2)]
        apart += min(holm([1.0 if difference.p is None else difference.p for difference in over])) < 0.05
    return round(apart / draws, 3)


def part(task: str, scores: np.ndarray) -> PlacedTask:
    """A model's scores on a task, each paper by another author."""
    by_paper = {str(i): float(score) for i, score in enumerate(scores)}
    made = part_of(task, task, by_paper, dict.fromkeys(by_paper, FLOOR), {paper: paper for paper in by_paper})
    assert made is not None
    return made


def floor_error() -> float:
    """The largest standard error, over pairings, of the floor of real titles and abstracts, by both kinds of ROUGE-L."""
    records = records_of(GOLD_SECTIONS)
    errors = []
    for section in ("title", "abstract"):
        texts = [record[section] for record in records]
        for metric in (rouge.rouge_l, rouge.rouge_l_content):
            scores = np.array([[metric(target, other) for other in texts] for target in texts])
            floors = []
            for salt in range(SALTS):
                ids = [hashlib.sha256(f"{salt} {record['id']}".encode()).hexdigest() for record in records]
                pairs = [(i, other) for i, others in enumerate(others_of(ids)) for other in others]
                floors.append(float(np.mean([scores[pair] for pair in pairs])))
            errors.append(float(np.std(floors, ddof=1)))
    return round(max(errors), 5)


if __name__ == "__main__":
    run(measure, GOLD_SECTIONS)
