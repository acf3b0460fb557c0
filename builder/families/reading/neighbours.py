"""Families whose contexts are the papers around a new one, whole or cut into passages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from builder.families.reading.asking import Question, ReadingFamily
from builder.families.reading.contexts import PaperSet, fill

if TYPE_CHECKING:
    from builder.records import Paper, ReadingReason

# Fewer papers say too little about a set.
LEAST_PAPERS = 8


class NeighbourAsking(ReadingFamily[Question]):
    """A family over a new paper and its neighbours."""

    fewest = LEAST_PAPERS
    keeps_apart = True
    # Why a paper without tokens cannot be shown.
    unfit: ReadingReason

    @abstractmethod
    def tokens(self, paper: Paper) -> int | None:
        """The tokens that a paper adds to a context; None if it cannot be shown."""

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        if self.tokens(paper) is None:
            return self.unfit
        others = sorted(self.library.around(paper), key=lambda other: other.id in self.shown)
        return fill(paper, others, sizes, self.tokens)

    def joined(self, context: PaperSet) -> Collection[str]:
        """Their answers are in all the papers."""
        return [paper.id for paper in context.papers]
