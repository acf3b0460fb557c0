"""The registry of scales that a results page may show scores on, besides their own; whoever measures one adds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# Sample -> score and first author.
Scores = Mapping[str, tuple[float, str]]


@dataclass(frozen=True, slots=True)
class SettingScores:
    """One setting of one round.

    Attributes:
        chance: of guessing, if answers are right or wrong; None for scores.
        scores: metric -> model -> its scores.
    """

    round: str
    setting: str
    chance: float | None
    scores: Mapping[str, Mapping[str, Scores]]


# (round, setting, model) -> metric -> mean, and low and high if there is an interval.
Scaled = dict[tuple[str, str, str], dict[str, tuple[float, ...]]]
# Settings, and the models that put several rounds on one scale, separated by commas; None for the usual ones.
Scale = Callable[[Sequence[SettingScores], str | None], Scaled]
_SCALES: dict[str, Scale] = {}


def register(name: str, scale: Scale) -> None:
    """Add a scale."""
    _SCALES[name] = scale


def scores_on_scales(settings: Sequence[SettingScores], anchors: str | None) -> dict[str, Scaled]:
    """Name of a scale -> the scores on it."""
    return {name: scale(settings, anchors) for name, scale in _SCALES.items()}
