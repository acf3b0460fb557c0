"""Walk as one of the families of `builder.dataset.families`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from builder.families.reading.making import reading_family
from builder.families.walk.rows import WalkFamily

if TYPE_CHECKING:
    from builder.families.reading.build import ReadingPlan
    from builder.families.reading.paper_library import PaperLibrary


def _asking(library: PaperLibrary, plan: ReadingPlan) -> list[WalkFamily]:
    return [WalkFamily(library, plan.seed, plan.questions, controls=controls) for controls in (False, True)]


FAMILY = reading_family(_asking)
