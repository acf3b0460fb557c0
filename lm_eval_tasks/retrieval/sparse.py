"""What every retriever offers, and those that count words: BM25 and TF-IDF, over the chunks of one sample."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from lm_eval_tasks.base.bm25 import best, bm25_scores
from lm_eval_tasks.base.errors import EvalError


@dataclass
class Retriever:
    """Ranks the chunks of samples against their queries.

    Attributes:
        name: distinguishes whatever may rank differently.
        rank: queries, the chunks of each, how many -> for each query the indices of its best chunks, best first; ties in the order of
            the text.
    """

    name: str
    rank: Callable[[Sequence[str], Sequence[Sequence[str]], int], list[list[int]]]


def _bm25(query: str, chunks: Sequence[str], top: int) -> list[int]:
    return best(bm25_scores([query], chunks)[0], top)


def _okapi(query: str, chunks: Sequence[str], top: int) -> list[int]:
    """Return BM25 as LangChain's BM25Retriever runs it, which the reference calls: rank_bm25's Okapi over words split by spaces."""
    from rank_bm25 import BM25Okapi

    if not chunks:
        return []
    scores = BM25Okapi([chunk.split() for chunk in chunks]).get_scores(query.split())
    # rank_bm25 reads an ascending order backwards. Its order of ties depends on the machine; here the last comes first.
    return [int(i) for i in np.argsort(scores, kind="stable")[::-1][:top]]


def _tfidf(query: str, chunks: Sequence[str], top: int) -> list[int]:
    """Return cosine of TF-IDF vectors, as scikit-learn computes them, fitted on the sample's chunks."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    if not any(map(vectorizer.build_analyzer(), chunks)):
        return list(range(len(chunks)))[:top]
    return best((vectorizer.fit_transform(chunks) @ vectorizer.transform([query]).T).toarray()[:, 0], top)


SPARSE = {
    "bm25": ("bm25s-lucene-1.5-0.75-en", _bm25),
    "bm25_okapi": ("rank-bm25-okapi", _okapi),
    "tfidf": ("sklearn-tfidf", _tfidf),
}


def open_sparse(kind: str) -> Retriever:
    """Return a retriever of `SPARSE`; an EvalError if its package is missing."""
    if kind == "bm25_okapi" and find_spec("rank_bm25") is None:
        raise EvalError('the retriever bm25_okapi needs rank-bm25: pip install "academiceval[ralm]"')
    name, rank_one = SPARSE[kind]

    def rank(queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        return [rank_one(query, sample_chunks, top) for query, sample_chunks in zip(queries, chunks, strict=True)]

    return Retriever(name, rank)
