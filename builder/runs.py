"""Longest common runs of words."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Sequence

_SEED = 4
_SPACED = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))


def run_words(text: str) -> list[bytes]:
    """The words of a text for comparison: case and punctuation do not count."""
    return text.casefold().encode().translate(_SPACED).split()


def longest_common_run(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Words of the longest contiguous run that two texts share; the first one should be the shorter.

    Places where four words agree are found by hashing and extended; shorter runs are looked for only where there is no
    longer one.
    """
    for seed in range(min(_SEED, len(one), len(other)), 0, -1):
        places: dict[tuple[bytes, ...], list[int]] = defaultdict(list)
        for i, gram in enumerate(zip(*(one[n:] for n in range(seed)), strict=False)):
            places[gram].append(i)
        grams = enumerate(zip(*(other[n:] for n in range(seed)), strict=False))
        meetings = [(i, k) for k, gram in grams if gram in places for i in places[gram]]
        if meetings:
            return max(_extended(one, other, i, k, seed) for i, k in meetings)
    return 0


def _extended(one: Sequence[bytes], other: Sequence[bytes], i: int, k: int, n: int) -> int:
    """Length of the run that begins at two places and is known to have n words; 0 inside a run that began before."""
    if i and k and one[i - 1] == other[k - 1]:
        return 0
    while i + n < len(one) and k + n < len(other) and one[i + n] == other[k + n]:
        n += 1
    return n
