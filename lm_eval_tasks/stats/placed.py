"""Scores between their floor, 0, and a perfect score, 1, and their means over settings and tasks.

A score s with floor f is placed at (s - f) / (1 - f): 0 is what the best program without a language model
scores. Intervals leave out one first author at a time, from all settings at once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.base.intervals import FEWEST, Estimate, Interval, effective, has_enough, numbered
from lm_eval_tasks.stats.columns import Column

# A higher floor leaves no room above it.
HIGHEST_FLOOR = 0.9


@dataclass(frozen=True, slots=True)
class PlacedTask:
    """A model's scores and floors on one setting by one metric, summed by first author: `names`, and of shape (authors,) the sums and
    counts.
    """

    setting: str
    task: str
    names: tuple[str, ...]
    scores: NDArray[np.float64]
    floors: NDArray[np.float64]
    counts: NDArray[np.int64]

    def mean(self) -> float:
        return self.placed(float(self.scores.sum() / self.counts.sum()))

    def placed(self, score: float) -> float:
        """Return the figure of a mean score."""
        floor = float(self.floors.sum() / self.counts.sum())
        return (score - floor) / (1 - floor)

    def without(self, authors: Sequence[str]) -> NDArray[np.float64]:
        """Return the figure without each of the authors, shape (authors,)."""
        at = self._indices(authors)
        scores = self.scores.sum() - np.append(self.scores, 0)[at]
        floors = self.floors.sum() - np.append(self.floors, 0)[at]
        counts = self.counts.sum() - np.append(self.counts, 0)[at]
        # Without the only author nothing is left; where all other floors are 1, no room is.
        room = counts - floors
        return np.asarray((scores - floors) / np.where(room > 0, room, 1), dtype=np.float64)

    def weights(self, authors: Sequence[str]) -> NDArray[np.float64]:
        """Return the share of the samples that is each author's, shape (authors,)."""
        return np.asarray(np.append(self.counts, 0)[self._indices(authors)] / self.counts.sum(), dtype=np.float64)

    def _indices(self, authors: Sequence[str]) -> NDArray[np.int64]:
        indices = {name: i for i, name in enumerate(self.names)}
        return np.array([indices.get(name, len(indices)) for name in authors], dtype=np.int64)


def place_task(setting: str, task: str, scores: Column | None, floors: Column | None) -> PlacedTask | None:
    """Return a model's part of one setting, with what the floor would score; None if no score has a floor, or the floor leaves no room."""
    both = scores.over(floors.scores) if scores and floors else None
    if not both or not floors:
        return None
    floor_of = [floors.scores[id_] for id_ in both.scores]
    if fmean(floor_of) > HIGHEST_FLOOR:
        return None
    names = tuple(dict.fromkeys(both.clusters.values()))
    at = numbered(list(both.clusters.values()))
    score_sums = np.bincount(at, list(both.scores.values())).astype(np.float64)
    return PlacedTask(setting, task, names, score_sums, np.bincount(at, floor_of).astype(np.float64), np.bincount(at))


def by_task(tasks: Iterable[PlacedTask]) -> list[list[PlacedTask]]:
    """Group placed tasks in sets of one task each: settings are averaged before tasks."""
    sets: dict[str, list[PlacedTask]] = {}
    for task in tasks:
        sets.setdefault(task.task, []).append(task)
    return list(sets.values())


def interval_over(sets: Sequence[Sequence[PlacedTask]]) -> Interval:
    """Return the mean over sets of parts, each the mean of its own, with its interval over the first authors of all.

    There is no interval if a part is too small: what its first authors add to the error cannot be told.
    """
    estimate = _estimate(sets, _authors(sets))
    if too_small(task for members in sets for task in members):
        return estimate.bare("too few first authors in one of the settings")
    return estimate.level((_placed_mean(sets, 0.0), _placed_mean(sets, 1.0)))


def _placed_mean(sets: Sequence[Sequence[PlacedTask]], score: float) -> float:
    """Compute the mean over sets if each score were this."""
    return fmean(fmean(task.placed(score) for task in members) for members in sets)


def difference_over(
    sets: Sequence[Sequence[PlacedTask]], others: Sequence[Sequence[PlacedTask]], fewest: int = FEWEST
) -> Interval:
    """Return how much higher that mean is for one model than for another, over the same papers; `fewest` first authors are needed in each
    part for an interval.
    """
    authors = _authors(sets)
    estimate, other = _estimate(sets, authors), _estimate(others, authors)
    apart = replace(
        estimate,
        value=estimate.value - other.value,
        without=estimate.without - other.without,
        freedom=_freedom(sets, others),
    )
    if too_small((task for members in sets for task in members), fewest):
        return apart.bare(f"fewer than {fewest} first authors in one of the settings")
    return apart.difference(fewest)


def _authors(sets: Sequence[Sequence[PlacedTask]]) -> list[str]:
    return list(dict.fromkeys(name for members in sets for task in members for name in task.names))


def _estimate(sets: Sequence[Sequence[PlacedTask]], authors: Sequence[str]) -> Estimate:
    without = [np.mean([task.without(authors) for task in members], axis=0) for members in sets]
    weights = [np.mean([task.weights(authors) for task in members], axis=0) for members in sets]
    mean = fmean(fmean(task.mean() for task in members) for members in sets)
    samples = sum(int(task.counts.sum()) for members in sets for task in members)
    return Estimate(
        mean,
        np.asarray(np.mean(without, axis=0), dtype=np.float64),
        np.asarray(np.mean(weights, axis=0), dtype=np.float64),
        samples,
        _freedom(sets),
    )


def _freedom(sets: Sequence[Sequence[PlacedTask]], others: Sequence[Sequence[PlacedTask]] | None = None) -> float:
    """Return degrees of freedom of the error of a mean over sets, or of how much higher it is than that of others. An author's shifts are
    summed over all parts, so that tasks about the same papers add none; many authors of one part lend nothing to the few of another: the
    variance of each part is its authors', and authors count by their share of all (Kish 1965).
    """
    authors = _authors(sets)
    of_author = np.zeros(len(authors))
    for i, members in enumerate(sets):
        for k, task in enumerate(members):
            shifts = task.without(task.names) - task.mean()
            if others is not None:
                shifts = shifts - (others[i][k].without(task.names) - others[i][k].mean())
            of_author += float((shifts**2).sum()) / (len(sets) * len(members)) ** 2 * task.weights(authors)
    if not of_author.any():
        return min(effective(task.counts) - 1 for members in sets for task in members)
    return effective(of_author) - 1


def too_small(tasks: Iterable[PlacedTask], fewest: int = FEWEST) -> list[str]:
    """Return the settings of placed tasks with fewer first authors than an interval needs, or a few that have most of the samples."""
    return [task.setting for task in tasks if not has_enough(task.counts, fewest)]
