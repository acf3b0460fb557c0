"""Memory planted in made-up runs: how often it is found, and how often where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from lm_eval_tasks.study.contamination import MAIN, Effect, effects
from lm_eval_tasks.study.exposure import Observation

MONTHS, CUTOFFS = 36, (6, 12, 18, 24)
MEMORISED = 0.8
SKILLS = (-0.5, 0.0, 0.5, 1.2)
GUESSING = 0.25


@dataclass(frozen=True)
class Plan:
    """What is planted.

    Attributes:
        papers: how many.
        shares: of the papers up to a model's cut-off, how many it has memorised; for each model, the oldest first.
        style: by how many points the newest model is better at the oldest papers than at the newest, seen or not; others in proportion.
        drift: how much the oldest papers differ in difficulty from the newest, in points, or in logits for right-or-wrong answers.
        choices: whether answers are right or wrong, of four options.
        title_only: whether they are answers of the title-only probe.
    """

    papers: int = 500
    shares: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    style: float = 0.0
    drift: float = 0.0
    choices: bool = False
    title_only: bool = False


PLANS = {
    "nothing": Plan(),
    "nothing_200": Plan(papers=200),
    "nothing_2000": Plan(papers=2000),
    "newest": Plan(shares=(0, 0, 0, 0.2)),
    "one_500": Plan(shares=(0, 0, 0, 0.05)),
    "one": Plan(papers=1000, shares=(0, 0, 0, 0.05)),
    "all_200": Plan(papers=200, shares=(0.05,) * 4),
    "all": Plan(shares=(0.05,) * 4),
    "rare_2000": Plan(papers=2000, shares=(0.01,) * 4),
    "style": Plan(style=0.02),
    "style_2000": Plan(papers=2000, style=0.02),
    "harder_choices": Plan(drift=1.5, choices=True),
    "easier_choices": Plan(drift=-1.5, choices=True),
    "probe": Plan(drift=0.05, title_only=True),
}


def observations(plan: Plan, seed: int, real: np.ndarray) -> list[Observation]:
    """One draw.

    Args:
        real: scores of two baselines on real papers, shape (papers, 2); difficulty and noise are drawn from them.
    """
    chance = np.random.default_rng([seed, plan.papers])
    papers = real[chance.integers(0, len(real), plan.papers)].mean(axis=1)
    spread = float(np.std(real[:, 0] - real[:, 1]) / np.sqrt(2))
    months, authors = (
        chance.integers(0, MONTHS, plan.papers),
        chance.integers(0, max(1, int(0.7 * plan.papers)), plan.papers),
    )
    age = 1 - months / (MONTHS - 1)
    difficulty = chance.normal(0, 1, plan.papers) + plan.drift * (age - 0.5)
    drawn = []
    for place, late in enumerate(CUTOFFS):
        style = plan.style * place / (len(CUTOFFS) - 1) * age
        knows = (months <= late) & (chance.random(plan.papers) < plan.shares[place])
        if plan.choices:
            guessed = GUESSING + (1 - GUESSING) * expit(SKILLS[place] - difficulty)
            scores = np.where(knows | (chance.random(plan.papers) < guessed), 1.0, 0.0)
        else:
            own = papers + plan.drift * age + style + chance.normal(0, spread, plan.papers)
            scores = np.where(knows, MEMORISED, own)
        drawn += [
            Observation(
                f"model-{place}",
                "Abs-9K none" if plan.title_only else "Abs-9K",
                str(i),
                str(authors[i]),
                int(months[i]),
                late,
                float(scores[i]),
                GUESSING if plan.choices else 0.0,
            )
            for i in range(plan.papers)
        ]
    return drawn


def figures(draws: int, real: np.ndarray) -> dict[str, float]:
    """Named shares of draws; see `figures.toml`."""
    by_plan = {name: _found(plan, draws, real) for name, plan in PLANS.items()}
    newest = [effects[-1] for effects in by_plan["newest"]]
    alarms = {name: _alarms(each) for name, each in by_plan.items()}
    truth = 0.2 * (MEMORISED - float(real.mean()))
    return {
        "contamination_newest": _share([effect.is_found for effect in newest]),
        "contamination_one_500": _share([each[-1].is_found for each in by_plan["one_500"]]),
        "contamination_one": _share([each[-1].is_found for each in by_plan["one"]]),
        "power_all_200": alarms["all_200"],
        "power_all": alarms["all"],
        "power_rare_2000": alarms["rare_2000"],
        "wrong_sign": _share([effect.gain.over is not None and effect.gain.over.high < 0 for effect in newest]),
        "gain_coverage": _share([_holds(effect, truth) for effect in newest]),
        "false_alarms_200": alarms["nothing_200"],
        "false_alarms": alarms["nothing"],
        "false_alarms_2000": alarms["nothing_2000"],
        "style_alarms": max(alarms["style"], alarms["style_2000"]),
        "drift_alarms": max(alarms["harder_choices"], alarms["easier_choices"]),
        "probe_alarms": alarms["probe"],
    }


def _found(plan: Plan, draws: int, real: np.ndarray) -> list[list[Effect]]:
    """The effects of each draw, without placebos."""
    drawn = (effects(observations(plan, seed, real)) for seed in range(draws))
    what = "" if plan.title_only else MAIN
    return [[e for e in each if e.what.startswith(what) and not e.what.startswith("placebo")] for each in drawn]


def _alarms(each: list[list[Effect]]) -> float:
    return _share([any(effect.is_found for effect in found) for found in each])


def _holds(effect: Effect, truth: float) -> bool:
    over = effect.gain.over
    return over is not None and over.low <= truth <= over.high


def _share(values: list[bool]) -> float:
    return round(float(np.mean(values)), 3)
