"""Two made-up rounds of known difficulty, put on one scale by anchors."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from lm_eval_tasks.stats.scales import Scores
from lm_eval_tasks.study.linking import Linked, link_task
from lm_eval_tasks.study.rasch import accuracy

SHIFT, TRUTH, CHANGED = 0.03, 0.3, 0.05
SKILLS = {"a1": 0.18, "a2": 0.2, "a3": 0.22, "a4": 0.25, "new": TRUTH}
ANCHORS = tuple(name for name in SKILLS if name != "new")
# Logits of models that answer questions with four options; the anchors are little better than guessing.
ABILITIES = {"a1": -1.6, "a2": -1.2, "a3": -0.9, "a4": -0.5, "new": 1.0}
GUESSING, HARDER = 0.25, 0.6
QUESTIONS = 300


def figures(draws: int, real: np.ndarray) -> dict[str, float]:
    """Named figures; see `figures.toml`."""
    return {**_scores(draws, real), **_halves(draws, real), **_choices(draws)}


def _scores(draws: int, real: np.ndarray) -> dict[str, float]:
    """A second round that is 3 points easier, 200 papers in each."""
    linked = []
    for seed in range(draws):
        chance = np.random.default_rng([seed, 7])
        before, after = (_round(chance, real, name, easier) for name, easier in (("1", 0.0), ("2", SHIFT)))
        linked.append(_new(link_task("2", "made up", before, after, ANCHORS)[1]))
    return {
        "link_bias": _mean([score.value - TRUTH for score in linked], 5),
        "link_coverage": _mean([_holds(score, TRUTH) for score in linked]),
        "shift_recovered": _mean([score.raw - score.value for score in linked], 4),
    }


def _round(chance: np.random.Generator, real: np.ndarray, name: str, easier: float) -> dict[str, Scores]:
    papers = real[chance.integers(0, len(real), 200)].mean(axis=1) - real.mean()
    authors = chance.integers(0, 150, 200)
    spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
    return {
        model: {
            f"{name}.{i}": (float(skill + easier + papers[i] + chance.normal(0, spread)), str(authors[i]))
            for i in range(200)
        }
        for model, skill in SKILLS.items()
    }


def _halves(draws: int, real: np.ndarray) -> dict[str, float]:
    """One round of 400 papers split at random, one half put on the scale of the other; and how often a changed anchor is named."""
    linked, named = [], []
    for seed in range(draws):
        chance = np.random.default_rng([seed, 11])
        papers = real[chance.integers(0, len(real), 400)].mean(axis=1)
        papers = papers - papers.mean()
        spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
        order = chance.permutation(400)
        scores = {
            model: {f"{i}": (float(skill + papers[i] + chance.normal(0, spread)), f"{i // 2}") for i in range(400)}
            for model, skill in SKILLS.items()
        }
        first, later = (
            {model: {f"{i}": own[f"{i}"] for i in part} for model, own in scores.items()}
            for part in (order[:200], order[200:])
        )
        linked.append(_new(link_task("half", "made up", first, later, ANCHORS)[1]))
        later["a1"] = {id_: (value + CHANGED, author) for id_, (value, author) in later["a1"].items()}
        named.append(link_task("half", "made up", first, later, ANCHORS)[0].changed == ("a1",))
    errors = [score.value - TRUTH for score in linked]
    return {
        "halves_bias": _mean(errors, 5),
        "halves_error": round(float(np.std(errors) / np.sqrt(draws)), 5),
        "halves_coverage": _mean([_holds(score, TRUTH) for score in linked]),
        "changed_named": _mean(named),
    }


def _choices(draws: int) -> dict[str, float]:
    """Questions with four options, harder in the second round, and anchors that are little better than guessing."""
    truth = float(accuracy(ABILITIES["new"], 1.0, GUESSING))
    linked = []
    for seed in range(draws):
        chance = np.random.default_rng([seed, 13])
        before, after = (_answers(chance, name, harder) for name, harder in (("1", 0.0), ("2", HARDER)))
        linked.append(_new(link_task("2", "made up", before, after, ANCHORS, chance=GUESSING)[1]))
    known = [score for score in linked if score.low is not None]
    return {
        "rasch_bias": _mean([score.value - truth for score in known], 4),
        "rasch_coverage": _mean([_holds(score, truth) for score in known]),
        "rasch_known": round(len(known) / draws, 3),
    }


def _answers(chance: np.random.Generator, name: str, harder: float) -> dict[str, Scores]:
    difficulty = chance.normal(harder, 1, QUESTIONS)
    authors = chance.integers(0, 150, QUESTIONS)
    return {
        model: {
            f"{name}.{i}": (float(is_right), str(authors[i]))
            for i, is_right in enumerate(
                chance.random(QUESTIONS) < GUESSING + (1 - GUESSING) * expit(ability - difficulty)
            )
        }
        for model, ability in ABILITIES.items()
    }


def _new(linked: list[Linked]) -> Linked:
    return next(score for score in linked if score.model == "new")


def _holds(score: Linked, truth: float) -> bool:
    return score.low is not None and score.high is not None and score.low <= truth <= score.high


def _mean(values: list[bool] | list[float], digits: int = 3) -> float:
    return round(float(np.mean(values)), digits)
