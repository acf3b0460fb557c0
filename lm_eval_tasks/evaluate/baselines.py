"""Models that need no weights: what a score is worth is its distance from theirs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

from lm_eval.api.instance import Instance
from lm_eval.api.model import LM

from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.row_format import BM25_LOCAL, BM25_PARTS, EMBED_LOCAL, TITLE_SEARCH
from lm_eval_tasks.evaluate.generation import BLIND, WRITERS
from lm_eval_tasks.metrics import function_words
from lm_eval_tasks.metrics.answer_labels import write_list, write_pairs
from lm_eval_tasks.samples.answers import NOT_APPLICABLE, Generated
from lm_eval_tasks.samples.row import PromptRow

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def lead(row: PromptRow) -> str:
    """The first words of the body, as many as the median train target has; for SCALAR, the first candidate."""
    if row.candidate_ids:
        return _choice(0)
    return " ".join((row.content or "").split()[: row.lead_words])


def copy_demo(row: PromptRow) -> str | None:
    """The output of the demonstration nearest to the answer; None if there are no demonstrations."""
    return str(row.demonstrations[-1]["output"]) if row.demonstrations else None


def random_sentence(row: PromptRow) -> str:
    """Sentences of the body in a random order that the row's id decides, as many words as the median train target.

    For SCALAR, any candidate, chosen by the question's id.
    """
    if row.candidate_ids:
        return _choice(int(hashlib.sha256(row.id.encode()).hexdigest(), 16) % len(row.candidate_ids))
    sentences = _SENTENCE.split(row.content or "")
    order = sorted(range(len(sentences)), key=lambda i: hashlib.sha256(f"{row.id}|{i}".encode()).digest())
    return " ".join(" ".join(sentences[i] for i in order).split()[: row.lead_words])


def words_without_content(row: PromptRow) -> str:
    """Function words alone, as many as the median train target has words; for SCALAR, the first candidate."""
    return _choice(0) if row.candidate_ids else function_words.text_of(row.lead_words or 0)


def bm25_local(row: PromptRow) -> str | None:
    """Of SCALAR's candidates the one that BM25 finds for the sentence with the mask; None for other tasks."""
    return None if row.bm25_local is None else _choice(row.bm25_local)


def embed_local(row: PromptRow) -> str | None:
    """As `bm25_local`, by embeddings of the small model."""
    return None if row.embed_local is None else _choice(row.embed_local)


def blind(row: PromptRow) -> str | None:
    """Of reading questions, what the context has no part in: no paper at all, for each passage or mask the next label; None
    for other tasks.
    """
    if row.kind == "set":
        return write_list((), row.task)
    if row.kind == "pairs" and row.labels:
        return write_pairs({label: label % row.labels + 1 for label in row.asked or ()}, row.task)
    return None


def title_search(row: PromptRow) -> str | None:
    """Of Walk's papers those in whose text a search finds the titles; None for other tasks."""
    return write_list(row.shortcut or (), row.task) if row.kind == "set" else None


def bm25_parts(row: PromptRow) -> str | None:
    """What BM25 finds: for each of Next's passages another one, for Match's masks titles and abstracts; None for other
    tasks.
    """
    if row.kind != "pairs":
        return None
    return write_pairs(dict(zip(row.asked or (), row.shortcut or (), strict=True)), row.task)


def _choice(index: int) -> str:
    return f"<answer>{index}</answer>"


_ANSWERS: dict[str, Callable[[PromptRow], str | None]] = {
    **dict(zip(WRITERS, (lead, copy_demo, random_sentence, words_without_content), strict=True)),
    BLIND: blind,
    BM25_LOCAL: bm25_local,
    EMBED_LOCAL: embed_local,
    TITLE_SEARCH: title_search,
    BM25_PARTS: bm25_parts,
}


class BaselineLM(LM):  # type: ignore[misc]
    """A baseline as an lm-eval model; the tasks must be loaded with the metadata `keep_parts`.

    Args:
        name: a key of `BASELINES`.
    """

    tokenizer_name = ""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self._answer = _ANSWERS[name]

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        rows = [PromptRow.of_doc(request.doc) for request in requests]
        if any(row.kind == "writing" and row.content is None for row in rows):
            raise EvalError(
                f"the baseline {self.name} reads the body itself: load the tasks with metadata keep_parts=True"
            )
        answers = (None if row.labels and self.name in WRITERS else self._answer(row) for row in rows)
        # The empty text stands for an answer that a baseline does not have.
        return [Generated.of(text or "", "stop" if text is not None else NOT_APPLICABLE) for text in answers]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise NotImplementedError("the baselines only generate")

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise NotImplementedError("the baselines only generate")

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return chat_history[-1]["content"]
