"""`academiceval contamination`: do models score higher on papers that they may have seen in training?

Over samples of several models with different cut-offs:

  score = paper + model x task + beta x [the paper was published up to the model's cut-off]

Paper effects remove difficulty; the models' different cut-offs identify beta: a paper between two cut-offs was open to one model and
not to the other. The interval is a t interval with a jackknife over first authors, as in `intervals`. Placebos set false cut-offs later
than the true ones and use only papers that no model can have seen: their beta should be 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import cluster_numbers, t_interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.metrics import registry

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

Floats = NDArray[np.float64]
# How many months placebos are late.
PLACEBOS = (3, 6)
# Below this share of the scores' spread, nothing is left to compare.
_NOTHING = 1e-9
_ROUNDS, _CLOSE = 500, 1e-10
TITLE_ONLY = "abs_title_only"


@dataclass(frozen=True, slots=True)
class Observation:
    """One model's score on one sample.

    Attributes:
        paper: what difficulty belongs to: the sample in its task.
        cluster: the first author.
        months: whole months from the model's cut-off to the paper; 0 or less for papers up to the cut-off.
    """

    model: str
    task: str
    paper: str
    cluster: str
    months: int
    score: float

    @property
    def open(self) -> bool:
        """Whether the model may have seen the paper."""
        return self.months <= 0


@dataclass(frozen=True, slots=True)
class Effect:
    """An estimate of beta.

    Attributes:
        value: how much higher scores are on papers up to the cut-off; None if the runs cannot tell.
        low, high, p: of the 95 % interval; None with too few first authors.
        papers: how many some models may have seen and others not: the informative ones.
        why: why there is no value.
    """

    what: str
    value: float | None
    low: float | None
    high: float | None
    p: float | None
    papers: int
    clusters: int
    why: str = ""


def months_between(cutoff: str, published: str) -> int:
    """Whole months from a cut-off, "YYYY-MM", to a day of publication."""
    y1, m1 = map(int, cutoff[:7].split("-"))
    y2, m2 = map(int, published[:7].split("-"))
    return 12 * (y2 - y1) + m2 - m1


def observations(runs: Mapping[str, Sequence[Sample]], cutoffs: Mapping[str, str], metric: str) -> list[Observation]:
    """The scores of several runs.

    Args:
        runs: model -> its samples.
        cutoffs: model -> month up to which it was trained.

    Raises:
        SamplesError: a model's cut-off is not known, or no sample has the score.
    """
    if unknown := [model for model in runs if model not in cutoffs]:
        raise SamplesError(f"the cut-off of {unknown[0]} is not known: give it with --cutoff {unknown[0]}=YYYY-MM")
    seen = [
        Observation(
            model,
            sample.task,
            f"{sample.task} {sample.id}",
            sample.cluster,
            months_between(cutoffs[model], sample.row.published),
            sample.scores[metric],
        )
        for model, samples in runs.items()
        for sample in samples
        if metric in sample.scores
    ]
    if not seen:
        raise SamplesError(f"no sample has the score {metric}; there are {', '.join(registry.headline())} and others")
    return seen


def effect(what: str, data: Sequence[Observation]) -> Effect:
    """Estimate beta.

    Args:
        what: a name for the estimate.
    """
    papers = {observation.paper for observation in data if observation.open} & {
        observation.paper for observation in data if not observation.open
    }
    reason = _why_unidentified(data, papers)
    if reason:
        return Effect(what, None, None, None, None, len(papers), 0, reason)
    rows = [
        cluster_numbers([observation.paper for observation in data]),
        cluster_numbers([f"{observation.model} {observation.task}" for observation in data]),
    ]
    x = _within(np.array([float(observation.open) for observation in data]), rows)
    y = _within(np.array([observation.score for observation in data]), rows)
    if float(x @ x) < _NOTHING * len(data):
        return Effect(
            what, None, None, None, None, len(papers), 0, "whether models may have seen a paper differs only by task"
        )
    clusters = cluster_numbers([observation.cluster for observation in data])
    telling = sorted(
        {int(cluster) for cluster, observation in zip(clusters, data, strict=True) if observation.paper in papers}
    )
    products = np.bincount(clusters, weights=x * y)
    squares = np.bincount(clusters, weights=x * x)
    value = float(products.sum() / squares.sum())
    # Papers that all models, or none, may have seen show how far apart the models lie, which is not known without error
    # either.
    left = (products.sum() - products) / (squares.sum() - squares)
    over = t_interval(value, left, squares) if len(telling) >= FEWEST else None
    if over is None:
        return Effect(what, value, None, None, None, len(papers), len(telling))
    return Effect(what, value, over.low, over.high, over.p, len(papers), len(telling))


def _why_unidentified(data: Sequence[Observation], papers: set[str]) -> str:
    """Why the runs cannot tell beta; "" if they can."""
    if len({observation.model for observation in data}) < 2:
        return "only one model has such scores, and its papers before and after its cut-off differ in difficulty, too"
    if not any(observation.open for observation in data):
        return 'all papers are newer than all cut-offs: run the older splits too (--metadata \'{"split": "all"}\')'
    if not papers:
        return "no paper lies between the cut-offs of two models that were both run on it"
    return ""


def _within(values: Floats, groups: Sequence[NDArray[np.int64]]) -> Floats:
    """Values with the means of each grouping removed in turn until nothing changes."""
    counts = [np.bincount(codes) for codes in groups]
    left: Floats = values - values.mean()
    for _ in range(_ROUNDS):
        before = left
        for codes, n in zip(groups, counts, strict=True):
            left = left - (np.bincount(codes, weights=left) / n)[codes]
        if float(np.abs(left - before).max()) < _CLOSE:
            break
    return left


def placebo(data: Sequence[Observation], late: int) -> Effect:
    """Beta at cut-offs that are `late` months too late, over scores on papers that their model cannot have seen."""
    unseen = [replace(observation, months=observation.months - late) for observation in data if not observation.open]
    return effect(f"placebo, cut-offs {late} months late", unseen)


def effects(data: Sequence[Observation]) -> list[Effect]:
    """Beta over all tasks, for the title-only probe by itself, and for the placebos."""
    probe = [observation for observation in data if TITLE_ONLY in observation.task]
    usual = [observation for observation in data if TITLE_ONLY not in observation.task]
    estimates = [effect("papers up to the cut-off", usual)] if usual else []
    if probe:
        estimates.append(effect("title-only probe", probe))
        estimates += [against_later(model, probe) for model in sorted({observation.model for observation in probe})]
    return estimates + [placebo(usual or data, late) for late in PLACEBOS]


def against_later(model: str, probe: Sequence[Observation]) -> Effect:
    """How much better a model writes abstracts from titles alone for papers up to its cut-off than for later ones.

    A second witness, which needs no other model. Nothing removes the papers' difficulty here, but little can be known about an abstract
    from its title, whatever the paper.
    """
    what = f"title-only probe, {model} against its own later papers"
    model_data = [observation for observation in probe if observation.model == model]
    is_open = np.array([observation.open for observation in model_data])
    if is_open.all() or not is_open.any():
        side = "newer" if not is_open.any() else "older"
        return Effect(what, None, None, None, None, 0, 0, f"all its papers are {side} than its cut-off")
    clusters = cluster_numbers([observation.cluster for observation in model_data])
    scores = np.array([observation.score for observation in model_data])
    sums = np.array([np.bincount(clusters, weights=scores * side) for side in (is_open, ~is_open)])
    counts = np.array([np.bincount(clusters, weights=np.ones(len(model_data)) * side) for side in (is_open, ~is_open)])
    value = _between(sums.sum(axis=1), counts.sum(axis=1))
    # An author of all papers on one side cannot be left out: then nothing would be left to compare.
    rest = counts.sum(axis=1)[:, None] - counts
    count = len(counts[0])
    if count < FEWEST or not rest.all():
        return Effect(what, value, None, None, None, len(model_data), count)
    left = _between(sums.sum(axis=1)[:, None] - sums, rest)
    over = t_interval(float(value), left, counts.sum(axis=0))
    return Effect(what, float(value), over.low, over.high, over.p, len(model_data), count)


def _between(sums: Floats, counts: Floats) -> Any:
    """The mean on the first side minus that on the second."""
    means = sums / counts
    return means[0] - means[1]


def by_age(data: Sequence[Observation], width: int = 3) -> dict[str, dict[int, tuple[float, int]]]:
    """Model -> quarter since its cut-off -> mean score without the papers' difficulty, and number of samples.

    Quarter 0 begins right after the cut-off; the figures of a model have mean 0.
    """
    rows = [
        cluster_numbers([observation.paper for observation in data]),
        cluster_numbers([f"{observation.model} {observation.task}" for observation in data]),
    ]
    left = _within(np.array([observation.score for observation in data]), rows)
    by_model: dict[str, dict[int, list[float]]] = {}
    for observation, value in zip(data, left, strict=True):
        by_model.setdefault(observation.model, {}).setdefault((observation.months - 1) // width, []).append(
            float(value)
        )
    return {
        model: {age: (sum(values) / len(values), len(values)) for age, values in sorted(ages.items())}
        for model, ages in by_model.items()
    }


def table(estimates: Sequence[Effect]) -> Table:
    """A row for each estimate."""
    head = ("Estimate", "Higher by", "95% interval", "p", "Informative papers", "First authors")
    return Table(head, "lrrrrr", [_row(estimate) for estimate in estimates])


def _row(estimate: Effect) -> tuple[object, ...]:
    if estimate.value is None:
        return estimate.what, "-", "-", "-", estimate.papers, "-"
    return (
        estimate.what,
        f"{estimate.value:+.4f}",
        bounds_text(estimate.low, estimate.high, "+.4f"),
        "-" if estimate.p is None else f"{estimate.p:.4f}",
        estimate.papers,
        estimate.clusters,
    )


def age_table(data: Sequence[Observation]) -> Table:
    """Model by quarters since its cut-off."""
    ages = by_age(data)
    quarters = sorted({age for cells in ages.values() for age in cells})
    head = ("Model", *(f"{3 * age + 1} to {3 * age + 3}" for age in quarters))
    rows = [
        (model, *(f"{cells[age][0]:+.4f} ({cells[age][1]})" if age in cells else "-" for age in quarters))
        for model, cells in sorted(ages.items())
    ]
    return Table(head, "l" + "r" * len(quarters), rows)
