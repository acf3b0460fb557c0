"""How SCALAR's answers are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lm_eval_tasks.base.row_format import OF_SCALAR
from lm_eval_tasks.families.answering import Answering, Placed
from lm_eval_tasks.families.labels import answer_of
from lm_eval_tasks.families.scalar import ANY, FIRST

if TYPE_CHECKING:
    from lm_eval_tasks.samples.row import PromptRow


class ScalarAnswering(Answering):
    """Answers that name a candidate."""

    def refine(self, reply: str, row: PromptRow) -> str:
        """The index of the candidate that an answer names."""
        chosen = answer_of(reply, len(row.candidate_ids or ()))
        return "" if chosen is None else str(chosen)

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """The right candidate."""
        if row.label is not None:
            yield "", (row.label + 0.5) / len(row.candidate_ids or (0,)), score

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """What a shortcut of `shortcuts` chooses, the first candidate, or any, chosen by the question's id."""
        digest = int(hashlib.sha256(row.id.encode()).hexdigest(), 16)
        choices: dict[str, int | None] = {
            **dict.fromkeys(FIRST, 0),
            ANY: digest % len(row.candidate_ids or (0,)),
            **{name: getattr(row, name.replace("-", "_")) for name in OF_SCALAR},
        }
        return None if (choice := choices[name]) is None else f"<answer>{choice}</answer>"


ANSWERING = ScalarAnswering()
