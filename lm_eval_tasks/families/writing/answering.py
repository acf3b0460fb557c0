"""How answers of writing tasks are read, and texts that need no model: what a score is worth is its distance from theirs."""

import hashlib
import re

from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.answering import Answering
from lm_eval_tasks.families.writing import COPY_DEMO, FUNCTION_WORDS, RANDOM_SENTENCE
from lm_eval_tasks.metrics import rouge
from lm_eval_tasks.samples.row import PromptRow

_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class WritingAnswering(Answering):
    """Answers that are texts."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """A text without what surrounds it."""
        refine = target_of(row.task).refine
        return refine(reply, row.target) if refine else reply

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """The output of the demonstration nearest to the answer; or as many words as the median train target has: the body's first ones,
        its sentences in a random order that the row's id decides, or function words alone.
        """
        if name == COPY_DEMO:
            return row.demonstrations[-1] if row.demonstrations else None
        if not row.lead_words:
            return None
        if name == FUNCTION_WORDS:
            return rouge.text_of(row.lead_words)
        text = row.content or ""
        if name == RANDOM_SENTENCE:
            pairs = enumerate(_SENTENCE.split(text))
            shuffled = sorted(pairs, key=lambda pair: hashlib.sha256(f"{row.id}|{pair[0]}".encode()).digest())
            text = " ".join(sentence for _, sentence in shuffled)
        return " ".join(text.split()[: row.lead_words])


ANSWERING = WritingAnswering()
