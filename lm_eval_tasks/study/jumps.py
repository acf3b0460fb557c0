"""Papers on which a model lies far above what models that cannot have seen them make likely.

A memorised paper is one such jump, whereas style moves all papers a little. The share of jumps among papers that a model may have seen is
compared with that among its papers that it cannot have seen (Fisher's exact test with Lancaster's mid-p), so that models which always
have some are not suspected.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lm_eval_tasks.study.exposure import Floats, Observation, informative, two_ways

# Standard deviations, by the median absolute deviation of papers that the model cannot have seen.
FAR = 4.0
_DEVIATION = 1.4826
_ROUNDS, _CLOSE = 500, 1e-10
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Jumps:
    """How many of a model's papers lie far above, of those that it may have seen and of those that it cannot have seen."""

    seen: int
    of_seen: int
    unseen: int
    of_unseen: int

    @property
    def p(self) -> float:
        """One-sided: how likely so many among the papers that it may have seen are if they are as frequent in both (mid-p)."""
        from scipy.stats import hypergeom

        draw = hypergeom(self.of_seen + self.of_unseen, self.seen + self.unseen, self.of_seen)
        return float(draw.sf(self.seen) + draw.pmf(self.seen) / 2)


def jumps(data: Sequence[Observation]) -> dict[str, Jumps]:
    """Model -> its jumps; without models of which one of both sides is missing."""
    usable = informative(data)
    if not usable:
        return {}
    residuals = _residuals(usable)
    by_model = {}
    for model in dict.fromkeys(observation.model for observation in usable):
        own = [(o.open, value) for o, value in zip(usable, residuals, strict=True) if o.model == model]
        seen = np.array([value for is_open, value in own if is_open and not np.isnan(value)])
        unseen = np.array([value for is_open, value in own if not is_open and not np.isnan(value)])
        if not len(seen) or not len(unseen):
            continue
        middle = float(np.median(unseen))
        deviation = _DEVIATION * float(np.median(np.abs(unseen - middle)))
        if deviation:
            far = middle + FAR * deviation
            by_model[model] = Jumps(int((seen > far).sum()), len(seen), int((unseen > far).sum()), len(unseen))
    return by_model


def _residuals(usable: Sequence[Observation]) -> Floats:
    """Each score minus what others that cannot have seen the paper make of it, in units of one score's error; nan without others."""
    scores = np.array([observation.score for observation in usable])
    unseen = np.array([not observation.open for observation in usable])
    papers, models = two_ways(usable)
    skill = _skills(scores[unseen], papers[unseen], models[unseen], int(models.max()) + 1)
    centred = scores - skill[models]
    n = int(papers.max()) + 1
    sums = np.bincount(papers[unseen], weights=centred[unseen], minlength=n)[papers]
    counts = np.bincount(papers[unseen], minlength=n)[papers]
    sums, counts = sums - np.where(unseen, centred, 0.0), counts - unseen
    with np.errstate(divide="ignore", invalid="ignore"):
        residuals: Floats = (centred - sums / counts) / np.sqrt(1 + 1 / counts)
    return np.where(counts > 0, residuals, np.nan)


def _skills(scores: Floats, papers: Codes, models: Codes, count: int) -> Floats:
    """Each model's level, where a score is that of the paper plus that of the model."""
    skills = np.zeros(count)
    of_models, of_papers = np.maximum(1, np.bincount(models, minlength=count)), np.maximum(1, np.bincount(papers))
    for _ in range(_ROUNDS):
        before = skills
        levels = np.bincount(papers, weights=scores - skills[models]) / of_papers
        skills = np.bincount(models, weights=scores - levels[papers], minlength=count) / of_models
        if float(np.abs(skills - before).max()) < _CLOSE:
            break
    return skills
