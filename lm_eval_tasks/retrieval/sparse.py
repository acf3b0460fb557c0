"""What every retriever offers, and those that count words: BM25 and TF-IDF, over the chunks of one sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from lm_eval_tasks.base.errors import EvalError


class Retriever(Protocol):
    """Ranks the chunks of samples against their queries.

    Attributes:
        name: distinguishes whatever may rank differently.
    """

    name: str

    def rank(self, queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        """For each query the indices of its best chunks, best first; ties in the order of the text."""


def best(scores: Any, top: int) -> list[int]:
    """Indices of the highest scores, ties in their order.

    Args:
        scores: shape (chunks,).
    """
    return [int(i) for i in np.argsort(-np.asarray(scores), kind="stable")[:top]]


class _OneByOne:
    """Ranks sample by sample."""

    def rank(self, queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        return [self._rank(query, sample_chunks, top) for query, sample_chunks in zip(queries, chunks, strict=True)]

    def _rank(self, query: str, chunks: Sequence[str], top: int) -> list[int]:
        raise NotImplementedError


def standardised(scores: Any) -> Any:
    """Scores with mean 0 and standard deviation 1 along the last axis, so that those of several searches can be added."""
    return (scores - scores.mean(axis=-1, keepdims=True)) / np.maximum(scores.std(axis=-1, keepdims=True), 1e-9)


class BM25(_OneByOne):
    """BM25 (Robertson et al.) as bm25s computes it: Lucene's variant, k1 1.5, b 0.75, English stop words left out."""

    name = "bm25s-lucene-1.5-0.75-en"

    def __init__(self) -> None:
        import bm25s

        self._bm25s = bm25s

    def _rank(self, query: str, chunks: Sequence[str], top: int) -> list[int]:
        return best(self.scores(query, chunks), top)

    def scores(self, query: str, chunks: Sequence[str]) -> Any:
        """How well each chunk fits, shape (chunks,); all 0 if there is nothing to compare."""
        return self.all_scores([query], chunks)[0]

    def all_scores(self, queries: Sequence[str], chunks: Sequence[str]) -> Any:
        """How well each chunk fits each query, shape (queries, chunks)."""
        words = self._bm25s.tokenize([*queries, *chunks], stopwords="en", show_progress=False, return_ids=False)
        of_queries, of_chunks = words[: len(queries)], words[len(queries) :]
        if not any(of_chunks):
            return np.zeros((len(queries), len(chunks)))
        index = self._bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        index.index(of_chunks, show_progress=False)
        return np.stack([index.get_scores(query) if query else np.zeros(len(chunks)) for query in of_queries])


class BM25Okapi(_OneByOne):
    """BM25 as LangChain's BM25Retriever runs it, which the reference calls: rank_bm25's Okapi over words split by spaces."""

    name = "rank-bm25-okapi"

    def __init__(self) -> None:
        try:
            import rank_bm25
        except ModuleNotFoundError as err:
            raise EvalError('the retriever bm25_okapi needs rank-bm25: pip install "academiceval[ralm]"') from err
        self._rank_bm25 = rank_bm25

    def _rank(self, query: str, chunks: Sequence[str], top: int) -> list[int]:
        if not chunks:
            return []
        scores = self._rank_bm25.BM25Okapi([chunk.split() for chunk in chunks]).get_scores(query.split())
        # rank_bm25 reads an ascending order backwards. Its order of ties depends on the machine; here the last comes first.
        return [int(i) for i in np.argsort(scores, kind="stable")[::-1][:top]]


class TfIdf(_OneByOne):
    """Cosine of TF-IDF vectors, as scikit-learn computes them, fitted on the sample's chunks."""

    name = "sklearn-tfidf"

    def _rank(self, query: str, chunks: Sequence[str], top: int) -> list[int]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer()
        if not any(map(vectorizer.build_analyzer(), chunks)):
            return list(range(len(chunks)))[:top]
        matrix = vectorizer.fit_transform(chunks)
        return best((matrix @ vectorizer.transform([query]).T).toarray()[:, 0], top)


RETRIEVERS: dict[str, Callable[[], Retriever]] = {"bm25": BM25, "bm25_okapi": BM25Okapi, "tfidf": TfIdf}
