"""Right-or-wrong answers on one scale: the one-parameter logistic model (Rasch 1960) with a lower bound, its questions drawn from a
normal distribution.

  P(model m answers question q rightly) = c + (1 - c) / (1 + exp(-(ability_m + effects_mq - difficulty_q)))
  difficulty_q ~ N(trend_q, spread^2)

c is the chance of guessing. Accuracies of two rounds cannot be subtracted near c or 1; abilities can. Parameters maximise the marginal
likelihood (Bock and Aitkin 1981), with the difficulty integrated out by Gauss and Hermite's rule. Errors leave out one first author at
a time, by one Newton step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import cluster_numbers

if TYPE_CHECKING:
    from lm_eval_tasks.stats.scales import Scores

_NODES = 21
# No ability, effect or spread may lie farther out: a model that is always right would be infinitely able.
_FARTHEST = 8.0
# Of the logarithm of the spread.
_SPREADS = (-3.0, 1.5)
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers of several models, and what their chances may depend on.

    Attributes:
        right: 1 or 0, nan where a model was not asked, shape (models, questions).
        chance: of guessing.
        effects: what raises a model's logit on a question, shape (effects, models, questions).
        trends: what raises a question's difficulty, shape (trends, questions).
    """

    right: _Array
    chance: float
    effects: _Array
    trends: _Array


@dataclass(frozen=True, slots=True)
class Fit:
    """The parameters that answers are most likely with.

    Attributes:
        abilities: shape (models,); effects: shape (effects,); trends: shape (trends,).
        spread: standard deviation of the questions' difficulty.
        left: abilities, effects, trends and the spread's logarithm without each cluster, shape (clusters, parameters).
        at_bound: whether an ability, an effect or the spread lies as far out as it may.
    """

    abilities: _Array
    effects: _Array
    trends: _Array
    spread: float
    left: _Array
    at_bound: bool


