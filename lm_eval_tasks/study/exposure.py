"""What having been able to see a paper adds to scores: one effect for each model, fitted jointly.

  score = paper + model x task + effect_m x [model m may have seen the paper] + slope x cut-off_m x month of the paper

Paper effects remove difficulty. Models whose cut-off is earlier show what a paper would score unseen, so papers that all models may have
seen are left out: they would only compare memories. The last term is style: newer models may be better, or worse, at older papers,
whether they saw them or not. Right-or-wrong answers follow the same model on the logit scale (`rasch`), with the questions' difficulty
drifting over the months. Intervals are t intervals with a jackknife over first authors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.core.intervals import TInterval, cluster_numbers, t_interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.study import rasch

Floats = NDArray[np.float64]
# Below this share of the squares, nothing of a column is left.
_NOTHING = 1e-9
_ROUNDS, _CLOSE = 500, 1e-10
# Of the months' polynomial along which right-or-wrong questions become harder.
_DRIFT = 3


@dataclass(frozen=True, slots=True)
class Observation:
    """One model's score on one sample.

    Attributes:
        paper: what difficulty belongs to: the sample in its task.
        cluster: the first author.
        month: of the paper, counted from any one.
        cutoff: the month up to which the model was trained, counted likewise.
        chance: of guessing, for right-or-wrong answers.
    """

    model: str
    task: str
    paper: str
    cluster: str
    month: int
    cutoff: int
    score: float
    chance: float = 0.0

    @property
    def open(self) -> bool:
        """Whether the model may have seen the paper."""
        return self.month <= self.cutoff


@dataclass(frozen=True, slots=True)
class Gain:
    """How much higher a model scores on papers that it may have seen.

    Attributes:
        papers, authors: that tell it: the model may have seen them, another model cannot.
        over: its interval; None with too few authors.
        why: why it is not known; "" if it is.
    """

    value: float
    papers: int
    authors: int
    over: TInterval | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Gains:
    """The gains of all models that may have seen a paper.

    Attributes:
        slope: of the style term, in points for a month of cut-off and a month of the paper; 0 for right-or-wrong answers.
    """

    by_model: Mapping[str, Gain]
    slope: float = 0.0


def informative(data: Sequence[Observation]) -> list[Observation]:
    """The observations on papers that not all of their models may have seen."""
    unseen = {observation.paper for observation in data if not observation.open}
    return [observation for observation in data if observation.paper in unseen]


def is_choice(data: Sequence[Observation]) -> bool:
    """Whether all scores are right or wrong."""
    return all(observation.score in (0.0, 1.0) for observation in data)


def gains(data: Sequence[Observation]) -> Gains:
    """Fit the model above."""
    usable = informative(data)
    models = list(dict.fromkeys(observation.model for observation in data if observation.open))
    whys = {model: _why_unknown(model, usable) for model in models}
    telling = [model for model in models if not whys[model]]
    unknown = {model: Gain(0.0, 0, 0, None, why) for model, why in whys.items() if why}
    if not telling:
        return Gains(unknown)
    fitted = _of_choices(usable, telling) if is_choice(usable) else _of_scores(usable, telling)
    return Gains({model: {**unknown, **fitted.by_model}[model] for model in models}, fitted.slope)


def _why_unknown(model: str, usable: Sequence[Observation]) -> str:
    if not any(observation.model == model and observation.open for observation in usable):
        return "no other model has an earlier cut-off and was run on the same papers"
    if not any(observation.model == model and not observation.open for observation in usable):
        return "it was run on no paper that is newer than its cut-off"
    return ""


def _papers(model: str, usable: Sequence[Observation]) -> tuple[int, int]:
    """How many papers, and first authors, tell a model's gain."""
    own = [observation for observation in usable if observation.model == model and observation.open]
    return len({observation.paper for observation in own}), len({observation.cluster for observation in own})


# --- scores


def _of_scores(usable: Sequence[Observation], models: Sequence[str]) -> Gains:
    groups = two_ways(usable)
    is_open = [[float(o.open and o.model == model) for o in usable] for model in models]
    columns = [within(np.array(column), groups) for column in (*is_open, style(usable))]
    y = within(np.array([observation.score for observation in usable]), groups)
    kept = _apart(columns)
    x = np.stack([columns[i] for i in kept], axis=1)
    clusters = cluster_numbers([observation.cluster for observation in usable])
    value, left = least_squares(x, y, clusters)
    by_model = {}
    for i, model in enumerate(models):
        if i not in kept:
            by_model[model] = Gain(
                0.0, 0, 0, None, "whether models may have seen a paper differs only by task or month"
            )
            continue
        at = kept.index(i)
        papers, authors = _papers(model, usable)
        squares = np.bincount(clusters, weights=x[:, at] ** 2)
        over = t_interval(float(value[at]), left[:, at], squares) if authors >= FEWEST else None
        by_model[model] = Gain(float(value[at]), papers, authors, over)
    slope = float(value[-1]) if kept[-1] == len(models) else 0.0
    return Gains(by_model, slope)


def two_ways(data: Sequence[Observation]) -> list[NDArray[np.int64]]:
    """For each observation its paper, and its model and task, as numbers."""
    return [
        cluster_numbers([observation.paper for observation in data]),
        cluster_numbers([f"{observation.model} {observation.task}" for observation in data]),
    ]


