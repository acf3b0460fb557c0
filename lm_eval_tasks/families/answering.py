"""How a family's answers are read, placed and given without a model; loaded for those families whose tasks are used."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from lm_eval_tasks.base.likelihood import Likelihood
from lm_eval_tasks.families import of_task
from lm_eval_tasks.samples.prompt_row import PromptRow

# (What is asked, the place of its answer in the context from 0 to 1, its score.)
Placed = tuple[str, float, float]


class Answering:
    """The answers of a family; `ANSWERING` in the module `answering` of its folder."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return what is scored of an answer without its reasoning, "" for nothing."""
        return reply

    def likelihoods(self, doc: Mapping[str, Any]) -> list[str]:
        """Return the texts whose likelihood is asked of a row by likelihood, as lm-eval has it."""
        return [self.text(doc)]

    def text(self, doc: Mapping[str, Any]) -> str:
        """Return the one text whose likelihood is asked, without the space around it, so that no white space is scored."""
        return str(doc["target"]).strip()

    def part_of(self, row: PromptRow) -> str:
        """Return the part of the rows, by where they have what is to be read, that a row belongs to; "" without parts."""
        return ""

    def likeliest(self, likelihoods: Sequence[Likelihood]) -> str:
        """Return what is scored as the answer of a row by likelihood: of a choice, the likeliest."""
        return ""

    def copied(self, row: PromptRow) -> list[tuple[int, int]]:
        """Return the bytes, from and to, of the text whose likelihood is asked that the prompt shows too."""
        return []

    def fills(self, row: PromptRow) -> bool:
        """Tell whether a row has as many words to show as its context shows, and its prompt was not cut."""
        return False

    def by_program(self, name: str, prompt: str, text: str) -> Likelihood | None:
        """Return the likelihood of a text behind a prompt that the bits of one of the family's programs stand for; None without any."""
        return None

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Yield the parts of a scored answer whose right answers have a place in the context."""
        yield from ()

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """Return the answer of one of the family's baselines; None if it has none to this prompt, which is as a model is asked it."""
        return None


@cache
def answering_of(task: str) -> Answering:
    """Return how answers to the prompts of a task are read, see `families.of_task`."""
    answering = import_module(f"lm_eval_tasks.families.{of_task(task).name}.answering").ANSWERING
    assert isinstance(answering, Answering)
    return answering
