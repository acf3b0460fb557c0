"""Runs of words that two texts share. Words are represented by hashes, so that long texts are compared as arrays."""

import re
import string
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
# Shorter runs than this are looked for only if a text is shorter.
_SEED = 4
# Dashes, quotes and dots of typography (U+2010 to U+203A), which another copy of a text has in ASCII.
_TYPOGRAPHIC = re.compile(rb"\xe2\x80[\x90-\xba]")
_APART = (string.punctuation + string.whitespace).encode()
_SPACED = bytes.maketrans(_APART, b" " * len(_APART))
# Odd, so that no bit of a word is lost.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIXING = np.uint64(0xD6E8FEB86659FD93)
# Bytes of a text that are looked at together.
_PART = 1 << 16
_BETWEEN = np.array([0x5EC7102B0F2E3D49], dtype=np.uint64)
_BUCKETS = np.uint64(0xFFFF)
# Of places where two texts meet, that are looked at one by one.
_PAIRS = 1 << 12


def run_words(text: str) -> Words:
    """Return the words of a text for comparison, shape (words,): case and punctuation do not count."""
    folded = text.casefold().encode("utf-8", "surrogatepass")
    spaced = _TYPOGRAPHIC.sub(b" ", b" %b " % folded).translate(_SPACED)
    numbers, start = [], 0
    while start < len(spaced) - 1:
        # Parts begin and end with a blank, which two of them share.
        end = spaced.rfind(b" ", start + 1, start + _PART)
        end = end if end > 0 else spaced.find(b" ", start + 1)
        numbers.append(_numbers_of(spaced[start : end + 1]))
        start = end
    return np.concatenate(numbers)


def _numbers_of(spaced: bytes) -> Words:
    """Return a number for each word between blanks: the sum of its letters, each times a power of the factor."""
    letters = np.frombuffer(spaced, np.uint8)
    is_letter = letters != ord(" ")
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1]) + 1
    starts, ends = edges[::2], edges[1::2]
    powers, inverses = _powers(1 << len(letters).bit_length())
    # No letter counts 0.
    sums = np.cumsum((letters + np.uint64(1)) * powers[: len(letters)])
    numbers = (sums[ends - 1] - sums[starts - 1]) * inverses[starts]
    # Runs of words are sums of the same kind: mixed, no letter of one word makes up for one of the next.
    numbers ^= numbers >> np.uint64(32)
    numbers *= _MIXING
    return numbers ^ numbers >> np.uint64(29)


# One entry for each power of two that bounds the length of a text.
@lru_cache(maxsize=32)
def _powers(count: int) -> tuple[Words, Words]:
    """Return the first powers of the factor, and of its inverse: it is odd, so it has one."""
    inverse = np.uint64(pow(int(_FACTOR), -1, 1 << 64))
    powers = np.cumprod(np.full(count, _FACTOR), dtype=np.uint64) * inverse
    return powers, np.cumprod(np.full(count, inverse), dtype=np.uint64) * _FACTOR


def joined(texts: Sequence[Words]) -> Words:
    """Return the words of texts as those of one, with a word between two of them that no text has, so that no run spans them."""
    return np.concatenate([part for text in texts for part in (text, _BETWEEN)] or [_BETWEEN])


def longest_common_run(text: Words, other: Words) -> int:
    """Count the words of the longest contiguous run that two texts share.

    Places where four words agree are found and extended: a shorter run counts only if a text is shorter.
    """
    return longest_runs([text], other)[0]


def longest_runs(texts: list[Words], other: Words) -> list[int]:
    """Return `longest_common_run` of each of some texts with another, which is scanned once."""
    lengths = [0] * len(texts)
    seeds = [min(_SEED, len(text), len(other)) for text in texts]
    for seed, group in groupby(sorted(range(len(texts)), key=seeds.__getitem__), key=seeds.__getitem__):
        if seed:
            chosen = list(group)
            for i, length in zip(chosen, _longest_runs([texts[i] for i in chosen], other, seed), strict=True):
                lengths[i] = length
    return lengths


