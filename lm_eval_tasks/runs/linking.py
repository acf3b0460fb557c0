"""`academiceval link-rounds`: scores of later rounds on the scale of the first, by models that were run on all of them.

A round may be easier than another. The anchors, frozen models, show by how much: what they gain is the papers', not theirs. In a round all
models answer the same papers, so that a model's distance from the anchors is known better than its score:

  linked score = anchors' mean in the first round + mean over papers of (model - anchors) in the later round

Its error has three parts: of that distance, of the anchors' mean in the first round, and of the anchors, which do not gain all alike.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from lm_eval_tasks import data
from lm_eval_tasks.errors import SamplesError
from lm_eval_tasks.power import FEWEST, LEVEL
from lm_eval_tasks.runs.intervals import t_interval
from lm_eval_tasks.runs.logged import by_task
from lm_eval_tasks.tables import Table

if TYPE_CHECKING:
    from lm_eval_tasks.runs.logged import Logged

# Model -> its samples in one round.
Runs = Mapping[str, Sequence["Logged"]]
FEWEST_ANCHORS = 2
# An anchor that moves this many standard errors otherwise than the others has changed.
_FAR = 3.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over papers and its error.

    Attributes:
        freedom: degrees of freedom; 0 where there are too few first authors.
    """

    value: float
    error: float
    freedom: float
    papers: int


@dataclass(frozen=True, slots=True)
class Linked:
    """One model's score in one round and task.

    Attributes:
        raw: as it was.
        value: on the scale of the first round.
        low, high: 95 %, with the error of linking; None with too few first authors.
    """

    round: str
    task: str
    model: str
    raw: float
    value: float
    low: float | None
    high: float | None
    papers: int


@dataclass(frozen=True, slots=True)
class Link:
    """What links a round to the first.

    Attributes:
        shift: how much higher the anchors score in it.
        changed: anchors that moved otherwise than the rest, and are best left out.
    """

    round: str
    task: str
    shift: float
    anchors: int
    changed: tuple[str, ...]


@cache
def usual_anchors() -> tuple[str, ...]:
    """The models that are meant to be run on every round, as labels of runs."""
    path = Path(data.__file__).parent / "anchors.toml"
    read = tomllib.loads(path.read_text(encoding="utf-8"))
    return tuple(name.replace("/", "-") for name in read["anchors"])


def link(rounds: Mapping[str, Runs], anchors: Sequence[str], metric: str) -> tuple[list[Linked], list[Link]]:
    """All models of all rounds on the scale of the first round.

    Args:
        rounds: name -> runs, the first one first.
        anchors: models; those that were run on both rounds count.

    Raises:
        SamplesError: a round has fewer than two anchors in common with the first.
    """
    (first, reference), *later = rounds.items()
    linked, links = [], []
    for name, runs in later:
        known = [model for model in anchors if model in reference and model in runs]
        if len(known) < FEWEST_ANCHORS:
            raise SamplesError(
                f"rounds {first} and {name} have {len(known)} anchors in common, and linking takes {FEWEST_ANCHORS}: run more of them on "
                f"both ({', '.join(anchors)}), or name others with --anchors"
            )
        ours, theirs = ({model: by_task(samples) for model, samples in one.items()} for one in (reference, runs))
        tasks = set.intersection(*(set(own[model]) for own in (ours, theirs) for model in known))
        for task in sorted(tasks):
            before, after = (
                {model: _scores(own[task], metric) for model, own in one.items() if task in own}
                for one in (ours, theirs)
            )
            one, found = _linked(name, task, before, after, known)
            links.append(one)
            linked += found
    return linked, links


_Scores = dict[str, tuple[float, str]]


def _scores(samples: Sequence[Logged], metric: str) -> _Scores:
    """Sample -> its score and first author."""
    return {one.id: (one.scores[metric], one.cluster) for one in samples if metric in one.scores}


