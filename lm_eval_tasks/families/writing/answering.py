"""How answers of writing tasks are read, and texts that need no model: what a score is worth is its distance from theirs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from lm_eval_tasks.base.row_format import LEAD
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.answering import Answering
from lm_eval_tasks.families.writing import COPY_DEMO, FUNCTION_WORDS, RANDOM_SENTENCE
from lm_eval_tasks.metrics import rouge

if TYPE_CHECKING:
    from lm_eval_tasks.samples.row import PromptRow

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def lead(row: PromptRow) -> str | None:
    """The first words of the body, as many as the median train target has; None without train papers."""
    return " ".join((row.content or "").split()[: row.lead_words]) if row.lead_words else None


def copy_demo(row: PromptRow) -> str | None:
    """The output of the demonstration nearest to the answer; None if there are no demonstrations."""
    return row.demonstrations[-1] if row.demonstrations else None


def random_sentence(row: PromptRow) -> str | None:
    """Sentences of the body in a random order that the row's id decides, as many words as the median train target; None as for `lead`."""
    if not row.lead_words:
        return None
    sentences = _SENTENCE.split(row.content or "")
    order = sorted(range(len(sentences)), key=lambda i: hashlib.sha256(f"{row.id}|{i}".encode()).digest())
    return " ".join(" ".join(sentences[i] for i in order).split()[: row.lead_words])


def words_without_content(row: PromptRow) -> str | None:
    """Function words alone, as many as the median train target has words; None as for `lead`."""
    return rouge.text_of(row.lead_words) if row.lead_words else None


_BASELINES: dict[str, Callable[[PromptRow], str | None]] = {
    LEAD: lead,
    COPY_DEMO: copy_demo,
    RANDOM_SENTENCE: random_sentence,
    FUNCTION_WORDS: words_without_content,
}


class WritingAnswering(Answering):
    """Answers that are texts."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """A text without what surrounds it."""
        refine = target_of(row.task).refine
        return refine(reply, row.target) if refine else reply

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        return _BASELINES[name](row)


ANSWERING = WritingAnswering()