def fit(answers: Answers, clusters: NDArray[np.int64]) -> Fit:
    """The most likely parameters, and what they are without each cluster of questions."""
    right = answers.right
    models, effects = len(right), len(answers.effects)
    beyond = np.clip((np.nanmean(right, axis=1) - answers.chance) / (1 - answers.chance), 0.02, 0.98)
    start = np.concatenate([special.logit(beyond), np.zeros(effects + len(answers.trends) + 1)])
    bounds = [(-_FARTHEST, _FARTHEST)] * (len(start) - 1) + [_SPREADS]
    optimum = optimize.minimize(lambda at: _loss(at, answers), start, jac=True, method="L-BFGS-B", bounds=bounds).x
    each = _gradients(optimum, answers)[1]
    scores = np.stack([np.bincount(clusters, weights=column) for column in each], axis=1)
    # Leaving a cluster out moves the optimum by the inverse curvature times the cluster's own gradient.
    left = optimum - scores @ np.linalg.pinv(_curvature(optimum, answers))
    own = optimum[: models + effects]
    inside = np.all(np.abs(own) < 0.99 * _FARTHEST) and optimum[-1] < 0.99 * _SPREADS[1]
    abilities_, effects_, trends_ = np.split(optimum[:-1], [models, models + effects])
    return Fit(abilities_, effects_, trends_, float(np.exp(optimum[-1])), left, not inside)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a round's answers say about its models.

    Attributes:
        of: model -> place in `values`.
        values: ability of each model, shape (models,).
        spread: standard deviation of the questions' difficulty.
        chance: of guessing.
        left: abilities without each first author, shape (authors, models).
        weights: questions of each first author, shape (authors,).
        at_bound: whether a parameter lies as far out as it may, as when models are always right or no better than chance.
    """

    of: Mapping[str, int]
    values: _Array
    spread: float
    chance: float
    left: _Array
    weights: _Array
    at_bound: bool


def abilities(answers: Mapping[str, Scores], chance: float) -> Abilities:
    """Fit one round.

    Args:
        answers: model -> question -> 1 or 0, and its first author; questions that all models answered count.
        chance: of guessing.

    Raises:
        SamplesError: there is no such question.
    """
    models = list(answers)
    ids = [id_ for id_ in answers[models[0]] if all(id_ in model_scores for model_scores in answers.values())]
    if not ids:
        raise SamplesError(f"{', '.join(models)} have no question in common")
    right = np.array([[answers[model][id_][0] for id_ in ids] for model in models])
    of = cluster_numbers([answers[models[0]][id_][1] for id_ in ids])
    fitted = fit(Answers(right, chance, np.zeros((0, *right.shape)), np.zeros((0, len(ids)))), of)
    places = {model: i for i, model in enumerate(models)}
    weights = np.bincount(of).astype(float)
    return Abilities(
        places, fitted.abilities, fitted.spread, chance, fitted.left[:, : len(models)], weights, fitted.at_bound
    )


def accuracy(ability: float | _Array, spread: float, chance: float) -> _Array:
    """The expected share of right answers of an ability, over questions of a spread around 0."""
    nodes, weights = _quadrature()
    grid = special.expit(np.asarray(ability)[..., None] - spread * nodes)
    return np.asarray(chance + (1 - chance) * (grid @ weights), dtype=np.float64)


@cache
def _quadrature() -> tuple[_Array, _Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def _loss(at: _Array, answers: Answers) -> tuple[float, _Array]:
    value, each = _gradients(at, answers)
    return -value, -each.sum(axis=1)


def _gradients(at: _Array, answers: Answers) -> tuple[float, _Array]:
    """The log-likelihood, and its gradient by parameter and question, shape (parameters, questions)."""
    nodes, weights = _quadrature()
    right, chance = answers.right, answers.chance
    ability, effects, trends = np.split(at[:-1], [len(right), len(right) + len(answers.effects)])
    spread = np.exp(at[-1])
    middle = ability[:, None] + np.tensordot(effects, answers.effects, 1) - trends @ answers.trends
    # (models, questions, nodes)
    logits = middle[:, :, None] - spread * nodes
    solved = special.expit(logits)
    likely = chance + (1 - chance) * solved
    is_right, is_wrong = (right == 1)[:, :, None], (right == 0)[:, :, None]
    if_right = np.log(likely) if chance else special.log_expit(logits)
    if_wrong = np.log1p(-chance) + special.log_expit(-logits)
    logs = np.where(is_right, if_right, np.where(is_wrong, if_wrong, 0.0)).sum(axis=0) + np.log(weights)
    together = special.logsumexp(logs, axis=1)
    # For each question, how likely each difficulty is: (questions, nodes)
    posterior = np.exp(logs - together[:, None])
    # By the logit: of a right answer (1 - c) s (1 - s) / P, of a wrong one -s.
    if_solved = (1 - chance) * solved * (1 - solved) / likely if chance else 1 - solved
    slopes = np.where(is_right, if_solved, np.where(is_wrong, -solved, 0.0))
    by_logit = np.einsum("mqn,qn->mq", slopes, posterior)
    of_spread = -(posterior * slopes.sum(axis=0) * (spread * nodes)).sum(axis=1)
    of_effects = np.einsum("emq,mq->eq", answers.effects, by_logit)
    of_trends = -answers.trends * by_logit.sum(axis=0)
    return float(together.sum()), np.vstack([by_logit, of_effects, of_trends, of_spread])


def _curvature(at: _Array, answers: Answers, step: float = 1e-4) -> _Array:
    """Second derivatives of the loss, by differences of the gradient."""
    columns = []
    for i in range(len(at)):
        ahead, behind = at.copy(), at.copy()
        ahead[i] += step
        behind[i] -= step
        columns.append((_loss(ahead, answers)[1] - _loss(behind, answers)[1]) / (2 * step))
    return np.array(columns)
