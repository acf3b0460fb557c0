"""Checks citations by number: do the numbers exist, are the given works cited, does each sentence fit the work that it cites?

Works that an answer names although the prompt did not give them are looked up in a filter (`metrics.works`): real or invented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from lm_eval_tasks.metrics.citation_mentions import (
    AUTHOR_YEAR,
    NUMBERS,
    WORD,
    base_of,
    cited_sentences,
    names_of,
    numbers_in,
    stands,
)
from lm_eval_tasks.metrics.works import author_key, work_key, works_of

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.works import Works

_YEAR = re.compile(r"(?:19|20)\d\d")
_SURNAME = re.compile(r"[A-Z][\w'’-]+")
_ET_AL = re.compile(r"\bet\s+al\b")
_QUOTED = re.compile(r"[“\"]([^”\"]{20,250})[”\"]")
_WORDS_OF_TITLE = 4


@dataclass(frozen=True, slots=True)
class Given:
    """What a prompt gave.

    Attributes:
        titles, texts: of each work, in the order of its number; the text as the prompt shows it.
        works: None where the round has no filter.
    """

    titles: Sequence[str]
    texts: Sequence[str]
    works: Works | None

    @classmethod
    def of(cls, doc: Mapping[str, Any]) -> Given:
        """What the prompt of a row gave, see `data.hook.load`."""
        texts = [""] * len(doc["cited_titles"])
        for slot in doc["slots"]:
            if slot["part"] == "citation":
                texts[slot["index"]] += f"{doc['prompt'][slot['start'] : slot['end']]} "
        return cls(doc["cited_titles"], texts, works_of(doc.get("works") or ""))


class Cited:
    """How an answer cites by number."""

    def __init__(self, answer: str, given: Given) -> None:
        self._given = given
        base, count = base_of(answer, len(given.titles)), len(given.titles)
        self._sentences = [(one, {number - base for number in numbers_in(one)}) for one in cited_sentences(answer)]
        self._right = [
            (text, sorted(own)) for text, numbers in self._sentences if (own := {n for n in numbers if 0 <= n < count})
        ]
        self._mentioned = {number for _, own in self._right for number in own}
        self._wrong = {number for _, numbers in self._sentences for number in numbers if not 0 <= number < count}

    @property
    def precision(self) -> float | None:
        """Share of the numbers, each once a sentence, that were given; None without numbers."""
        every = sum(len(numbers) for _, numbers in self._sentences)
        return sum(len(own) for _, own in self._right) / every if every else None

    @property
    def recall(self) -> float:
        """Share of the given works that are cited by number."""
        return len(self._mentioned) / len(self._given.titles) if self._given.titles else 0.0

    @property
    def support(self) -> float | None:
        """How well sentences fit the works that they cite: 1 if each work fits its sentence best of all that were given (BM25), 0.5
        on average by chance; None without a number that was given.
        """
        return support(self._right, self._given.texts)

    @property
    def real(self) -> float | None:
        """Share of the works that the answer mentions which were not given but exist; None without any, or without a filter."""
        known, _ = self._others
        return self._share(known)

    @property
    def invented(self) -> float | None:
        """Share of the works that the answer mentions which nobody knows, numbers that were not given included; None likewise."""
        _, unknown = self._others
        return self._share(unknown + len(self._wrong))

    @cached_property
    def _others(self) -> tuple[int, int]:
        """How many works are named that were not given: those that the filter knows, and the rest."""
        works = self._given.works
        if works is None:
            return 0, 0
        named = list(_named(self._sentences, self._mentioned, self._given.titles))
        known = sum(key in works for key in named)
        return known, len(named) - known

    def _share(self, count: int) -> float | None:
        every = len(self._mentioned) + len(self._wrong) + sum(self._others)
        return count / every if every and self._given.works is not None else None


def support(citing: Sequence[tuple[str, Sequence[int]]], texts: Sequence[str]) -> float | None:
    """The mean place of cited works among all given ones, by how well they fit the sentence; see `Cited.support`.

    Args:
        citing: sentences and the works that they cite. Works of one sentence do not compete with each other.
    """
    if not citing or len(texts) < 2:
        return None
    import bm25s  # takes long to load, and few tasks need it

    words = bm25s.tokenize(
        [*(NUMBERS.sub(" ", text) for text, _ in citing), *texts], stopwords="en", show_progress=False, return_ids=False
    )
    asked, known = words[: len(citing)], words[len(citing) :]
    if not any(known):
        return None
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(known, show_progress=False)
    places = []
    for own, (_, numbers) in zip(asked, citing, strict=True):
        scores = np.asarray(index.get_scores(own)) if own else np.zeros(len(texts))
        others = np.delete(scores, list(numbers))
        if len(others):
            places += [float(np.mean(others < scores[i]) + np.mean(others == scores[i]) / 2) for i in numbers]
    return fmean(places) if places else None


def _named(sentences: Sequence[tuple[str, set[int]]], mentioned: set[int], titles: Sequence[str]) -> Iterator[str]:
    """The key of each work that is named otherwise than by number, and is none of those that were given."""
    given = {work_key(title) for title in titles}
    names = [name for title in titles for name in names_of(title)]
    seen: set[str] = set()
    for text, numbers in sentences:
        words = f" {' '.join(WORD.findall(text))} "
        # A name next to a number, or next to the title of a given work, is that work's author.
        is_given = numbers & mentioned or any(stands(name, words) for name in names)
        authors = [] if is_given else map(_author_key, AUTHOR_YEAR.findall(text))
        for key in [*authors, *_work_keys(text)]:
            if key not in seen and key not in given:
                seen.add(key)
                yield key


def _author_key(mention: str) -> str:
    surnames = _SURNAME.findall(_ET_AL.sub(" ", mention))[:2]
    return author_key(surnames, int(_YEAR.findall(mention)[-1]))


def _work_keys(text: str) -> Iterator[str]:
    for quoted in _QUOTED.findall(text):
        # What stands in quotation marks is a title if most of its longer words begin with capitals.
        longer = [word for word in quoted.split() if len(word) > 3]
        if len(quoted.split()) >= _WORDS_OF_TITLE and 2 * sum(word[0].isupper() for word in longer) > len(longer):
            yield work_key(quoted)
