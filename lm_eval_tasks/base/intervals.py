"""Confidence intervals over papers that are not independent: papers of one first author come and go together.

There are two estimators: the level of a score, and a difference. Both rest on the jackknife that leaves out one cluster at a time (Miller
2024, arXiv 2411.00640, for why clusters count; Efron and Stein 1981); clusters with many papers lower the degrees of freedom.
`benchmarks/figures.py` measures how often such intervals contain the truth.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

# A test at 5 % that finds a difference in four out of five cases.
LEVEL, POWER = 0.95, 0.8
# Fewer first authors say too little about how others would do; fewer than so many of equal weight, too. Right and wrong answers by fewer
# than twelve can have so few means that their level's interval is too wide or too narrow.
FEWEST, FEWEST_EFFECTIVE, FEWEST_OF_LEVELS = 10, 8, 12
# A gain can hide a collapse on few samples.
FEWEST_OF_GAINS = 30
_ROUNDING = 1e-9
# An error of so small a part of a difference is that of rounded scores.
_ALIKE = 1e-6
# What happens to fewer than three in n of independent answers is often not among n of them (Hanley and Lippman-Hand 1983, JAMA 249).
_UNSEEN = 3
# Half widths by which that may move a level, and by how much more than right and wrong answers the mean may be skewed: beyond, too few
# intervals hold the truth.
_FARTHEST, _MOST_SKEWED = 8, 0.2
_EQUAL = "all scores, or the means of all first authors, are equal"
NO_INTERVAL = (
    f"If an interval is missing, the papers have fewer than {FEWEST_OF_LEVELS} first authors ({FEWEST} for differences, {FEWEST_OF_GAINS} "
    "for gains), a few authors have most of them, all scores, or all differences, are equal, a few scores are far from all others, or "
    "scores are so alike that one rare failure would move the mean far."
)
# The limits of most scores.
SHARES = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, its interval, and how unlikely 0 is as the mean.

    Attributes:
        low, high: None if there is no interval, see `missing`.
        p: of a difference, the two-sided p-value of "the mean is 0"; None if it cannot be told.
        error, freedom: the standard error and its degrees of freedom; None likewise.
        missing: why there is no interval; "" if there is one, or if it is not known.
    """

    mean: float
    low: float | None
    high: float | None
    p: float | None
    samples: int
    clusters: int
    error: float | None = None
    freedom: float | None = None
    missing: str = ""

    @property
    def bounds(self) -> tuple[float, float] | None:
        return None if self.low is None or self.high is None else (self.low, self.high)

    def detectable(self, comparisons: int = 1) -> float | None:
        """Return the smallest true difference that this many samples show in four out of five cases, as one of several comparisons."""
        return None if not self.error or self.freedom is None else detectable(self.error, self.freedom, comparisons)

    def reversed(self) -> "Interval":
        low, high = (None, None) if self.bounds is None else (-self.bounds[1], -self.bounds[0])
        return replace(self, mean=-self.mean, low=low, high=high)


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate with what its clusters say of its error.

    Attributes:
        without: the estimate without each cluster, shape (clusters,).
        weights: how much each cluster counts, shape (clusters,).
        freedom: degrees of freedom of the error.
        spread, skewness: standard deviation and skewness of the samples' values; 0 if the estimate is no mean of them.
    """

    value: float
    without: NDArray[np.float64]
    weights: NDArray[np.float64]
    samples: int
    freedom: float
    spread: float = 0.0
    skewness: float = 0.0

    @property
    def error(self) -> float:
        """The standard error by the jackknife."""
        n = len(self.without)
        return math.sqrt((n - 1) / n * float(((self.without - self.value) ** 2).sum()))

    @property
    def t(self) -> float:
        """How many standard errors an interval reaches to each side."""
        from scipy import special

        return float(special.stdtrit(self.freedom, (1 + LEVEL) / 2))

    def bare(self, missing: str = "") -> Interval:
        return Interval(self.value, None, None, None, self.samples, len(self.weights), missing=missing)

    def _few(self, fewest: int) -> str:
        """Say why the clusters are too few."""
        if len(self.weights) < fewest:
            return f"fewer than {fewest} first authors"
        return "a few first authors have so many of the papers that the others count too little"

    def level(self, limits: tuple[float, float] = SHARES) -> Interval:
        """Return the interval of the level of a score: Wilson's (1927), for the number of independent answers that have the same error
        (Korn and Graubard 1998, Survey Methodology 24). A t interval is too short near the limits, the least and the greatest value.
        """
        width = limits[1] - limits[0]
        share = (self.value - limits[0]) / width
        spread = share * (1 - share)
        counted = effective(self.weights)
        if counted < FEWEST_OF_LEVELS - _ROUNDING:
            return self.bare(self._few(FEWEST_OF_LEVELS))
        if self.error < _ROUNDING or spread < _ROUNDING:
            return self.bare(_EQUAL)
        independent = spread / (self.error / width) ** 2
        middle = share + self.t**2 / (2 * independent)
        reach = self.t * math.sqrt(spread / independent + (self.t / (2 * independent)) ** 2)
        scale = 1 + self.t**2 / independent
        # Wilson's interval assumes that scores are as skewed as right and wrong answers, drawn together to the spread of the scores.
        assumed = (1 - 2 * share) * self.spread / (width * spread)
        if math.copysign(1, self.skewness) * (self.skewness - assumed) > _MOST_SKEWED * counted**0.5:
            return self.bare("a few scores are far from all others")
        if _UNSEEN / counted * max(share, 1 - share) > _FARTHEST * reach / scale:
            return self.bare("one rare failure would move the mean far")
        low, high = (limits[0] + width * (middle + side * reach) / scale for side in (-1, 1))
        return replace(self.bare(), low=low, high=high, error=self.error, freedom=self.freedom)

    def difference(self, fewest: int = FEWEST) -> Interval:
        """Return the t interval of a difference, or of any mean without limits, if there are enough clusters."""
        from scipy import special

        if not has_enough(self.weights, fewest):
            return self.bare(self._few(fewest))
        if self.error < _ROUNDING + _ALIKE * abs(self.value):
            # All clusters agree: nothing tells how far others would not, unless there is no difference at all.
            return self.bare(_EQUAL) if abs(self.value) > _ROUNDING else replace(self.bare(_EQUAL), p=1.0)
        p = 2 * float(special.stdtr(self.freedom, -abs(self.value) / self.error))
        reach = self.t * self.error
        return replace(
            self.bare(), low=self.value - reach, high=self.value + reach, p=p, error=self.error, freedom=self.freedom
        )


def numbered(clusters: Sequence[str]) -> NDArray[np.int64]:
    """Return the number of each sample's cluster, counted from 0 in their order, shape (samples,)."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    return np.array([numbers[name] for name in clusters], dtype=np.int64)