def style(data: Sequence[Observation]) -> Floats:
    """Cut-off times month, both from their means."""
    cutoffs, months = (
        np.array([float(value) for value in values])
        for values in ([observation.cutoff for observation in data], [observation.month for observation in data])
    )
    product: Floats = (cutoffs - cutoffs.mean()) * (months - months.mean())
    return product


def within(values: Floats, groups: Sequence[NDArray[np.int64]]) -> Floats:
    """Values with the means of each grouping removed in turn until nothing changes."""
    counts = [np.bincount(codes) for codes in groups]
    left: Floats = values - values.mean()
    for _ in range(_ROUNDS):
        before = left
        for codes, n in zip(groups, counts, strict=True):
            left = left - (np.bincount(codes, weights=left) / n)[codes]
        if float(np.abs(left - before).max()) <= _CLOSE * float(np.abs(values).max() or 1.0):
            break
    return left


def _apart(columns: Sequence[Floats]) -> list[int]:
    """The columns of which something is left when all others are known."""
    kept = []
    for i, column in enumerate(columns):
        others = np.stack([other for k, other in enumerate(columns) if k != i], axis=1)
        rest = column - others @ np.linalg.lstsq(others, column, rcond=None)[0]
        if rest @ rest > _NOTHING * len(column) * max(1.0, float(column @ column)):
            kept.append(i)
    return kept


def least_squares(x: Floats, y: Floats, clusters: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The coefficients, shape (columns,), and without each cluster, shape (clusters, columns)."""
    n, k = int(clusters.max()) + 1, x.shape[1]
    squares, products = np.zeros((n, k, k)), np.zeros((n, k))
    np.add.at(squares, clusters, x[:, :, None] * x[:, None, :])
    np.add.at(products, clusters, x * y[:, None])
    total, sums = squares.sum(axis=0), products.sum(axis=0)
    left = np.linalg.pinv(total - squares, hermitian=True) @ (sums - products)[:, :, None]
    return np.linalg.solve(total, sums), np.asarray(left[:, :, 0])


# --- right-or-wrong answers


def _of_choices(usable: Sequence[Observation], models: Sequence[str]) -> Gains:
    names = list(dict.fromkeys(observation.model for observation in usable))
    questions = list(dict.fromkeys(observation.paper for observation in usable))
    at = {paper: i for i, paper in enumerate(questions)}
    first = {observation.paper: observation for observation in reversed(usable)}
    right = np.full((len(names), len(questions)), np.nan)
    is_open, styles = np.zeros_like(right), np.zeros_like(right)
    for observation, product in zip(usable, style(usable), strict=True):
        place = names.index(observation.model), at[observation.paper]
        right[place], is_open[place], styles[place] = observation.score, observation.open, product
    scale = float(np.abs(styles).max() or 1.0)
    own = [np.where(np.array(names)[:, None] == model, is_open, 0.0) for model in models]
    clusters = cluster_numbers([first[paper].cluster for paper in questions])
    chance = float(np.mean([observation.chance for observation in usable]))
    trends = np.stack(list(_trends([first[paper] for paper in questions])))
    answers = rasch.Answers(right, chance, np.stack([*own, styles / scale]), trends)
    fitted = rasch.fit(answers, clusters)
    middle = fitted.abilities[:, None] + np.tensordot(fitted.effects, answers.effects, 1) - fitted.trends @ trends
    by_model = {}
    for i, model in enumerate(models):
        papers, authors = _papers(model, usable)
        logits = middle[own[i] == 1]
        weights = np.bincount(clusters, weights=own[i].sum(axis=0))
        over = t_interval(float(fitted.effects[i]), fitted.left[:, len(names) + i], weights)
        points = _Points(logits, float(fitted.effects[i]), fitted.spread, chance)
        is_known = authors >= FEWEST and not fitted.at_bound
        value = points.of(float(fitted.effects[i]))
        by_model[model] = Gain(value, papers, authors, points.interval(over) if is_known else None)
    return Gains(by_model)


def _trends(questions: Sequence[Observation]) -> Iterator[Floats]:
    """What difficulty may depend on: powers of the month, and the task."""
    months = np.array([float(question.month) for question in questions])
    centred = (months - months.mean()) / (np.abs(months - months.mean()).max() or 1.0)
    yield from (centred**power for power in range(1, _DRIFT + 1))
    tasks = list(dict.fromkeys(question.task for question in questions))
    yield from (np.array([float(question.task == task) for question in questions]) for task in tasks[1:])


@dataclass(frozen=True, slots=True)
class _Points:
    """Logits as points of accuracy, on the questions that a model may have seen."""

    logits: Floats
    effect: float
    spread: float
    chance: float

    def of(self, effect: float) -> float:
        """How much higher the accuracy is with an effect than without."""
        without = self.logits - self.effect
        raised = rasch.accuracy(without + effect, self.spread, self.chance)
        return float((raised - rasch.accuracy(without, self.spread, self.chance)).mean())

    def interval(self, over: TInterval) -> TInterval:
        """The interval in points; its p-value is that of the logit."""
        low, high = self.of(over.low), self.of(over.high)
        return TInterval(
            low, high, over.p, (high - low) * over.error / max(over.high - over.low, _NOTHING), over.freedom
        )
