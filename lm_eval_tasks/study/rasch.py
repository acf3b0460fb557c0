"""Right-or-wrong answers on one scale: the one-parameter logistic model (Rasch 1960), with questions drawn from a normal distribution.

  P(model m answers question q rightly) = 1 / (1 + exp(-(ability_m - difficulty_q))),   difficulty_q ~ N(0, spread^2)

Accuracies of two rounds cannot be subtracted near 0 or 1; abilities can. Parameters maximise the marginal likelihood (Bock and Aitkin
1981), with the difficulty integrated out by Gauss and Hermite's rule. Errors leave out one first author at a time, by one Newton step.
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
# No ability or spread may lie farther out: a model that is always right would be infinitely able.
_FARTHEST = 8.0
# Of the logarithm of the spread.
_SPREADS = (-3.0, 1.5)
_Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a round's answers say about its models.

    Attributes:
        of: model -> place in `values`.
        values: ability of each model, shape (models,).
        spread: standard deviation of the questions' difficulty.
        left: abilities without each first author, shape (authors, models).
        weights: questions of each first author, shape (authors,).
        at_bound: whether a parameter lies as far out as it may, as when models are always right or all answer alike.
    """

    of: Mapping[str, int]
    values: _Array
    spread: float
    left: _Array
    weights: _Array
    at_bound: bool


def abilities(answers: Mapping[str, Scores]) -> Abilities:
    """Fit one round.

    Args:
        answers: model -> question -> 1 or 0, and its first author; questions that all models answered count.

    Raises:
        SamplesError: there is no such question.
    """
    models = list(answers)
    ids = [id_ for id_ in answers[models[0]] if all(id_ in model_scores for model_scores in answers.values())]
    if not ids:
        raise SamplesError(f"{', '.join(models)} have no question in common")
    right = np.array([[answers[model][id_][0] for id_ in ids] for model in models])
    start = np.append(special.logit(np.clip(right.mean(axis=1), 0.02, 0.98)), 0.0)
    bounds = [(-_FARTHEST, _FARTHEST)] * len(models) + [_SPREADS]
    optimum = optimize.minimize(lambda at: _loss(at, right), start, jac=True, method="L-BFGS-B", bounds=bounds).x
    each = _gradients(optimum, right)[1]
    of = cluster_numbers([answers[models[0]][id_][1] for id_ in ids])
    scores = np.stack([np.bincount(of, weights=column) for column in each], axis=1)
    # Leaving an author out moves the optimum by the inverse curvature times the author's own gradient.
    left = optimum - scores @ np.linalg.pinv(_curvature(optimum, right))
    spread = float(np.exp(optimum[-1]))
    inside = np.all(np.abs(optimum[:-1]) < 0.99 * _FARTHEST) and optimum[-1] < 0.99 * _SPREADS[1]
    weights = np.bincount(of).astype(float)
    return Abilities(
        {model: i for i, model in enumerate(models)}, optimum[:-1], spread, left[:, :-1], weights, not inside
    )


def accuracy(ability: float | _Array, spread: float) -> _Array:
    """The expected share of right answers of an ability, over questions of a spread."""
    nodes, weights = _quadrature()
    grid = special.expit(np.asarray(ability)[..., None] - spread * nodes)
    return np.asarray(grid @ weights, dtype=np.float64)


@cache
def _quadrature() -> tuple[_Array, _Array]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


def _loss(at: _Array, right: _Array) -> tuple[float, _Array]:
    value, each = _gradients(at, right)
    return -value, -each.sum(axis=1)


def _gradients(at: _Array, right: _Array) -> tuple[float, _Array]:
    """The log-likelihood, and its gradient by parameter and question, shape (models + 1, questions)."""
    nodes, weights = _quadrature()
    spread = np.exp(at[-1])
    # (models, nodes)
    logits = at[:-1, None] - spread * nodes
    likely = right.T @ -np.logaddexp(0, -logits) + (1 - right).T @ -np.logaddexp(0, logits) + np.log(weights)
    together = special.logsumexp(likely, axis=1)
    # For each question, how likely each difficulty is: (questions, nodes)
    posterior = np.exp(likely - together[:, None])
    surprise = right - (posterior @ special.expit(logits).T).T
    by_node = right.sum(axis=0)[:, None] - special.expit(logits).sum(axis=0)
    of_spread = -(posterior * by_node * (spread * nodes)).sum(axis=1)
    return float(together.sum()), np.vstack([surprise, of_spread])


def _curvature(at: _Array, right: _Array, step: float = 1e-4) -> _Array:
    """Second derivatives of the loss, by differences of the gradient."""
    columns = []
    for i in range(len(at)):
        ahead, behind = at.copy(), at.copy()
        ahead[i] += step
        behind[i] -= step
        columns.append((_loss(ahead, right)[1] - _loss(behind, right)[1]) / (2 * step))
    return np.array(columns)
