"""Stage 5: papers -> train, validation and test by the day of version 1: the test split is the newest.

Section 3.2 of the AcademicEval paper (chronological split).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from builder.records import Paper, SplitDates

if TYPE_CHECKING:
    from builder.round.tables import SplitTable


def split_dates(table: SplitTable, papers: Sequence[Paper]) -> SplitDates:
    """The days given in round.toml, or those that come closest to its shares; papers of one day stay together."""
    if table.validation_from and table.test_from:
        return SplitDates(table.validation_from, table.test_from)
    days = sorted(paper.published for paper in papers)
    if not days:
        return SplitDates(date.min, date.max)
    test_from, validation_from = (
        days[min(len(days) - 1, round(len(days) * (1 - share)))]
        for share in (table.test, table.test + table.validation)
    )
    return SplitDates(min(validation_from, test_from), test_from)
