"""The retrievers by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Protocol


class Retriever(Protocol):
    """Ranks the chunks of samples against their queries.

    Attributes:
        name: tells apart whatever may rank differently.
    """

    name: str

    def rank(self, queries: Sequence[str], chunks: Sequence[Sequence[str]], top: int) -> list[list[int]]:
        """For each query the indices of its best chunks, best first; equals in the order of the text."""
        ...


@cache
def open_retriever(name: str) -> Retriever:
    """The retriever of that name, see `retrieval.retrieve`.

    Raises:
        RetrieverError: its package or model is not there.
    """
    from lm_eval_tasks.retrieval import dense, sparse

    if name in sparse.RETRIEVERS:
        return sparse.RETRIEVERS[name]()
    kind, _, folders = name.partition(":")
    if kind in dense.PAIRS:
        return dense.open_pair(kind, folders)
    return dense.open_sentence_transformer(name)
