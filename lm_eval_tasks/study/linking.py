"""`academiceval study link-rounds`: scores of later rounds on the scale of the first, by models that were run on all of them.

A round may be easier than another. The anchors, frozen models, show by how much: their gain is due to the papers, not
to them. In a round all models answer the same papers, so a model's distance from the anchors is known better than its
score:

  linked score = anchors' mean in the first round + mean over papers of (model - anchors) in the later round

Its error has three parts: of that distance, of the anchors' mean in the first round, and of the anchors, which do not all gain alike.
Right-or-wrong answers are linked by ability (`rasch`) instead of scores. Papers of the first round that are carried along as
`<Setting>-core` check the result: there a model's distance from the anchors is taken over the old papers.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import freedom_of, t_interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.core.row_format import CORE
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.samples.labels import label
from lm_eval_tasks.samples.sample import by_task
from lm_eval_tasks.stats.columns import columns_of, headline_of
from lm_eval_tasks.study.estimates import Estimate, around, average, difference, mean
from lm_eval_tasks.study.rasch import Abilities, abilities, accuracy

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample
    from lm_eval_tasks.stats.scales import Scaled, Scores, SettingScores

# Model -> its samples in one round.
Runs = Mapping[str, Sequence["Sample"]]
FEWEST_ANCHORS = 3
_OF_CHOICES, _GUESSING = "accuracy", "accuracy_random"
# An anchor that differs from the others in its move by this many standard errors has changed.
_FAR = 3.0


@dataclass(frozen=True, slots=True)
class Linked:
    """One model's score in one round and task.

    Attributes:
        raw: as it was.
        value: on the scale of the first round.
        low, high: 95 %, with the error of linking; None with too few first authors.
        by_core: the same over the old papers, with its interval; None if the model was not run on them.
    """

    round: str
    task: str
    model: str
    raw: float
    value: float
    low: float | None
    high: float | None
    papers: int
    by_core: tuple[float, tuple[float, float] | None] | None = None


@dataclass(frozen=True, slots=True)
class RoundLink:
    """What links a round to the first.

    Attributes:
        shift: how much higher the anchors score in it.
        changed: anchors that moved differently from the rest, and are best left out.
    """

    round: str
    task: str
    shift: float
    anchors: int
    changed: tuple[str, ...]


def anchors_of(option: str | None) -> tuple[str, ...]:
    """Anchors as named in tables: those typed, separated by commas, or else those that are meant to be run on every round."""
    if option:
        names = [label(name) if "/" in name else name for name in option.split(",") if name]
    else:
        path = Path(__file__).parent / "anchors.toml"
        names = [label(name) for name in tomllib.loads(path.read_text(encoding="utf-8"))["anchors"]]
    return tuple(dict.fromkeys(names))


def link(rounds: Mapping[str, Runs], anchors: Sequence[str], metric: str = "") -> tuple[list[Linked], list[RoundLink]]:
    """All models of all rounds on the scale of the first round.

    Args:
        rounds: name -> runs, the first one first.
        anchors: models; those that were run on both rounds count.
        metric: without one, the first headline metric of each task; tasks without it are left out.

    Raises:
        SamplesError: a round has fewer than three anchors in common with the first, or no task has the metric.
    """
    (first, reference), *later = rounds.items()
    linked, links = [], []
    for name, runs in later:
        common = [model for model in anchors if model in reference and model in runs]
        if len(common) < FEWEST_ANCHORS:
            raise SamplesError(
                f"rounds {first} and {name} have {len(common)} anchors in common, but linking needs {FEWEST_ANCHORS}: run more of them on "
                f"both ({', '.join(anchors)}), or name others with --anchors"
            )
        ours = {model: by_task(samples) for model, samples in reference.items()}
        theirs = {model: by_task(samples) for model, samples in runs.items()}
        tasks = set.intersection(*(set(side[model]) for side in (ours, theirs) for model in common))
        for task in sorted(tasks):
            task_metric = metric or _headline(ours[common[0]][task])
            before = _scores_by_model(ours, task, task_metric)
            after = _scores_by_model(theirs, task, task_metric)
            core = _scores_by_model(theirs, task + CORE, task_metric)
            if not (usable := usable_anchors(before, after, common)):
                continue
            task_link, linked_scores = link_task(
                name, task, before, after, usable, core, chance=_chance(ours[common[0]][task], task_metric)
            )
            links.append(task_link)
            linked += linked_scores
    if not links:
        raise SamplesError(
            f"no task of both rounds has {metric or 'a headline metric'} and samples that all anchors answered ({', '.join(anchors)})"
        )
    return linked, links


def usable_anchors(before: Mapping[str, Scores], after: Mapping[str, Scores], anchors: Sequence[str]) -> list[str]:
    """The anchors that were run on both rounds; none if they are fewer than three, or have no sample in common."""
    common = [model for model in anchors if model in before and model in after]
    enough = len(common) >= FEWEST_ANCHORS and all(
        average([side[model] for model in common]) for side in (before, after)
    )
    return common if enough else []


def _chance(samples: Sequence[Sample], metric: str) -> float | None:
    """Of guessing, for right-or-wrong answers; None for scores."""
    guessing = columns_of(samples).get(_GUESSING)
    return (guessing.mean if guessing else 0.0) if metric == _OF_CHOICES else None


def _headline(samples: Sequence[Sample]) -> str:
    return headline_of(columns_of(samples)) or ""


def _scores_by_model(runs: Mapping[str, Mapping[str, Sequence[Sample]]], task: str, metric: str) -> dict[str, Scores]:
    return {model: scores for model, tasks in runs.items() if (scores := _scores(tasks.get(task, ()), metric))}


def _scores(samples: Sequence[Sample], metric: str) -> Scores:
    column = columns_of(samples).get(metric)
    return column.pairs() if column else {}


def link_task(
    round_: str,
    task: str,
    before: Mapping[str, Scores],
    after: Mapping[str, Scores],
    anchors: Sequence[str],
    core: Mapping[str, Scores] = MappingProxyType({}),
    *,
    chance: float | None = None,
) -> tuple[RoundLink, list[Linked]]:
    """All models of a later round on the scale of the first, for one task.

    Args:
        before, after: model -> its scores in the first and in the later round.
        anchors: models of both, at least three.
        core: model -> its scores on papers of the first round, in the later one.
        chance: of guessing, if answers are right or wrong; None for scores.
    """
    old = average([before[model] for model in anchors])
    answered = average([after[model] for model in anchors])
    level = mean(old)
    moved = [mean(after[model]).value - mean(before[model]).value for model in anchors]
    place = (
        partial(_by_score, after, answered, [level, _between(moved)])
        if chance is None
        else partial(_by_ability, abilities({model: before[model] for model in anchors}, chance), after, anchors)
    )
    linked = []
    for model, scores in sorted(after.items()):
        if not difference(scores, answered):  # nothing in common with the anchors
            continue
        value, parts, papers = place(model)
        interval = around(value, parts)
        if interval and chance is not None:
            interval = max(0.0, interval[0]), min(1.0, interval[1])
        low, high = interval or (None, None)
        raw = mean(scores).value
        linked.append(Linked(round_, task, model, raw, value, low, high, papers, _by_core(core.get(model), old, level)))
    return RoundLink(round_, task, fmean(moved), len(anchors), tuple(_changed_anchors(anchors, before, after))), linked


_Placement = tuple[float, list[Estimate], int]


def _by_score(after: Mapping[str, Scores], answered: Scores, of_anchors: Sequence[Estimate], model: str) -> _Placement:
    level, between = of_anchors
    distance = mean(difference(after[model], answered))
    return level.value + distance.value, [level, distance, between], distance.papers


def _by_ability(first: Abilities, after: Mapping[str, Scores], anchors: Sequence[str], model: str) -> _Placement:
    """The accuracy that a model of this ability would have on the first round's questions."""
    later = abilities({name: after[name] for name in sorted({*anchors, model})}, first.chance)

    def linked_accuracy(new: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
        shift = new[..., [later.of[anchor] for anchor in anchors]] - old[..., [first.of[anchor] for anchor in anchors]]
        return accuracy(new[..., later.of[model]] - shift.mean(axis=-1), first.spread, first.chance)

    value = float(linked_accuracy(later.values, first.values))
    gains = [later.values[later.of[anchor]] - first.values[first.of[anchor]] for anchor in anchors]
    ability = later.values[later.of[model]] - fmean(gains)
    above = float(accuracy(ability + 0.5, first.spread, first.chance))
    below = float(accuracy(ability - 0.5, first.spread, first.chance))
    between = _between(gains)
    parts = [
        _jackknife(value, linked_accuracy(later.left, first.values), later),
        _jackknife(value, linked_accuracy(later.values, first.left), first),
        replace(between, error=(above - below) * between.error),
    ]
    return value, parts, len(after[model])


def _jackknife(value: float, left: NDArray[np.float64], fitted: Abilities) -> Estimate:
    """The error of a value by the jackknife; unknown if answers are so alike that a parameter is at its bound."""
    questions = int(fitted.weights.sum())
    if len(left) < FEWEST or fitted.at_bound:
        return Estimate(value, 0.0, 0.0, questions)
    over = t_interval(value, left, freedom_of(fitted.weights))
    return Estimate(value, over.error, over.freedom, questions)


def _between(gains: Sequence[float]) -> Estimate:
    """The error that results from anchors that do not all gain alike."""
    return Estimate(0.0, sqrt(variance(gains) / len(gains)), len(gains) - 1, 0)


def _by_core(scores: Scores | None, old: Scores, level: Estimate) -> tuple[float, tuple[float, float] | None] | None:
    """The anchors' level in the first round, and how far from them a model is on papers of that round."""
    common = difference(scores, old) if scores else {}
    if not common:
        return None
    distance = mean(common)
    value = level.value + distance.value
    return value, around(value, [level, distance])


def _changed_anchors(
    anchors: Sequence[str], before: Mapping[str, Scores], after: Mapping[str, Scores]
) -> Iterator[str]:
    """The anchors that moved differently from the rest, the farthest first; each is judged without those before it."""
    left = list(anchors)
    while len(left) > FEWEST_ANCHORS:
        far = {model: _deviation(model, left, before, after) for model in left}
        farthest = max(left, key=lambda model: far[model])
        if far[farthest] <= _FAR:
            return
        yield farthest
        left.remove(farthest)


def _deviation(model: str, anchors: Sequence[str], before: Mapping[str, Scores], after: Mapping[str, Scores]) -> float:
    """By how many standard errors an anchor's move differs from that of the others."""
    others = [anchor for anchor in anchors if anchor != model]
    was = mean(difference(before[model], average([before[other] for other in others])))
    is_ = mean(difference(after[model], average([after[other] for other in others])))
    error = sqrt(was.error**2 + is_.error**2)
    return abs(is_.value - was.value) / error if error and was.freedom and is_.freedom else 0.0


def table(linked: Sequence[Linked]) -> Table:
    """A row for each model, round and task."""
    head = ("Task", "Round", "Model", "Papers", "Raw", "Linked", "95% interval", "By old papers")
    rows = [
        (
            score.task,
            score.round,
            score.model,
            score.papers,
            f"{score.raw:.4f}",
            f"{score.value:.4f}",
            bounds_text(score.low, score.high),
            _core_cell(score),
        )
        for score in linked
    ]
    return Table(head, "lllrrrll", rows)


def _core_cell(score: Linked) -> str:
    return (
        "-" if score.by_core is None else f"{score.by_core[0]:.4f} {bounds_text(*(score.by_core[1] or (None, None)))}"
    )


def linked_settings(settings: Sequence[SettingScores], anchors: Sequence[str]) -> Scaled:
    """The scores of later rounds on the first round's scale, for the settings of which three anchors were run on both."""
    scaled: Scaled = {}
    first = min((scores.round for scores in settings), default="")
    reference = {setting.setting: setting for setting in settings if setting.round == first}
    for setting in settings:
        if setting.round == first or setting.setting not in reference:
            continue
        for metric, after in setting.scores.items():
            before = reference[setting.setting].scores.get(metric, {})
            if usable := usable_anchors(before, after, anchors):
                _, linked = link_task(setting.round, setting.setting, before, after, usable, chance=setting.chance)
                for score in linked:
                    bounds = () if score.low is None or score.high is None else (score.low, score.high)
                    scaled.setdefault((setting.round, setting.setting, score.model), {})[metric] = (
                        score.value,
                        *bounds,
                    )
    return scaled
