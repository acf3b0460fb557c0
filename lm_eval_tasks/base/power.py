"""The smallest difference between two models that a number of samples can show."""

from __future__ import annotations

from collections.abc import Collection

# A test at 5 % that finds a difference in four out of five cases.
LEVEL = 0.95
POWER = 0.8
# Fewer first authors say too little about how others would do; fewer than so many of equal weight, too.
FEWEST = 10
FEWEST_EFFECTIVE = 8
# A gain can hide a collapse on few samples.
FEWEST_OF_GAINS = 30


def effective(weights: Collection[float]) -> float:
    """How many clusters of equal weight count as much as these (Kish 1965)."""
    return float(sum(weights)) ** 2 / float(sum(weight * weight for weight in weights))


def detectable(error: float, freedom: float, comparisons: int = 1) -> float:
    """The smallest difference that a test at 5 % finds in four out of five cases: the error is an estimate too, so that t is noncentral
    (approximated as Johnson and Welch 1940, Biometrika 31).

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
    """The same for a design; papers by one first author are assumed to come and go together.

    Args:
        samples: how many each first author has.
        spread: standard deviation of the difference between two models on one sample.

    Returns:
        None with too few first authors for an interval.
    """
    if len(samples) < FEWEST or effective(samples) < FEWEST_EFFECTIVE:
        return None
    independent = effective(samples)
    return detectable(spread / independent**0.5, independent - 1, comparisons)
