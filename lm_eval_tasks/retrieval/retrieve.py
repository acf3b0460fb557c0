"""Retrieval-augmented prompts (section 4.2 of the AcademicEval paper): of all that a sample shows, the chunks nearest to a query; how they
are cut and found, as the options of the tasks say.

The corpus of a sample is its whole input: the body, the demonstrations, the citations. Each text is split on its own
(LangChain's recursive splitter, sizes in characters), and up to `top` chunks are taken by rank.
"""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.metadata import INNER_PRODUCT, Similarity
from lm_eval_tasks.base.progress import batches, counted
from lm_eval_tasks.engines.registry import current_engine
from lm_eval_tasks.retrieval.retrievers import PAIRS, Retriever, open_retriever

_LOGGER = logging.getLogger(__name__)
# Samples whose chunks are encoded together.
_GROUP = 16
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
        """Return the retriever; an EvalError if its package or model is missing."""
        return open_retriever(self.named, self.similarity)

    @property
    def label(self) -> str:
        """What the retriever is called in results."""
        return self.named if self.similarity == INNER_PRODUCT else f"{self.named} {self.similarity}"

    @property
    def named(self) -> str:
        return self.retriever or default_retriever()


@cache
def default_retriever() -> str:
    """Return the paper's retriever if its weights are on this machine, else one that needs none; the latter is announced."""
    from huggingface_hub import try_to_load_from_cache

    model, _, _ = PAIRS[_PAPERS]
    if any(isinstance(try_to_load_from_cache(model, file), str) for file in ("model.safetensors", "pytorch_model.bin")):
        return _PAPERS
    _LOGGER.warning(
        "%s is used because the weights of the paper's retriever (%s) are not on this machine: `hf download %s` fetches "
        "them, the option retriever names another one",
        _WITHOUT_WEIGHTS,
        model,
        model,
    )
    return _WITHOUT_WEIGHTS


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for in which texts."""

    query: str
    texts: tuple[str, ...]


def retrieve(questions: Sequence[Query], how: Retrieval, cache: Path) -> list[list[str]]:
    """Return the chunks for each question, best first; an EvalError if the retriever's package or model is missing. What was found is kept
    in `cache` for each question as soon as it is known, so that a killed run resumes and a second one has nothing to ask.
    """
    retriever, chunking = how.open(), how.chunking
    split = _splitter(chunking)
    how = replace(how, retriever=how.named)  # another machine may have other weights, and another default
    slug = "".join(c if c.isalnum() else "-" for c in retriever.name)[-40:].strip("-")
    name = f"{slug}-{sha256_of_bytes(retriever.name)[:8]}-{chunking.size}-{chunking.overlap}-{chunking.top}.jsonl"
    journal = Journal(cache / name)
    # Of the chunks, which another release of the splitter may make otherwise.
    chunked = [split(question.texts) for question in questions]
    asked = zip(questions, chunked, strict=True)
    contents = ([retriever.name, question.query, chunks] for question, chunks in asked)
    keys = [sha256_of_bytes(json.dumps(content, ensure_ascii=False)) for content in contents]
    missing = [i for i, key in enumerate(keys) if key not in journal]
    with counted(f"retrieve {how.label}", len(questions), len(questions) - len(missing)) as progress:
        groups = batches(missing, _GROUP)
        question_groups = ([questions[i] for i in group] for group in groups)
        for group, ranked in zip(groups, current_engine().map(partial(_rank, how), question_groups), strict=True):
            for i, order in zip(group, ranked, strict=True):
                journal.add(keys[i], order)
                progress.update()
    return [[chunks[k] for k in journal[key]] for key, chunks in zip(keys, chunked, strict=True)]


def _rank(how: Retrieval, questions: Sequence[Query]) -> list[list[int]]:
    """Return the places of the best chunks for each question."""
    chunks = list(map(_splitter(how.chunking), (question.texts for question in questions)))
    return how.open().rank([question.query for question in questions], chunks, how.chunking.top)


def check(how: Retrieval) -> None:
    """Raise an EvalError if a retriever is missing, before anything is generated."""
    how.open()
    _splitter(Chunking())


def _splitter(chunking: Chunking) -> Any:
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter
    except ModuleNotFoundError as err:
        raise EvalError('retrieval needs langchain-text-splitters: pip install "academiceval[ralm]"') from err
    splitter = RecursiveCharacterTextSplitter(chunk_size=chunking.size, chunk_overlap=chunking.overlap)

    def split(texts: Sequence[str]) -> list[str]:
        return list(dict.fromkeys(chunk for text in texts for chunk in splitter.split_text(text)))

    return split
