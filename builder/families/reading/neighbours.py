"""Families whose contexts are the papers around a new one, whole or cut into passages."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from builder.families.reading.asking import Question, ReadingFamily

if TYPE_CHECKING:
    from builder.families.reading.contexts import PaperSet
    from builder.records import Paper

# Fewer whole papers say too little about a set.
LEAST_PAPERS = 8


class NeighbourAsking(ReadingFamily[Question]):
    """A family over a new paper and its neighbours."""

    keeps_apart = True

    def others(self, paper: Paper) -> list[Paper]:
        """What may stand around a paper, the best first: papers that no context shows yet."""
        return sorted(self.library.around(paper), key=lambda other: other.id in self.shown)

    def joined(self, context: PaperSet) -> Collection[str]:
        """Their answers are in all the papers."""
        return [paper.id for paper in context.papers]
