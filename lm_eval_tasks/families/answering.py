"""How a family's answers are read, placed and given without a model; loaded for those families whose tasks are used."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module

from lm_eval_tasks.families import of_task
from lm_eval_tasks.samples.prompt_row import PromptRow

# (What is asked, the place of its answer in the context from 0 to 1, its score.)
Placed = tuple[str, float, float]


class Answering:
    """The answers of a family; `ANSWERING` in the module `answering` of its folder."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """Return what is scored of an answer without its reasoning, "" for nothing."""
        return reply

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
