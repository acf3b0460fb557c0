"""How chunks are cut and found, as the options of the tasks say; only `open` and `named` load a retriever's code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import RetrieverError
from lm_eval_tasks.base.metadata import INNER_PRODUCT, Similarity

if TYPE_CHECKING:
    from lm_eval_tasks.retrieval.base import Retriever


@dataclass(frozen=True, slots=True)
class Chunking:
    """How texts are split and how many chunks are taken; sizes in characters. The defaults are the paper's."""

    size: int = 512
    overlap: int = 64
    top: int = 12

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size or self.top < 1:
            raise RetrieverError(
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
        """The retriever.

        Raises:
            RetrieverError: its package or model is missing.
        """
        from lm_eval_tasks.retrieval.registry import open_retriever

        return open_retriever(self.named, self.similarity)

    @property
    def label(self) -> str:
        """What the retriever is called in results."""
        return self.named if self.similarity == INNER_PRODUCT else f"{self.named} {self.similarity}"

    @property
    def named(self) -> str:
        """The retriever's name; that of the default if none was given."""
        if self.retriever:
            return self.retriever
        from lm_eval_tasks.retrieval.registry import default_retriever

        return default_retriever()
