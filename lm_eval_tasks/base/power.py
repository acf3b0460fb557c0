"""The smallest difference between two models that a number of samples can show."""

from __future__ import annotations

from collections.abc import Iterable

# A test at 5 % that finds a difference in four out of five cases.
LEVEL = 0.95
POWER = 0.8
# Fewer first authors say too little about how others would do.
FEWEST = 10


def detectable(error: float, freedom: float, power: float = POWER) -> float:
    """The smallest difference that a test at 5 % finds with a power (0.8 usually), for a standard error."""
    # scipy takes a sixth of a second to import, and `push` needs only the constants.
    from scipy import special

    return error * float(special.stdtrit(freedom, (1 + LEVEL) / 2) + special.stdtrit(freedom, power))


def detectable_with(samples: Iterable[int], spread: float) -> float | None:
    """The same for a design; papers by one first author are assumed to come and go together.

    Args:
        samples: how many each first author has.
        spread: standard deviation of the difference between two models on one sample.

    Returns:
        None with fewer than `FEWEST` first authors.
    """
    counts = list(samples)
    if len(counts) < FEWEST:
        return None
    independent = sum(counts) ** 2 / sum(n * n for n in counts)
    return detectable(spread / independent**0.5, independent - 1)
