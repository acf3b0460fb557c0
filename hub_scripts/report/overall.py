"""One number for each model of a round: how far its scores lie above the floor, over all tasks.

A score s with floor f and ceiling c is placed at (s - f) / (c - f): 0 is what the wrong paper's text would score (SCALAR: guessing), 1
what the authors' own first version scores, or a perfect score where the round does not say that. Settings of a task are averaged, then
tasks. Intervals are jackknife t intervals that leave out one first author at a time, from all settings at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from hub_scripts.report.cells import TASKS, Cell, Group, is_baseline
from lm_eval_tasks.intervals import Interval, t_interval
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.power import FEWEST

# A higher floor leaves no room above it.
_HIGHEST_FLOOR = 0.9


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's place in a round.

    Attributes:
        rank: 1 + the models whose interval lies wholly above; None for baselines, and if settings are missing.
        overall: over all counted settings that the model has; None if it has none.
        tasks: task -> the same for the task alone, without an interval.
        missing: counted settings that it has not answered in full.
        samples: answers that count.
        capped, cut: shares of answers that reached their cap and of prompts that were cut; None if not noted.
    """

    model: str
    rank: int | None
    overall: Interval | None
    tasks: Mapping[str, float]
    missing: tuple[str, ...]
    samples: int
    capped: float | None
    cut: float | None
    is_baseline: bool


@dataclass(frozen=True, slots=True)
class Overall:
    """All models of a round, the best first.

    Attributes:
        settings: those that count: most models were run on them, on every sample.
        ceilings: setting -> the score that stands for 1, where it is not a perfect one.
    """

    round: str
    settings: tuple[str, ...]
    standings: tuple[Standing, ...]
    ceilings: Mapping[str, float]


def overall(groups: Sequence[Group]) -> Overall | None:
    """The standings of the settings of one round; None if no setting has scores with a floor."""
    models = sorted({cell.model for group in groups for cell in group.cells})
    counted = _counted(groups, [model for model in models if not is_baseline(model)] or models)
    if not counted:
        return None
    standings = sorted((_standing(model, counted) for model in models), key=_order)
    return Overall(
        counted[0].key.round, tuple(group.key.setting for group in counted), tuple(_ranked(standings)),
        {part.group.key.setting: part.ceiling for model in models for part in _parts(model, counted) if part.ceiling < 1},
    )  # fmt: skip


def placed(score: float, floor: float, ceiling: float = 1.0) -> float:
    """A score between its floor, 0, and its ceiling, 1."""
    return (score - floor) / (ceiling - floor)


def _counted(groups: Sequence[Group], models: Sequence[str]) -> list[Group]:
    """The settings, as the papers have them, that more than half of the models were run on in full."""
    return [
        group
        for group in groups
        if " " not in group.key.setting
        and 2 * sum(_whole(cell) is not None for cell in group.cells if cell.model in models) > len(models)
    ]


def _whole(cell: Cell) -> str | None:
    """The metric by which a cell counts; None if it covers only a part of the samples, or has no floor."""
    metric = next((name for name in registry.headline() if name in cell.scores), None)
    floors = cell.floors.get(metric or "")
    if metric is None or not floors or (cell.of is not None and cell.samples < cell.of):
        return None
    if fmean(floors.values()) > _HIGHEST_FLOOR:
        return None
    return metric


