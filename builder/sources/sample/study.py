"""What a made-up paper is about and what it found."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builder.sources.sample import phrases
from builder.sources.sample.lexicon import DEVICES, QUALITIES, Topic, coin, coin_collection

# What a paper begins with.
_BEGINNINGS = (
    ("problem", "gap", "signal", "method"),
    ("gap", "problem", "signal", "method"),
    ("signal", "problem", "method"),
    ("method", "problem", "signal"),
    ("problem", "signal", "method"),
    ("problem", "method", "signal"),
)


@dataclass(frozen=True, slots=True)
class Study:
    """What a made-up paper is about and what it found; its texts say nothing else.

    Attributes:
        method: the name of what it proposes; first, second: that method's parts.
        collections: that it is measured on, the main one first.
        numbers: gain, cost, share, window, runs, loss, limit.
        rival: the method that it is compared with.
        voice: what it calls things that have several names.
        claims: what it claims, in its order.
    """

    subject: str
    topic: Topic
    method: str
    first: str
    second: str
    collections: tuple[str, str, str]
    numbers: Mapping[str, str]
    rival: str
    voice: Mapping[str, str]
    claims: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """What the braces of a phrase stand for; a capital begins a sentence."""
        data, data2, data3 = self.collections
        topic = self.topic
        facts = {
            "subject": self.subject,
            "task": topic.task,
            "material": topic.material,
            "obstacle": topic.obstacle,
            "signal": topic.signal,
            "method": self.method,
            "first": self.first,
            "second": self.second,
            "data": data,
            "data2": data2,
            "data3": data3,
            "rival": self.rival,
            **self.voice,
            **self.numbers,
        }
        return facts | {name.capitalize(): words[:1].upper() + words[1:] for name, words in facts.items()}


def make_study(rng: random.Random, subject: str, topic: Topic, collections: Sequence[str], rival: str) -> Study:
    """A study of a topic.

    Args:
        collections: that its group measures on; one more is its own.
    """
    first, second = rng.sample(QUALITIES, 2)
    device, other = rng.sample(DEVICES, 2)
    numbers = {
        "gain": rng.randint(6, 41),
        "cost": rng.randint(31, 89),
        "share": rng.randint(61, 97),
        "window": rng.randint(12, 99),
        "runs": rng.randint(3, 29),
        "loss": f"{rng.randint(11, 79) / 10:.1f}",
        "limit": 50 * rng.randint(3, 59),
    }
    data, data2 = rng.sample(list(collections), 2)
    return Study(
        subject,
        topic,
        coin(rng),
        f"{first} {device}",
        f"{second} {other}",
        (data, coin_collection(rng), data2),
        {name: str(number) for name, number in numbers.items()},
        rival,
        voice={name: rng.choice(words) for name, words in phrases.VOICES.items()},
        claims=_order(rng),
    )


def _order(rng: random.Random) -> tuple[str, ...]:
    """Most of the claims, first what the paper is about, then what it found, then the rest."""
    begin, found = rng.choice(_BEGINNINGS), ["result", "breadth"]
    rest = rng.sample(["ablation", "limit"], rng.randint(1, 2))
    return (*begin, *(found if rng.random() < 0.8 else found[:1]), *rest)
