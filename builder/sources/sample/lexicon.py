"""The words of the made-up arXiv: what its people, methods and fields are called, and what papers say, each claim in several wordings."""

import random
from typing import Any, NamedTuple

from lm_eval_tasks.base.files import toml_beside

_WORDS: dict[str, Any] = toml_beside(__file__, "lexicon.toml")


def _words(name: str) -> list[str]:
    return str(_WORDS[name]).split()


VOICES: dict[str, list[str]] = {words.split()[0]: words.split() for words in _WORDS["voices"]}
CLAIMS: dict[str, list[str]] = _WORDS["claims"]
CITED: dict[str, list[str]] = _WORDS["cited"]
TOLD: dict[str, list[str]] = _WORDS["told"]
GIVEN, FAMILY, QUALITIES, DEVICES = map(_words, ("given", "family", "qualities", "devices"))
_ONSETS, _VOWELS, _CODAS, _COLLECTIONS = map(_words, ("onsets", "vowels", "codas", "collections"))


class Discipline(NamedTuple):
    """A field of the made-up arXiv: its category, who works in it, and on what."""

    category: str
    subject: str
    topics: tuple[dict[str, str], ...]


DISCIPLINES = tuple(
    Discipline(field["category"], field["subject"], tuple(field["topics"])) for field in _WORDS["disciplines"]
)


def coin(rng: random.Random) -> str:
    """Return a name that is no word."""
    first = rng.choice(_ONSETS) + rng.choice(_VOWELS)
    return (first + rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)).capitalize()


def coin_collection(rng: random.Random) -> str:
    """Return what a collection of data is called."""
    return coin(rng) + rng.choice(_COLLECTIONS)


def person(rng: random.Random) -> str:
    """Return what a person is called."""
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
