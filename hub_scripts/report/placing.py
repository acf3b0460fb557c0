"""Scores between their floor, 0, and their ceiling, 1.

A score s with floor f and ceiling c is placed at (s - f) / (c - f): 0 is what the wrong paper's text would score (SCALAR: guessing), 1
what the authors' own first version scores, or a perfect score if the round does not say that. Intervals are jackknife t intervals that
leave out one first author at a time. The ceiling's own error is not in them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hub_scripts.report.cells import Cell, Group, Values, with_interval
from lm_eval_tasks.core.intervals import Interval, t_interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL, NO_MODEL

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest
    from hub_scripts.report.cells import Key
    from lm_eval_tasks.samples.results import Results

# A higher floor leaves no room above it.
_HIGHEST_FLOOR = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """A model's scores and floors on one setting by one metric, summed by first author.

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

    def mean(self) -> float:
        """The figure over all authors."""
        n = self.counts.sum()
        score, floor = float(self.scores.sum() / n), float(self.floors.sum() / n)
        return (score - floor) / (self.ceiling - floor)

    def without(self, authors: Sequence[str]) -> NDArray[np.float64]:
        """The figure without each of the authors, shape (authors,)."""
        places = {name: i for i, name in enumerate(self.names)}
        at = np.array([places.get(name, len(places)) for name in authors])
        scores = self.scores.sum() - np.append(self.scores, 0)[at]
        floors = self.floors.sum() - np.append(self.floors, 0)[at]
        counts = self.counts.sum() - np.append(self.counts, 0)[at]
        figures = np.asarray((scores - floors) / (self.ceiling * counts - floors), dtype=np.float64)
        return figures


def part_of(group: Group, cell: Cell, metric: str) -> Part | None:
    """A model's part by one metric; None if it has no scores with a floor, or the floor leaves no room."""
    scores, floors = cell.values.get(metric, {}), cell.floors.get(metric, {})
    author_of = dict(zip(group.ids, group.clusters, strict=True))
    ids = [id_ for id_ in scores if id_ in floors]
    if not ids or (ceiling := _ceiling(group, metric)) is None:
        return None
    names = tuple(dict.fromkeys(author_of[id_] for id_ in ids))
    places = {name: i for i, name in enumerate(names)}
    at = [places[author_of[id_]] for id_ in ids]
    score_sums = np.bincount(at, [scores[id_] for id_ in ids]).astype(np.float64)
    floor_sums = np.bincount(at, [floors[id_] for id_ in ids]).astype(np.float64)
    return Part(group, cell, names, score_sums, floor_sums, np.bincount(at), ceiling)


def _ceiling(group: Group, metric: str) -> float | None:
    """What stands for 1, the same for all models of a setting; None if its floor leaves no room.

    A ceiling that is not clearly above the floor says nothing.
    """
    floors = {id_: floor for cell in group.cells for id_, floor in cell.floors.get(metric, {}).items()}
    floor, stated = fmean(floors.values()), group.ceilings.get(metric, 1.0)
    return next((ceiling for ceiling in (stated, 1.0) if ceiling - floor >= 1 - _HIGHEST_FLOOR), None)


def interval_over(sets: Sequence[Sequence[Part]]) -> Interval:
    """The mean over sets of parts, each the mean of its own, with its interval over the first authors of all.

    There is no interval if a part has fewer first authors than `FEWEST`: what they add to the error cannot be told.
    """
    return _interval(sets, None)


def difference_over(sets: Sequence[Sequence[Part]], others: Sequence[Sequence[Part]]) -> Interval:
    """How much higher that mean is for one model than for another, over the same papers."""
    return _interval(sets, others)


def _interval(sets: Sequence[Sequence[Part]], others: Sequence[Sequence[Part]] | None) -> Interval:
    parts = [part for members in sets for part in members]
    authors = list(dict.fromkeys(name for part in parts for name in part.names))
    mean = _mean(sets) - (_mean(others) if others is not None else 0.0)
    samples = int(sum(part.counts.sum() for part in parts))
    if too_small(parts):
        return Interval(mean, None, None, None, samples, len(authors))
    replicates = _replicates(sets, authors) - (_replicates(others, authors) if others is not None else 0.0)
    weights = sum(
        np.array([dict(zip(part.names, part.counts, strict=True)).get(name, 0) for name in authors]) for part in parts
    )
    over = t_interval(mean, replicates, np.asarray(weights))
    return Interval(mean, over.low, over.high, over.p, samples, len(authors))


def _mean(sets: Sequence[Sequence[Part]]) -> float:
    return fmean(fmean(part.mean() for part in members) for members in sets)


def _replicates(sets: Sequence[Sequence[Part]], authors: Sequence[str]) -> NDArray[np.float64]:
    """The mean without each of the authors, shape (authors,)."""
    without = [np.mean([part.without(authors) for part in members], axis=0) for members in sets]
    return np.asarray(np.mean(without, axis=0), dtype=np.float64)


def too_small(parts: Iterable[Part]) -> list[str]:
    """The settings of parts with fewer first authors than `FEWEST`."""
    return [part.group.key.setting for part in parts if len(part.names) < FEWEST]


def placed_scores(groups: Sequence[Group]) -> dict[tuple[Key, str], Values]:
    """(setting, model) -> its scores between floor and ceiling, by every metric that has a floor."""
    scores: dict[tuple[Key, str], Values] = {}
    for group in groups:
        for cell in group.cells:
            for metric in cell.floors:
                if part := part_of(group, cell, metric):
                    scores.setdefault((group.key, cell.model), {})[metric] = with_interval(interval_over([[part]]))
    return scores


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """The BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}


def ceilings_of(round_: str, task: str, manifests: Iterable[Manifest], scorers: Collection[str]) -> dict[str, float]:
    """Metric -> ceiling of a task's settings; nothing where no manifest of the round says it, or too few authors revised.

    Args:
        task: as settings name it, "abs".
        scorers: the BERTScore models of the scores that the ceiling is shown with.
    """
    for manifest in manifests:
        ceiling = {str(name): value for name, value in manifest.ceilings.items()}.get(task)
        if manifest.round == round_ and ceiling:
            same = set(scorers) == {ceiling.model}
            figures = {"rouge_l": ceiling.rouge_l, "bertscore": ceiling.bertscore if same else None}
            return {
                name: estimate.mean
                for name, estimate in figures.items()
                if estimate is not None and estimate.low is not None
            }
    return {}
