"""Nearly the same paper: a second id, a reprint, an extended version, a copied abstract.

Pairs are compared exactly. Over many papers MinHash (Broder 1997) names the pairs to compare, by what two abstracts share of both: with
32 bands of two rows a pair that shares a half escapes once in 10,000 times, a third once in 40. One in a thousand of the others is
compared needlessly.
"""

import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from builder.ids import author_key
from builder.records import Paper
from lm_eval_tasks.base.text import fold, title_key

_SHINGLE = 3
_NEAR = 0.5
# Fewer runs than this say nothing: "This paper has been withdrawn".
_LEAST_SHINGLES = 10
_LONG_TITLE = 5
_NEAR_TITLE = 0.8
_BANDS = (32, 2)


def near_duplicate(title: str, abstract: str, other_title: str, other_abstract: str) -> bool:
    """Tell whether two papers have nearly the same title, or abstracts that share half of their three-word runs."""
    if title_key(title) == title_key(other_title):
        return True
    words, other_words = _title_words(title), _title_words(other_title)
    if len(words) >= _LONG_TITLE and len(words & other_words) >= _NEAR_TITLE * len(words | other_words):
        return True
    return _same_text(_shingles(abstract), _shingles(other_abstract))


class Copies:
    """Papers met before under another id: the same title and first author, or nearly the same abstract.

    A similar title alone does not make a copy here: a "Part II" is a different paper.
    """

    def __init__(self) -> None:
        from datasketch import MinHashLSH

        self._first: dict[tuple[str, str], str] = {}
        self._shingles: dict[str, np.ndarray] = {}
        self._bands = MinHashLSH(num_perm=_BANDS[0] * _BANDS[1], params=_BANDS)

    def add(self, id_: str, title: str, first_author: str, abstract: str) -> str | None:
        """Note a paper and return the id of the earlier one that it is a copy of; None if there is none."""
        key = title_key(title), author_key(first_author)
        same_text = self._text(id_, _shingles(abstract))
        first = self._first.setdefault(key, id_)
        return first if first != id_ else same_text

    def _text(self, id_: str, shingles: np.ndarray) -> str | None:
        from datasketch import MinHash

        if len(shingles) < _LEAST_SHINGLES:
            return None
        # What it permutes is a hash already.
        (signature,) = MinHash.bulk([shingles.tolist()], num_perm=_BANDS[0] * _BANDS[1], hashfunc=int)
        near = (other for other in sorted(self._bands.query(signature)) if _same_text(shingles, self._shingles[other]))
        original = next(near, None)
        self._bands.insert(id_, signature)
        self._shingles[id_] = shingles
        return original


def copies(papers: Iterable[Paper]) -> frozenset[str]:
    """Find the ids of papers that are copies of older ones among them."""
    seen = Copies()
    found = set()
    for paper in sorted(papers, key=lambda paper: (paper.published, paper.id)):
        if seen.add(paper.id, paper.title, paper.authors[0], paper.abstract):
            found.add(paper.id)
    return frozenset(found)


def _same_text(first: np.ndarray, second: np.ndarray) -> bool:
    smaller = min(len(first), len(second))
    return smaller >= _LEAST_SHINGLES and len(np.intersect1d(first, second, assume_unique=True)) >= _NEAR * smaller


@lru_cache(maxsize=1 << 14)
def _title_words(title: str) -> frozenset[str]:
    return frozenset(fold(title).split())


@lru_cache(maxsize=1 << 14)
def _shingles(text: str) -> np.ndarray:
    """Return the hashes of a text's three-word runs, each once."""
    words = fold(text).split()
    runs = (" ".join(words[i : i + _SHINGLE]) for i in range(len(words) - _SHINGLE + 1))
    return np.unique(np.fromiter((zlib.crc32(run.encode()) for run in runs), dtype=np.uint32))
