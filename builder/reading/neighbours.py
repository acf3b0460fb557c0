"""Families whose contexts are the papers around a new one, whole or cut into passages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.reading.asking import Asking, Question
from builder.reading.contexts import Context, fill

if TYPE_CHECKING:
    from builder.records import Paper, ReadingReason

# Fewer papers say too little about a set.
LEAST_PAPERS = 8


class NeighbourAsking(Asking[Question]):
    """A family over a new paper and its neighbours."""

    fewest = LEAST_PAPERS
    # Why a paper without tokens cannot be shown.
    unfit: ReadingReason

    @abstractmethod
    def tokens(self, paper: Paper) -> int | None:
        """The tokens that a paper adds to a context; None if it cannot be shown."""

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, Context] | ReadingReason:
        if self.tokens(paper) is None:
            return self.unfit
        return fill(paper, self.shelf.around(paper), sizes, self.tokens)