def _linked(
    round_: str, task: str, before: Mapping[str, _Scores], after: Mapping[str, _Scores], anchors: Sequence[str]
) -> tuple[Link, list[Linked]]:
    level = _mean(_average([before[model] for model in anchors]))
    shifts = {model: _mean(after[model]).value - _mean(before[model]).value for model in anchors}
    between = Estimate(0.0, sqrt(variance(shifts.values()) / len(shifts)), len(shifts) - 1, 0)
    anchored = _average([after[model] for model in anchors])
    found = []
    for model, scores in sorted(after.items()):
        distance = _mean(_difference(scores, anchored))
        value = level.value + distance.value
        reach = _reach([level, distance, between])
        low, high = (None, None) if reach is None else (value - reach, value + reach)
        found.append(Linked(round_, task, model, _mean(scores).value, value, low, high, distance.papers))
    changed = tuple(_changed(anchors, before, after))
    return Link(round_, task, fmean(shifts.values()), len(anchors), changed), found


def _changed(anchors: Sequence[str], before: Mapping[str, _Scores], after: Mapping[str, _Scores]) -> Iterator[str]:
    """The anchors that moved otherwise than the rest, the farthest first; each is judged without those before it."""
    left = list(anchors)
    while len(left) > FEWEST_ANCHORS:
        far = {model: _moved(model, left, before, after) for model in left}
        farthest = max(left, key=lambda model: far[model])
        if far[farthest] <= _FAR:
            return
        yield farthest
        left.remove(farthest)


def _moved(model: str, anchors: Sequence[str], before: Mapping[str, _Scores], after: Mapping[str, _Scores]) -> float:
    """By how many standard errors an anchor moved otherwise than the others."""
    others = [one for one in anchors if one != model]
    was, is_ = (_mean(_difference(one[model], _average([one[other] for other in others]))) for one in (before, after))
    error = sqrt(was.error**2 + is_.error**2)
    return abs(is_.value - was.value) / error if error and was.freedom and is_.freedom else 0.0


def _average(each: Sequence[_Scores]) -> _Scores:
    """The mean over models, for the samples that all of them answered."""
    ids = [id_ for id_ in each[0] if all(id_ in one for one in each)]
    return {id_: (fmean(one[id_][0] for one in each), each[0][id_][1]) for id_ in ids}


def _difference(scores: _Scores, others: _Scores) -> _Scores:
    return {id_: (value - others[id_][0], cluster) for id_, (value, cluster) in scores.items() if id_ in others}


def _mean(scores: _Scores) -> Estimate:
    """The mean and its error, by the jackknife over first authors."""
    if not scores:
        raise SamplesError("the runs of a round have no sample in common with its anchors")
    values = np.array([value for value, _ in scores.values()])
    names = {cluster: i for i, cluster in enumerate(dict.fromkeys(cluster for _, cluster in scores.values()))}
    of = np.array([names[cluster] for _, cluster in scores.values()])
    mean = float(values.mean())
    if len(names) < FEWEST:
        return Estimate(mean, 0.0, 0.0, len(values))
    sums, counts = np.bincount(of, weights=values), np.bincount(of)
    over = t_interval(mean, (sums.sum() - sums) / (len(values) - counts), counts)
    return Estimate(mean, over.error, over.freedom, len(values))


def _reach(parts: Sequence[Estimate]) -> float | None:
    """Half of the interval of a sum of estimates (Welch and Satterthwaite's degrees of freedom); None where a part has too few authors."""
    if any(one.freedom == 0 for one in parts):
        return None
    total = sum(one.error**2 for one in parts)
    if not total:
        return 0.0
    freedom = total**2 / sum(one.error**4 / one.freedom for one in parts)
    return float(special.stdtrit(freedom, (1 + LEVEL) / 2)) * sqrt(total)


def table(linked: Sequence[Linked]) -> Table:
    """A row for each model, round and task."""
    head = ("Task", "Round", "Model", "Papers", "Raw", "Linked", "95% interval")
    rows = [
        (one.task, one.round, one.model, one.papers, f"{one.raw:.4f}", f"{one.value:.4f}", _interval(one))
        for one in linked
    ]
    return Table(head, "lllrrrl", rows)


def _interval(one: Linked) -> str:
    return "-" if one.low is None or one.high is None else f"[{one.low:.4f}, {one.high:.4f}]"
