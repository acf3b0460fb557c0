"""Longest common runs of words."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterator, Sequence

_SEED = 4
_SPACED = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))


def run_words(text: str) -> list[bytes]:
    """The words of a text for comparison: case and punctuation do not count."""
    return text.casefold().encode().translate(_SPACED).split()


def longest_common_run(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Words of the longest contiguous run that two texts share; the first one should be the shorter.

    Places where four words agree are found by hashing and extended: a shorter run counts only where a text is shorter.
    """
    seed = min(_SEED, len(one), len(other))
    places: dict[tuple[bytes, ...], list[int]] = defaultdict(list)
    for i, gram in enumerate(_grams(one, seed)):
        places[gram].append(i)
    meetings = [(i, k) for k, gram in enumerate(_grams(other, seed)) if gram in places for i in places[gram]]
    return max((_extended(one, other, i, k, seed) for i, k in meetings), default=0)


def share_run(one: Sequence[bytes], other: Sequence[bytes], n: int) -> bool:
    """Whether two texts share a run of n words."""
    return not set(_grams(one, n)).isdisjoint(_grams(other, n))


def _grams(words: Sequence[bytes], n: int) -> Iterator[tuple[bytes, ...]]:
    return zip(*(words[i:] for i in range(n)), strict=False)


def _extended(one: Sequence[bytes], other: Sequence[bytes], i: int, k: int, n: int) -> int:
    """Length of the run that begins at two places and is known to have n words; 0 inside a run that began before."""
    if i and k and one[i - 1] == other[k - 1]:
        return 0
    while i + n < len(one) and k + n < len(other) and one[i + n] == other[k + n]:
        n += 1
    return n
