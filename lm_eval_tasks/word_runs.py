"""Runs of words that two texts share. Words go by their hashes, so that texts of a book's length are compared by the array."""

from __future__ import annotations

import string
from collections import defaultdict
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
_SEED = 4
_SPACED = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
# Odd, so that no bit of a word is lost.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def run_words(text: str) -> Words:
    """The words of a text for comparison, shape (words,): case and punctuation do not count."""
    words = text.casefold().encode().translate(_SPACED).split()
    return np.fromiter(map(hash, words), np.int64, len(words)).view(np.uint64)


def longest_common_run(one: Words, other: Words) -> int:
    """Words of the longest contiguous run that two texts share; the first one should be the shorter.

    Places where four words agree are found and extended: a shorter run counts only where a text is shorter.
    """
    seed = min(_SEED, len(one), len(other))
    if not seed:
        return 0
    grams, others = _grams(one, seed), _grams(other, seed)
    meetings = np.flatnonzero(np.isin(others, grams))
    if not len(meetings):
        return 0
    places: dict[int, list[int]] = defaultdict(list)
    for i, gram in enumerate(grams.tolist()):
        places[gram].append(i)
    mine, theirs = one.tolist(), other.tolist()
    found = zip(meetings.tolist(), others[meetings].tolist(), strict=True)
    return max(_extended(mine, theirs, i, k, seed) for k, gram in found for i in places[gram])


def share_run(one: Words, other: Words, n: int) -> bool:
    """Whether two texts share a run of n words."""
    return bool(np.isin(_grams(one, n), _grams(other, n)).any())


def _grams(words: Words, n: int) -> Words:
    """A number for every run of n words."""
    runs = max(0, len(words) - n + 1)
    grams = np.zeros(runs, np.uint64)
    for i in range(n):
        grams = grams * _FACTOR + words[i : i + runs]
    return grams


def _extended(one: list[int], other: list[int], i: int, k: int, n: int) -> int:
    """Length of the run that begins at two places and is known to have n words; 0 inside a run that began before."""
    if i and k and one[i - 1] == other[k - 1]:
        return 0
    while i + n < len(one) and k + n < len(other) and one[i + n] == other[k + n]:
        n += 1
    return n
