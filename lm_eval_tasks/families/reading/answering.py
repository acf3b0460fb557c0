"""How the reading families' rows become prompts, and how their answers are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.families.answering import Answering, Placed, answering_of
from lm_eval_tasks.families.labels import pairs_of
from lm_eval_tasks.families.reading import BLIND, ReadingFamily
from lm_eval_tasks.families.reading.metrics import share_right_of, write_pairs

if TYPE_CHECKING:
    from lm_eval_tasks.base.row_format import Context
    from lm_eval_tasks.families.reading.row import ReadingRow
    from lm_eval_tasks.samples.row import PromptRow

# What is shown of each part; None for one that is left out.
Parts = list[str | None]


class ReadingAnswering(Answering, ABC):
    """The rows and answers of one reading family."""

    def __init__(self, family: ReadingFamily) -> None:
        self.family = family

    @abstractmethod
    def shortened(self, row: ReadingRow, parts: Sequence[str], context: Context) -> Parts:
        """What a shorter context shows.

        Args:
            parts: what the full one does, see `reading.prompt.part_texts`.
            context: one that the family has.
        """

    @abstractmethod
    def check(self, row: ReadingRow) -> None:
        """Raise a ValueError for a row that the family cannot ask."""

    @abstractmethod
    def target(self, row: ReadingRow) -> str:
        """The right answer, as the prompt asks for it."""

    @abstractmethod
    def shortcut_score(self, row: ReadingRow) -> float:
        """What the shortcut of a row scores by the metric that models are ranked by."""

    def chance(self, row: ReadingRow) -> float | None:
        """What guessing scores for a row; None where the best constant tells it."""
        return None

    def blind_score(self, row: ReadingRow) -> float:
        """As `shortcut_score`, of the best answer that does not depend on the context."""
        return self.chance(row) or 0.0

    def best_constant(self, rows: Iterable[ReadingRow]) -> int | None:
        """Which constant answer is right most often over all rows; None where guessing tells it."""
        return None

    def fields(self, row: ReadingRow) -> dict[str, str]:
        """The fields of the prompt that tell what a row asks."""
        asked = ", ".join(f"{self.family.asked_word} {label}" for label in row.asked)
        return {"ASKED": asked, "MASKS": str(len(row.asked)), "WANTED": str(len(row.answer))}


class PairsAnswering(ReadingAnswering):
    """Of a family whose answers give each label that is asked about another one."""

    def check(self, row: ReadingRow) -> None:
        if not row.asked or not len(row.asked) == len(row.answer) == len(row.shortcut):
            raise ValueError(f"{row.id:.80} asks about {len(row.asked)} labels and has {len(row.answer)} answers")

    def target(self, row: ReadingRow) -> str:
        return self._written(dict(zip(row.asked, row.answer, strict=True)))

    def refine(self, reply: str, row: PromptRow) -> str:
        """The pairs that an answer names."""
        pairs = pairs_of(reply)
        return "" if pairs is None else self._written(pairs)

    def _written(self, pairs: dict[int, int]) -> str:
        return write_pairs(pairs, self.family.asked_word, self.family.word)

    def placed(self, row: PromptRow, answer: str, score: float) -> Iterator[Placed]:
        """Each label that is asked about."""
        pairs = pairs_of(answer) or {}
        for label, right in zip(row.asked or (), row.answer or (), strict=True):
            yield str(label), place_of(right, row), float(pairs.get(label) == right)

    def baseline(self, name: str, row: PromptRow, prompt: str) -> str | None:
        """For each label the next one; or what BM25 finds."""
        asked = row.asked or ()
        if name == BLIND:
            return self._written({label: label % row.labels + 1 for label in asked}) if row.labels else None
        return self._written(dict(zip(asked, row.shortcut or (), strict=True)))

    def shortcut_score(self, row: ReadingRow) -> float:
        return share_right_of(dict(zip(row.asked, row.shortcut, strict=True)), row.asked, row.answer)


def place_of(label: int, row: PromptRow) -> float:
    """Where a label stands in its context, from 0 to 1."""
    return (label - 0.5) / max(label, row.labels or 1)


def reading_answering(task: str) -> ReadingAnswering:
    """That of a reading family's task."""
    answering = answering_of(task)
    assert isinstance(answering, ReadingAnswering)
    return answering
