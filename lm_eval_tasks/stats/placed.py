"""Scores between their floor, 0, and a perfect score, 1, and their means over settings and tasks.

A score s with floor f is placed at (s - f) / (1 - f): 0 is what other papers' texts or function words score (SCALAR: guessing). Intervals
are jackknife t intervals that leave out one first author at a time, from all settings at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.base.intervals import Interval, freedom_of, freedom_together, t_interval, within_limits
from lm_eval_tasks.base.power import FEWEST


@dataclass(frozen=True, slots=True)
class PlacedTask:
    """A model's scores and floors on one setting by one metric, summed by first author.

    Attributes:
        names: of the authors; scores, floors, counts: shape (authors,).
        are_shares: whether all scores are right or wrong.
    """

    setting: str
    task: str
    names: tuple[str, ...]
    scores: NDArray[np.float64]
    floors: NDArray[np.float64]
    counts: NDArray[np.int64]
    are_shares: bool = False

    def mean(self) -> float:
        """The figure over all authors."""
        return self.placed(float(self.scores.sum() / self.counts.sum()))

    def placed(self, score: float) -> float:
        """The figure of a mean score."""
        floor = float(self.floors.sum() / self.counts.sum())
        return (score - floor) / (1 - floor)

    def without(self, authors: Sequence[str]) -> NDArray[np.float64]:
        """The figure without each of the authors, shape (authors,)."""
        places = {name: i for i, name in enumerate(self.names)}
        at = np.array([places.get(name, len(places)) for name in authors])
        scores = self.scores.sum() - np.append(self.scores, 0)[at]
        floors = self.floors.sum() - np.append(self.floors, 0)[at]
        counts = self.counts.sum() - np.append(self.counts, 0)[at]
        figures = np.asarray((scores - floors) / (counts - floors), dtype=np.float64)
        return figures


def part_of(
    setting: str,
    task: str,
    scores: Mapping[str, float],
    floors: Mapping[str, float],
    authors: Mapping[str, str],
) -> PlacedTask | None:
    """A model's part of one setting; None if no score has a floor.

    Args:
        scores, floors, authors: sample -> score, what its floor would score, its first author.
    """
    ids = [id_ for id_ in scores if id_ in floors]
    if not ids:
        return None
    names = tuple(dict.fromkeys(authors[id_] for id_ in ids))
    places = {name: i for i, name in enumerate(names)}
    at = [places[authors[id_]] for id_ in ids]
    score_sums = np.bincount(at, [scores[id_] for id_ in ids]).astype(np.float64)
    floor_sums = np.bincount(at, [floors[id_] for id_ in ids]).astype(np.float64)
    are_shares = all(scores[id_] in (0.0, 1.0) for id_ in ids)
    return PlacedTask(setting, task, names, score_sums, floor_sums, np.bincount(at), are_shares)


def by_task(parts: Iterable[PlacedTask]) -> list[list[PlacedTask]]:
    """Parts in sets of one task each: settings are averaged before tasks."""
    sets: dict[str, list[PlacedTask]] = {}
    for part in parts:
        sets.setdefault(part.task, []).append(part)
    return list(sets.values())


def interval_over(sets: Sequence[Sequence[PlacedTask]]) -> Interval:
    """The mean over sets of parts, each the mean of its own, with its interval over the first authors of all.

    There is no interval if a part has fewer first authors than `FEWEST`: what they add to the error cannot be told.
    """
    return _interval(sets, None)


def difference_over(sets: Sequence[Sequence[PlacedTask]], others: Sequence[Sequence[PlacedTask]]) -> Interval:
    """How much higher that mean is for one model than for another, over the same papers."""
    return _interval(sets, others)


def _interval(sets: Sequence[Sequence[PlacedTask]], others: Sequence[Sequence[PlacedTask]] | None) -> Interval:
    parts = [part for members in sets for part in members]
    authors = list(dict.fromkeys(name for part in parts for name in part.names))
    mean = _mean(sets) - (_mean(others) if others is not None else 0.0)
    samples = int(sum(part.counts.sum() for part in parts))
    if too_small(parts):
        return Interval(mean, None, None, None, samples, len(authors))
    replicates = _replicates(sets, authors) - (_replicates(others, authors) if others is not None else 0.0)
    over = t_interval(mean, replicates, _freedom(sets, others))
    least, most = (fmean(fmean(part.placed(score) for part in members) for members in sets) for score in (0.0, 1.0))
    limits = (least, most) if others is None else (least - most, most - least)
    are_shares = others is None and all(part.are_shares for part in parts)
    return within_limits(mean, over, samples, len(authors), limits, are_shares=are_shares)


def _freedom(sets: Sequence[Sequence[PlacedTask]], others: Sequence[Sequence[PlacedTask]] | None) -> float:
    """Degrees of freedom: a part with few authors gives few, if much of the error is its own (Welch and Satterthwaite)."""
    terms = []
    for i, members in enumerate(sets):
        for k, part in enumerate(members):
            gains = part.without(part.names) - part.mean()
            if others is not None:
                gains = gains - (others[i][k].without(part.names) - others[i][k].mean())
            n = len(part.names)
            variance = (n - 1) / n * float((gains**2).sum()) / (len(sets) * len(members)) ** 2
            terms.append((variance, freedom_of(part.counts)))
    return freedom_together(terms) if any(variance for variance, _ in terms) else min(freedom for _, freedom in terms)


def _mean(sets: Sequence[Sequence[PlacedTask]]) -> float:
    return fmean(fmean(part.mean() for part in members) for members in sets)


def _replicates(sets: Sequence[Sequence[PlacedTask]], authors: Sequence[str]) -> NDArray[np.float64]:
    """The mean without each of the authors, shape (authors,)."""
    without = [np.mean([part.without(authors) for part in members], axis=0) for members in sets]
    return np.asarray(np.mean(without, axis=0), dtype=np.float64)


def too_small(parts: Iterable[PlacedTask]) -> list[str]:
    """The settings of parts with fewer first authors than `FEWEST`."""
    return [part.setting for part in parts if len(part.names) < FEWEST]
