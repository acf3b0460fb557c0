"""The retrievers by name, and the one that is used where none is named."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import RetrieverError
from lm_eval_tasks.base.metadata import INNER_PRODUCT, Similarity
from lm_eval_tasks.retrieval import dense, sparse

if TYPE_CHECKING:
    from lm_eval_tasks.retrieval.base import Retriever

_LOGGER = logging.getLogger(__name__)
# What the AcademicEval paper's tables were made with, and what needs no weights.
_PAPERS, _WITHOUT_WEIGHTS = "contriever", "bm25"


@cache
def open_retriever(name: str, similarity: Similarity = INNER_PRODUCT) -> Retriever:
    """The retriever of that name, see `retrieval.retrieve`.

    Raises:
        RetrieverError: its package or model is missing, or it compares no embeddings and a similarity is asked for.
    """
    if name in sparse.RETRIEVERS:
        if similarity != INNER_PRODUCT:
            raise RetrieverError(
                f"the retriever {name!r} compares no embeddings: leave out similarity={similarity!r}, or name a dense retriever"
            )
        return sparse.RETRIEVERS[name]()
    kind, _, folders = name.partition(":")
    if kind in dense.PAIRS:
        return dense.open_pair(kind, folders, similarity)
    return dense.open_sentence_transformer(name, similarity)


@cache
def default_retriever() -> str:
    """The paper's retriever if its weights are on this machine, else one that needs none; the latter is announced."""
    model = dense.PAIRS[_PAPERS].query
    if _has_weights(model):
        return _PAPERS
    _LOGGER.warning(
        "%s is used because the weights of the paper's retriever (%s) are not on this machine: `hf download %s` fetches "
        "them, the option retriever names another one",
        _WITHOUT_WEIGHTS,
        model,
        model,
    )
    return _WITHOUT_WEIGHTS


def _has_weights(model: str) -> bool:
    """Whether the Hub's cache contains a model."""
    from huggingface_hub import try_to_load_from_cache

    files = ("model.safetensors", "pytorch_model.bin")
    return any(isinstance(try_to_load_from_cache(model, file), str) for file in files)
