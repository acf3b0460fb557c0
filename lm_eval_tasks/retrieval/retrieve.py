"""Retrieval-augmented prompts (section 4.2 of the AcademicEval paper): of all that a sample shows, the chunks nearest to a query.

The corpus of a sample is its whole input: the body, the demonstrations, the citations. Each text is split on its own
(LangChain's recursive splitter, sizes in characters), and up to `top` chunks are taken by rank.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.journal import Journal
from lm_eval_tasks.base.progress import batches, counted
from lm_eval_tasks.engines.registry import current_engine
from lm_eval_tasks.retrieval.settings import Chunking, Retrieval

# Samples whose chunks are encoded together.
_GROUP = 16


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for in which texts."""

    query: str
    texts: tuple[str, ...]


def retrieve(questions: Sequence[Query], how: Retrieval, cache: Path) -> list[list[str]]:
    """The chunks for each question, best first.

    What was found is kept in `cache` for each question as soon as it is known, so that a killed run resumes and a second
    one has nothing to ask.

    Raises:
        EvalError: the retriever's package or model is missing.
    """
    retriever, chunking = how.open(), how.chunking
    split = _splitter(chunking)
    how = replace(how, retriever=how.named)  # another machine may have other weights, and another default
    journal = Journal(cache / f"{_slug(retriever.name)}-{chunking.size}-{chunking.overlap}-{chunking.top}.jsonl")
    contents = ([retriever.name, question.query, question.texts] for question in questions)
    keys = [sha256_of_bytes(json.dumps(content, ensure_ascii=False)) for content in contents]
    missing = [i for i, key in enumerate(keys) if key not in journal]
    with counted(f"retrieve {how.label}", len(questions), len(questions) - len(missing)) as progress:
        groups = batches(missing, _GROUP)
        question_groups = ([questions[i] for i in group] for group in groups)
        for group, ranked in zip(groups, current_engine().map(partial(_rank, how), question_groups), strict=True):
            for i, order in zip(group, ranked, strict=True):
                journal.add(keys[i], order)
                progress.update()
    return [
        [chunks[k] for k in journal[key]]
        for key, question in zip(keys, questions, strict=True)
        for chunks in (split(question.texts),)
    ]


def _rank(how: Retrieval, questions: Sequence[Query]) -> list[list[int]]:
    """The places of the best chunks for each question."""
    split = _splitter(how.chunking)
    chunks = [split(question.texts) for question in questions]
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


def _slug(name: str) -> str:
    readable = "".join(c if c.isalnum() else "-" for c in name)[-40:].strip("-")
    return f"{readable}-{sha256_of_bytes(name)[:8]}"