def mean_of(values: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """Return the mean of the values of at least one sample; its cluster is what a sample shares with those that it depends on."""
    of = numbered(clusters)
    array = np.asarray(values, dtype=float)
    sums, counts = np.bincount(of, weights=array), np.bincount(of)
    without, weights = (sums.sum() - sums) / np.maximum(len(array) - counts, 1), counts.astype(np.float64)
    apart, spread = array - array.mean(), float(array.std())
    skewness = float((apart**3).mean()) / spread**3 if spread > _ROUNDING else 0.0
    return Estimate(float(array.mean()), without, weights, len(array), effective(weights) - 1, spread, skewness)


def level(values: Sequence[float], clusters: Sequence[str]) -> Interval:
    """Return the level of a score between 0 and 1, see `mean_of` and `Estimate.level`."""
    return mean_of(values, clusters).level()


def difference(values: Sequence[float], clusters: Sequence[str], fewest: int = FEWEST) -> Interval:
    """Return the mean of paired differences, see `mean_of` and `Estimate.difference`."""
    return mean_of(values, clusters).difference(fewest)


def holm(p_values: Sequence[float], comparisons: int = 0) -> list[float]:
    """Correct p-values for their number (Holm 1979), or for that of all comparisons that were planned, if some have no p-value."""
    if any(map(math.isnan, p_values)):
        raise ValueError("a p-value is no number")
    most = max(len(p_values), comparisons)
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = accumulate((min(1.0, (most - rank) * p_values[i]) for rank, i in enumerate(order)), max)
    return [value for _, value in sorted(zip(order, corrected, strict=True))]


def effective(weights: Collection[float]) -> float:
    """Return how many clusters of equal weight count as much as these (Kish 1965)."""
    return float(sum(weights)) ** 2 / float(sum(weight * weight for weight in weights))


def has_enough(weights: Collection[float], fewest: int = FEWEST) -> bool:
    """Tell whether there are enough clusters for a difference, none of which counts for most of them."""
    return len(weights) >= fewest and effective(weights) >= FEWEST_EFFECTIVE - _ROUNDING


def detectable(error: float, freedom: float, comparisons: int = 1) -> float:
    """Return the smallest difference that a test at 5 % finds in four out of five cases: the error is an estimate too, so that t is
    noncentral (approximated as Johnson and Welch 1940, Biometrika 31).

    Args:
        error: standard error of the difference.
        comparisons: how many are made, for which Holm's method corrects.
    """
    # scipy takes a sixth of a second to import, and `push` needs only the constants.
    from scipy import special

    t = float(special.stdtrit(freedom, 1 - (1 - LEVEL) / (2 * comparisons)))
    shift: float = t * (1 + 1 / (4 * freedom)) + float(special.ndtri(POWER)) * (1 + t**2 / (2 * freedom)) ** 0.5
    return error * shift


def detectable_with(samples: Collection[int], spread: float, comparisons: int = 1) -> float | None:
    """Return the same for a design, by how many samples each first author has, which are assumed to come and go together, and the standard
    deviation of the difference between two models on one sample; None with too few first authors for an interval.
    """
    if not has_enough(samples):
        return None
    independent = effective(samples)
    return detectable(spread / independent**0.5, independent - 1, comparisons)
