"""SCALAR's shortcuts: the candidate that fits the words around the mask best, chosen without reading the paper.

The query is the sentence with the mask. "bm25-local" adds its BM25 score against all that is shown of a candidate to the one
against its title and abstract, where these are shown; "name-local" adds the share of the names right before the mask that stands in a
candidate, because what is cited is often named first; "embed-local" compares embeddings of the small model by cosine, with title
and abstract, or, where only a body is shown, with passages of it.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from lm_eval_tasks.base.bm25 import best, bm25_scores, standardised
from lm_eval_tasks.base.contract import (
    BM25_LOCAL,
    BODY,
    EMBED_LOCAL,
    FULL,
    LOCAL,
    MASK,
    NONE,
    OF_SCALAR,
    Context,
    Measured,
    OfScalar,
)
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow, ShownCandidate

Chooser = Callable[["ScalarRow"], int]
# Characters on each side of the mask, at most.
_AROUND = 250
# Characters before the mask in which names are looked for, and how much the nearest counts beside BM25.
_BEFORE, _OF_NAMES = 60, 3
_WORD = re.compile(r"[\w+]+(?:-[\w+]+)*")
# Words on each side of the mask, and paragraphs that a search finds, in shorter contexts.
_WORDS, _PARAGRAPHS = 100, 8
# A line's end, or a full stop that ends no abbreviation.
_SENTENCE_END = re.compile(r"\n|(?<=[.!?])(?<!\b(?:al|eg|cf|vs|eq)\.)(?<!\b(?:e\.g|i\.e|Fig|Sec|Tab)\.)(?<!\bFigs\.)\s")
_PASSAGES, _PASSAGE = 8, 1_000


@cache
def chooser(shortcut: OfScalar) -> Chooser:
    """Return what chooses a candidate of a row; texts that were embedded once are kept for all levels.

    Raises:
        EvalError: the small model is not installed.
    """
    return _EmbedLocal() if shortcut == EMBED_LOCAL else bm25_choice if shortcut == BM25_LOCAL else name_choice


def choosers_of(*, embed_local: bool) -> dict[Measured, Chooser]:
    """Return SCALAR's shortcuts that are measured: "embed-local" takes a model, and is asked for."""
    return {name: chooser(name) for name in OF_SCALAR if embed_local or name != EMBED_LOCAL}


def bm25_choice(row: ScalarRow) -> int:
    """Return the candidate that bm25-local names."""
    return int(np.argmax(_bm25(row)))


# Two programs ask for it, one after the other.
@lru_cache(maxsize=1)
def _bm25(row: ScalarRow) -> Any:
    """Return what bm25-local scores the candidates, shape (candidates,)."""
    query = around_the_mask(row.question)
    scores = bm25_scores([query], [_shown(row, candidate) for candidate in row.candidates])[0]
    if row.candidate_text != BODY:
        scores = scores + bm25_scores([query], [_summary(candidate) for candidate in row.candidates])[0]
    return scores


def name_choice(row: ScalarRow) -> int:
    """Return the candidate that name-local names."""
    scores = standardised(_bm25(row))
    near = _SENTENCE_END.split(row.question.partition(MASK)[0])[-1][-_BEFORE:]
    names = [word for word in _WORD.findall(near) if len(word) > 1 and word != word.lower()]
    texts = [f"{candidate.title} {candidate.content}" for candidate in row.candidates]
    for distance, name in enumerate(reversed(names), 1):
        counts = np.array([len(re.findall(rf"\b{re.escape(name)}\b", text)) for text in texts])
        scores = scores + _OF_NAMES / distance * counts / max(int(counts.sum()), 1)
    return int(np.argmax(scores))


def around_the_mask(question: str) -> str:
    """Return the sentence that holds the mask, without it."""
    before, _, after = question.partition(MASK)
    return f"{_SENTENCE_END.split(before)[-1][-_AROUND:]} {_SENTENCE_END.split(after)[0][:_AROUND]}"


def shortened(question: str, context: Context) -> str:
    """Return what is left of a question's paper in a shorter context, the mask alone, the words around it, or these and
    the paper's paragraphs that are most like its sentence, in their order.
    """
    if context in (FULL, NONE):
        return question if context == FULL else MASK
    # The first line is the paper's title.
    _, _, body = question.partition("\n")
    before, _, after = body.partition(MASK)
    words_around = f"{' '.join(before.split()[-_WORDS:])} {MASK} {' '.join(after.split()[:_WORDS])}"
    if context == LOCAL:
        return f"\n{words_around}"
    paragraphs = [line for line in body.splitlines() if MASK not in line and line.strip()]
    found = best(bm25_scores([around_the_mask(question)], paragraphs)[0], _PARAGRAPHS)
    return "\n" + "\n\n".join([*(paragraphs[i] for i in sorted(found)), words_around])


def _shown(row: ScalarRow, candidate: ShownCandidate) -> str:
    return candidate.content if row.candidate_text == BODY else f"{candidate.title}\n{candidate.content}"


def _summary(candidate: ShownCandidate) -> str:
    abstract, closing, _ = candidate.content.partition("<Abstract>")[2].partition("</Abstract>")
    return f"{candidate.title}\n{abstract if closing else ''}"


class _EmbedLocal:
    """Chooses by embeddings, each text embedded once."""

    def __init__(self) -> None:
        from lm_eval_tasks.llm.weights import minilm_path
        from lm_eval_tasks.retrieval.retrievers import encoder

        self._encode = encoder(minilm_path("baseline"), "mean")
        self._known: dict[str, np.ndarray] = {}

    def __call__(self, row: ScalarRow) -> int:
        query = self._vectors([around_the_mask(row.question)])[0]
        scores = [float(np.mean(self._vectors(_passages(row, candidate)) @ query)) for candidate in row.candidates]
        return int(np.argmax(scores))

    def _vectors(self, texts: Sequence[str]) -> Any:
        """Return the embeddings of length 1, shape (texts, dimensions)."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._encode(new)
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            self._known |= dict(zip(new, vectors / np.where(lengths == 0, 1, lengths), strict=True))
        return np.stack([self._known[text] for text in texts])


def _passages(row: ScalarRow, candidate: ShownCandidate) -> list[str]:
    if row.candidate_text != BODY:
        return [_summary(candidate)]
    body = candidate.content
    return [body[len(body) * i // _PASSAGES :][:_PASSAGE] for i in range(_PASSAGES)]
