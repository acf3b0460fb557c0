"""ROUGE F of two texts, in 0..1: the numbers of `rouge_score` with its stemmer, its longest common subsequences counted faster.

An empty text scores 0. For ROUGE-Lsum sentences are split after full stops, question and exclamation marks.

Function words are those of closed classes: articles, pronouns, prepositions, conjunctions, auxiliaries, and adverbs that only join or
grade, but not words that deny ("not", "no", "without"). A text of nothing else shows what overlap is worth that says nothing.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path

from lm_eval_tasks.base.porter import porter_stemmer

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_WORD = re.compile(r"[a-z0-9]+")
# A line for each class, the last one for what is left of contractions that deny nothing.
FUNCTION_WORDS = frozenset((Path(__file__).parent / "function_words.txt").read_text(encoding="utf-8").split())
# In the order of running text: such an order has longer subsequences in common with real texts.
_CYCLE = (
    "we the of the and in a of to the that is for the of and with a the on by as to the of in and are the which this from an "
    "the of our to and"
).split()


def rouge_l(target: str, answer: str) -> float:
    """Compute ROUGE-L: the longest common subsequence of words."""
    return _subsequence(words(target), words(answer))


def rouge_l_content(target: str, answer: str) -> float:
    """Compute ROUGE-L without function words on either side, which any two English texts share."""
    return _subsequence(content_words(target), content_words(answer))


def _subsequence(reference: Sequence[str], candidate: Sequence[str]) -> float:
    from rapidfuzz.distance import LCSseq

    return f_score(LCSseq.similarity(reference, candidate), len(reference), len(candidate))


def rouge_n(target: str, answer: str, n: int) -> float:
    """Compute ROUGE-N: common runs of n words."""
    reference = Counter(zip(*(words(target)[i:] for i in range(n)), strict=False))
    candidate = Counter(zip(*(words(answer)[i:] for i in range(n)), strict=False))
    return f_score((reference & candidate).total(), reference.total(), candidate.total())


def rouge_lsum(target: str, answer: str) -> float:
    """Compute ROUGE-Lsum: each sentence of the target against the union of its common subsequences with the answer's sentences.

    A word counts at most as often as it occurs in the answer.
    """
    references, candidates = sentences(target), sentences(answer)
    left = Counter(word for sentence in candidates for word in sentence)
    available = Counter(word for sentence in references for word in sentence)
    # A sentence that comes again adds nothing to a union.
    different = list(dict.fromkeys(map(tuple, candidates)))
    unions: dict[tuple[str, ...], list[int]] = {}
    hits = 0
    for reference in references:
        known = tuple(reference)
        if known not in unions:
            unions[known] = sorted(
                {position for candidate in different for position in _common_places(reference, candidate)}
            )
        for position in unions[known]:
            word = reference[position]
            if left[word] > 0 and available[word] > 0:
                hits += 1
                left[word] -= 1
                available[word] -= 1
    return f_score(hits, sum(map(len, references)), sum(map(len, candidates)))


def sentences(text: str) -> list[list[str]]:
    """Return the words of each sentence that has any."""
    return [sentence for piece in _SENTENCE.split(text) if (sentence := words(piece))]


@lru_cache(maxsize=1024)
def words(text: str) -> list[str]:
    """Return the stemmed words of a text, as `rouge_score` makes them."""
    return _stems(_WORD.findall(text.lower()))


@lru_cache(maxsize=1024)
def content_words(text: str) -> list[str]:
    """Return the stemmed words of a text that are no function words."""
    return _stems(word for word in _WORD.findall(text.lower()) if word not in FUNCTION_WORDS)


def _stems(each: Iterable[str]) -> list[str]:
    return [_stem(word) if len(word) > 3 else word for word in each]


def f_score(common: int, reference: int, candidate: int) -> float:
    """Compute F of counts."""
    if not common:
        return 0.0
    precision, recall = common / candidate, common / reference
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=1 << 17)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


_stemmer = cache(porter_stemmer)


def _common_places(reference: Sequence[str], candidate: Sequence[str]) -> list[int]:
    """Return the places in `reference` of the common subsequence that `rouge_score` finds, which prefers late ones in `candidate`.

    Row by row as bits (Hyyrö 2004): bit j of row i is 0 where the subsequence of reference[:i] and candidate[:j+1] is longer
    than that with candidate[:j].
    """
    bits = {word: bytearray(len(candidate) // 8 + 1) for word in set(reference).intersection(candidate)}
    if not bits:
        return []
    for j, word in enumerate(candidate):
        if word in bits:
            bits[word][j // 8] |= 1 << j % 8
    masks = {word: int.from_bytes(positions, "little") for word, positions in bits.items()}
    full = (1 << len(candidate)) - 1
    rows = [full]
    for word in reference:
        row = rows[-1]
        matched = row & masks.get(word, 0)
        rows.append(((row + matched) | (row - matched)) & full)
    return _backtrack(reference, candidate, rows)


def _backtrack(reference: Sequence[str], candidate: Sequence[str], rows: Sequence[int]) -> list[int]:
    def length(i: int, j: int) -> int:
        return j - (rows[i] & ((1 << j) - 1)).bit_count()

    # A bit of a number of many digits costs as much as all of them, a bit of bytes nothing.
    bits = [row.to_bytes(len(candidate) // 8 + 1, "little") for row in rows]

    def step(i: int, j: int) -> int:
        return ~bits[i][j >> 3] >> (j & 7) & 1

    positions: list[int] = []
    i, j = len(reference), len(candidate)
    here, above = length(i, j), length(i - 1, j) if i else 0
    while i and j:
        if reference[i - 1] == candidate[j - 1]:
            positions.append(i - 1)
            i, j, here = i - 1, j - 1, here - 1
        elif here - step(i, j - 1) > above:
            here, above, j = here - step(i, j - 1), above - step(i - 1, j - 1), j - 1
            continue
        else:
            i, here = i - 1, above
        above = length(i - 1, j) if i else 0
    return positions


def text_of(count: int) -> str:
    """Return a text of that many function words, always the same."""
    return " ".join(_CYCLE[i % len(_CYCLE)] for i in range(count))