def _standing(model: str, counted: Sequence[Group]) -> Standing:
    parts = list(_parts(model, counted))
    cells = [part.cell for part in parts]
    having = {part.group.key.setting for part in parts}
    tasks = {task: fmean(part.whole() for part in own) for task, own in _by_task(parts).items()}
    return Standing(
        model, None, _interval(parts) if parts else None, tasks,
        tuple(group.key.setting for group in counted if group.key.setting not in having), sum(cell.samples for cell in cells),
        _share(cells, "capped"), _share(cells, "truncated"), is_baseline(model),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Part:
    """A model's scores and floors on one setting, summed by first author.

    Attributes:
        names: of the authors; scores, floors, counts: shape (authors,).
        ceiling: the score that stands for 1. It is not known without error, which the interval does not count.
    """

    group: Group
    cell: Cell
    names: tuple[str, ...]
    scores: NDArray[np.float64]
    floors: NDArray[np.float64]
    counts: NDArray[np.int64]
    ceiling: float

    def whole(self) -> float:
        n = self.counts.sum()
        return placed(float(self.scores.sum() / n), float(self.floors.sum() / n), self.ceiling)

    def without(self, authors: Sequence[str]) -> NDArray[np.float64]:
        """The figure without each of the authors, shape (authors,)."""
        places = {name: i for i, name in enumerate(self.names)}
        at = np.array([places.get(name, len(places)) for name in authors])
        scores, floors, counts = (one.sum() - np.append(one, 0)[at] for one in (self.scores, self.floors, self.counts))
        left = np.asarray((scores - floors) / (self.ceiling * counts - floors), dtype=np.float64)
        return left


def _parts(model: str, counted: Sequence[Group]) -> Iterator[_Part]:
    for group in counted:
        cell = next((cell for cell in group.cells if cell.model == model), None)
        metric = _whole(cell) if cell else None
        if cell is None or metric is None:
            continue
        scores, floors = cell.values[metric], cell.floors[metric]
        author_of = dict(zip(group.ids, group.clusters, strict=True))
        ids = [id_ for id_ in scores if id_ in floors]
        names = tuple(dict.fromkeys(author_of[id_] for id_ in ids))
        places = {name: i for i, name in enumerate(names)}
        at = [places[author_of[id_]] for id_ in ids]
        own, zero = (np.bincount(at, [one[id_] for id_ in ids]).astype(np.float64) for one in (scores, floors))
        yield _Part(group, cell, names, own, zero, np.bincount(at), _ceiling(group, metric, zero.sum() / len(ids)))


def _ceiling(group: Group, metric: str, floor: float) -> float:
    """What stands for 1. A ceiling that is not clearly above the floor says nothing."""
    known = group.ceilings.get(metric, 1.0)
    return known if known - floor > 1 - _HIGHEST_FLOOR else 1.0


def _by_task(parts: Sequence[_Part]) -> dict[str, list[_Part]]:
    found = {task: [part for part in parts if part.group.task == task] for task in TASKS}
    return {task: own for task, own in found.items() if own}


def _interval(parts: Sequence[_Part]) -> Interval:
    by_task = _by_task(parts).values()
    mean = fmean(fmean(part.whole() for part in own) for own in by_task)
    authors = list(dict.fromkeys(name for part in parts for name in part.names))
    samples = int(sum(part.counts.sum() for part in parts))
    if len(authors) < FEWEST or any(len(part.names) < 2 for part in parts):
        return Interval(mean, None, None, None, samples, len(authors))
    left = np.mean([np.mean([part.without(authors) for part in own], axis=0) for own in by_task], axis=0)
    weights = sum(
        np.array([dict(zip(part.names, part.counts, strict=True)).get(name, 0) for name in authors]) for part in parts
    )
    over = t_interval(mean, left, np.asarray(weights))
    return Interval(mean, over.low, over.high, over.p, samples, len(authors))


def _share(cells: Sequence[Cell], flag: str) -> float | None:
    noted = [value for cell in cells for value in cell.flags.get(flag, {}).values()]
    return fmean(noted) if noted else None


def _order(one: Standing) -> tuple[bool, int, float, str]:
    return one.is_baseline, len(one.missing), -(one.overall.mean if one.overall else -1.0), one.model


def _ranked(standings: Sequence[Standing]) -> Iterator[Standing]:
    whole = [one for one in standings if one.overall and not one.missing and not one.is_baseline]
    for one in standings:
        above = sum(_above(other, one) for other in whole)
        yield replace(one, rank=1 + above) if one in whole else one


def _above(other: Standing, one: Standing) -> bool:
    """Whether another model is better beyond chance; without intervals none is."""
    bounds = [standing.overall.bounds if standing.overall else None for standing in (other, one)]
    return bool(bounds[0] and bounds[1] and bounds[0][0] > bounds[1][1])
