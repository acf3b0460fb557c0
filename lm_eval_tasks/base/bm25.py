"""BM25 over texts, and what is done with its scores. It needs the package bm25s."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def best(scores: Any, top: int) -> list[int]:
    """Return the indices of the highest scores, which have the shape (chunks,), ties in their order."""
    return [int(i) for i in np.argsort(-np.asarray(scores), kind="stable")[:top]]


def standardised(scores: Any) -> Any:
    """Return the scores with mean 0 and standard deviation 1 along the last axis, so that those of several searches can be added."""
    return (scores - scores.mean(axis=-1, keepdims=True)) / np.maximum(scores.std(axis=-1, keepdims=True), 1e-9)


def bm25_scores(queries: Sequence[str], chunks: Sequence[str]) -> Any:
    """Return how well each chunk fits each query, shape (queries, chunks), all 0 if there is nothing to compare: BM25 (Robertson et al.) as
    bm25s computes it, Lucene's variant, k1 1.5, b 0.75, English stop words left out.
    """
    import bm25s

    words = bm25s.tokenize([*queries, *chunks], stopwords="en", show_progress=False, return_ids=False)
    of_queries, of_chunks = words[: len(queries)], words[len(queries) :]
    if not any(of_chunks):
        return np.zeros((len(queries), len(chunks)))
    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index(of_chunks, show_progress=False)
    return np.stack([index.get_scores(query) if query else np.zeros(len(chunks)) for query in of_queries])
