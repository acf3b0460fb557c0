"""The retrievers by name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lm_eval_tasks.retrieval import dense, sparse

if TYPE_CHECKING:
    from lm_eval_tasks.retrieval.base import Retriever


@cache
def open_retriever(name: str) -> Retriever:
    """The retriever of that name, see `retrieval.retrieve`.

    Raises:
        RetrieverError: its package or model is not there.
    """
    if name in sparse.RETRIEVERS:
        return sparse.RETRIEVERS[name]()
    kind, _, folders = name.partition(":")
    if kind in dense.PAIRS:
        return dense.open_pair(kind, folders)
    return dense.open_sentence_transformer(name)