def _longest_runs(texts: list[Words], other: Words, seed: int) -> list[int]:
    grams = [_grams(text, seed) for text in texts]
    every = np.concatenate(grams)
    wanted = np.zeros(int(_BUCKETS) + 1, np.bool_)
    wanted[every & _BUCKETS] = True
    others = _grams(other, seed)
    positions = np.flatnonzero(wanted[others & _BUCKETS])
    positions = positions[np.argsort(others[positions], kind="stable")]
    there = others[positions]
    if not len(there):
        return [0] * len(texts)
    # Most texts meet the other one nowhere.
    meets = there[np.minimum(np.searchsorted(there, every), len(there) - 1)] == every
    bounds = pairwise(np.cumsum([0, *map(len, grams)]))
    return [
        _longest_run(text, text_grams, other, positions, there, seed) if meets[start:end].any() else 0
        for text, text_grams, (start, end) in zip(texts, grams, bounds, strict=True)
    ]


def _longest_run(
    text: Words, text_grams: Words, other: Words, positions: NDArray[np.int64], there: Words, seed: int
) -> int:
    """Count the words of the longest run, given the runs of `seed` words of both: `text_grams` in order, `there` sorted with their
    places.
    """
    first = np.searchsorted(there, text_grams)
    met = np.flatnonzero(there[np.minimum(first, len(there) - 1)] == text_grams)
    first = first[met]
    counts = np.searchsorted(there, text_grams[met], side="right") - first
    if counts.sum() > _PAIRS:
        return _longest_of_repetitive(text, other, seed)
    # Each place is met in `counts` places of the other text from `places[first]` on.
    mine = np.repeat(met, counts)
    nth = np.arange(len(mine)) - np.repeat(np.cumsum(counts) - counts, counts)
    theirs = positions[np.repeat(first, counts) + nth]
    # There is nothing to find inside a run that began earlier.
    begins = (mine == 0) | (theirs == 0)
    begins[~begins] = text[mine[~begins] - 1] != other[theirs[~begins] - 1]
    starts = zip(mine[begins].tolist(), theirs[begins].tolist(), strict=True)
    return max((_run_length(text, other, i, k, seed) for i, k in starts), default=0)


def _longest_of_repetitive(text: Words, other: Words, seed: int) -> int:
    """Return the longest run of texts that meet in too many places to look at each: by halving, for a run contains all shorter ones."""
    runs, others = _AnyLength(text), _AnyLength(other)
    lengths = range(seed, min(len(text), len(other)) + 1)
    return seed - 1 + bisect_left(lengths, True, key=lambda n: not np.isin(runs.grams(n), others.grams(n)).any())


class _AnyLength:
    """The numbers of the runs of a text, for any length at the same cost."""

    def __init__(self, words: Words) -> None:
        powers, self._inverses = _powers(1 << len(words).bit_length())
        self._sums = np.concatenate([[np.uint64(0)], np.cumsum(words * powers[: len(words)])])

    def grams(self, n: int) -> Words:
        sums = self._sums[n:] - self._sums[:-n]
        grams: Words = sums * self._inverses[: len(sums)]
        return grams


def share_run(text: Words, other: Words, n: int) -> bool:
    """Tell whether two texts share a run of n words."""
    if min(len(text), len(other)) < n:
        return False
    grams, others = _AnyLength(text).grams(n), _AnyLength(other).grams(n)
    wanted = np.zeros(int(_BUCKETS) + 1, np.bool_)
    wanted[grams & _BUCKETS] = True
    return bool(np.isin(others[wanted[others & _BUCKETS]], grams).any())


def _grams(words: Words, n: int) -> Words:
    """Return a number for every run of n words."""
    runs = max(0, len(words) - n + 1)
    grams = np.zeros(runs, np.uint64)
    for i in range(n):
        grams = grams * _FACTOR + words[i : i + runs]
    return grams


def _run_length(text: Words, other: Words, i: int, k: int, n: int) -> int:
    """Return length of the run that begins at two places and is known to have n words."""
    most = min(len(text) - i, len(other) - k)
    differs = np.flatnonzero(text[i + n : i + most] != other[k + n : k + most])
    return n + int(differs[0]) if len(differs) else most
