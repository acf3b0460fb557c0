"""Checks citations by number: do the numbers exist, are the given works cited, does each sentence fit the work that it cites?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from lm_eval_tasks.metrics.citation_mentions import NUMBERS, base_of, cited_sentences, numbers_in

if TYPE_CHECKING:
    from lm_eval_tasks.samples.row import PromptRow


@dataclass(frozen=True, slots=True)
class Given:
    """What a prompt gave.

    Attributes:
        titles, texts: of each work, in the order of its number; the text as the prompt shows it.
    """

    titles: Sequence[str]
    texts: Sequence[str]

    @classmethod
    def of(cls, row: PromptRow) -> Given:
        """What the prompt of a row gave."""
        titles = row.cited_titles or ()
        texts = [""] * len(titles)
        for slot in row.slots:
            if slot.part == "citation":
                texts[slot.index] += f"{row.prompt[slot.start : slot.end]} "
        return cls(titles, texts)


class Cited:
    """How an answer cites by number."""

    def __init__(self, answer: str, works: Given) -> None:
        self._given = works
        base, count = base_of(answer, len(works.titles)), len(works.titles)
        self._sentences = [
            (sentence, {number - base for number in numbers_in(sentence)}) for sentence in cited_sentences(answer)
        ]
        self._right = [
            (text, sorted(cited_numbers))
            for text, numbers in self._sentences
            if (cited_numbers := {n for n in numbers if 0 <= n < count})
        ]
        self._mentioned = {number for _, cited_numbers in self._right for number in cited_numbers}

    @property
    def precision(self) -> float | None:
        """Share of the numbers, each once a sentence, that were given; None without numbers."""
        total = sum(len(numbers) for _, numbers in self._sentences)
        return sum(len(cited_numbers) for _, cited_numbers in self._right) / total if total else None

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
    queries, corpus = words[: len(citing)], words[len(citing) :]
    if not any(corpus):
        return None
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(corpus, show_progress=False)
    places = []
    for query, (_, numbers) in zip(queries, citing, strict=True):
        scores = np.asarray(index.get_scores(query)) if query else np.zeros(len(texts))
        others = np.delete(scores, list(numbers))
        if len(others):
            places += [float(np.mean(others < scores[i]) + np.mean(others == scores[i]) / 2) for i in numbers]
    return fmean(places) if places else None
