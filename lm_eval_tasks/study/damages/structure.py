"""Damage to a text as a whole: its order, its length, parts of it taken from another text."""

from __future__ import annotations

import random

from lm_eval_tasks.core.text import sentences
from lm_eval_tasks.study.damages.base import Damaged, Material, some

_PADDING = (
    "This is an important problem that has received considerable attention in recent years.",
    "Our findings provide valuable insights and open up promising directions for future research.",
    "These results highlight the importance of a careful and comprehensive approach.",
    "Extensive experiments demonstrate the effectiveness of the proposed approach.",
    "We believe that this work will be of interest to a broad community.",
    "The approach is simple, general, and easy to apply in practice.",
)


def shuffle_sentences(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Put sentences into another order."""
    parts = sentences(text)
    places = some(len(parts), max(strength, 2 / max(2, len(parts))), rng)
    if len(places) < 2:
        return None
    order = places[1:] + places[:1] if len(places) == 2 else rng.sample(places, len(places))
    if order == places:
        order = places[1:] + places[:1]
    moved = list(parts)
    for place, source in zip(places, order, strict=True):
        moved[place] = parts[source]
    return Damaged(" ".join(moved), len(places))


def drop_sentences(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Leave sentences out; at least one stays."""
    parts = sentences(text)
    gone = set(some(len(parts), strength, rng)[: len(parts) - 1])
    return Damaged(" ".join(part for i, part in enumerate(parts) if i not in gone), len(gone)) if gone else None


def foreign_third(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Take the last third, or as much as the strength says, from another paper's text."""
    return _replace_end(text, material.other, strength)


def own_third(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Take the last third from another paper of the same author."""
    return _replace_end(text, material.own_other, strength)


def _replace_end(text: str, other: str, strength: float) -> Damaged | None:
    words, theirs = text.split(), other.split()
    count = round(len(words) / 3 * min(1.0, strength))
    if not count or len(theirs) < count:
        return None
    return Damaged(" ".join([*words[:-count], *theirs[-count:]]), count)


def add_padding(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Add fluent sentences that say nothing."""
    count = max(1, round(strength * len(_PADDING)))
    return Damaged(" ".join([text, *rng.sample(_PADDING, count)]), count)


def repetition(text: str, material: Material, strength: float, rng: random.Random) -> Damaged | None:
    """Say sentences twice."""
    parts = sentences(text)
    twice = set(some(len(parts), strength, rng))
    return (
        Damaged(" ".join(" ".join([part] * (2 if i in twice else 1)) for i, part in enumerate(parts)), len(twice))
        if twice
        else None
    )
