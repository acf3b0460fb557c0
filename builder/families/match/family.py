"""Match as one of the families of `builder.dataset.families`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.families.match.rows import MatchFamily
from builder.families.reading.making import reading_family

if TYPE_CHECKING:
    from builder.families.reading.build import ReadingPlan
    from builder.families.reading.paper_library import PaperLibrary


def _asking(library: PaperLibrary, plan: ReadingPlan) -> list[MatchFamily]:
    return [MatchFamily(library, plan.seed, plan.oldest)]


FAMILY = reading_family(_asking)
