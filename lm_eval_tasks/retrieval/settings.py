"""How chunks are cut and found, as the options of the tasks say, and the retrievers by name; their code is loaded when one is opened."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.metadata import INNER_PRODUCT, Similarity
from lm_eval_tasks.retrieval.sparse import SPARSE, Retriever, open_sparse

_LOGGER = logging.getLogger(__name__)
# What the AcademicEval paper's tables were made with, and what needs no weights.
_PAPERS, _WITHOUT_WEIGHTS = "contriever", "bm25"


@dataclass(frozen=True, slots=True)
class Chunking:
    """How texts are split and how many chunks are taken; sizes in characters. The defaults are the paper's."""

    size: int = 512
    overlap: int = 64
    top: int = 12

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size or self.top < 1:
            raise EvalError(
                f"chunks of {self.size} characters with an overlap of {self.overlap}, {self.top} of them, make no sense: "
                "the overlap must be smaller than the size, and at least one chunk must be taken"
            )


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How chunks are found.

    Attributes:
        retriever: "bm25", "bm25_okapi", "tfidf", "dpr", "contriever", "dragon", "minilm" or a sentence-transformers folder
            or Hub id; for the pairs of encoders also "dpr:QUERY_FOLDER,CONTEXT_FOLDER" with models of that kind. "" for
            the default.
        similarity: how embeddings are compared.
    """

    retriever: str = ""
    similarity: Similarity = INNER_PRODUCT
    chunking: Chunking = Chunking()

    def open(self) -> Retriever:
        """The retriever; an EvalError if its package or model is missing."""
        return open_retriever(self.named, self.similarity)

    @property
    def label(self) -> str:
        """What the retriever is called in results."""
        return self.named if self.similarity == INNER_PRODUCT else f"{self.named} {self.similarity}"

    @property
    def named(self) -> str:
        """The retriever's name; that of the default if none was given."""
        return self.retriever or default_retriever()


@cache
def open_retriever(name: str, similarity: Similarity = INNER_PRODUCT) -> Retriever:
    """The retriever of that name, see `Retrieval`.

    Raises:
        EvalError: its package or model is missing, or it compares no embeddings and a similarity is asked for.
    """
    from lm_eval_tasks.retrieval import dense

    if name in SPARSE:
        if similarity != INNER_PRODUCT:
            raise EvalError(
                f"the retriever {name!r} compares no embeddings: leave out similarity={similarity!r}, or name a dense retriever"
            )
        return open_sparse(name)
    kind, _, folders = name.partition(":")
    if kind in dense.PAIRS:
        return dense.open_pair(kind, folders, similarity)
    return dense.open_sentence_transformer(name, similarity)


@cache
def default_retriever() -> str:
    """The paper's retriever if its weights are on this machine, else one that needs none; the latter is announced."""
    from huggingface_hub import try_to_load_from_cache

    from lm_eval_tasks.retrieval.dense import PAIRS

    model = PAIRS[_PAPERS].query
    files = ("model.safetensors", "pytorch_model.bin")
    if any(isinstance(try_to_load_from_cache(model, file), str) for file in files):
        return _PAPERS
    _LOGGER.warning(
        "%s is used because the weights of the paper's retriever (%s) are not on this machine: `hf download %s` fetches "
        "them, the option retriever names another one",
        _WITHOUT_WEIGHTS,
        model,
        model,
    )
    return _WITHOUT_WEIGHTS
