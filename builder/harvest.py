"""All papers of a source in a window of days, without those that the round does not want."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from builder.progress import progress
from builder.records import Drop, Paper
from builder.report import StageReport
from builder.round import Round
from builder.sources import Source
from builder.store import in_categories


def harvest(
    round_: Round, source: Source, first: date | None, last: date | None, report: StageReport
) -> Iterator[Paper]:
    """Yield the papers that belong to the round, and report the others.

    Drop reasons: bad_record, withdrawn, outside_window, other_category.
    """
    wanted = frozenset(round_.papers.categories)
    for item in progress(source.submitted_between(first, last), "harvest"):
        if isinstance(item, Drop):
            report.drop(item.id, item.reason)
        elif not in_categories(item, wanted):
            report.drop(item.id, "other_category")
        else:
            report.kept += 1
            yield item
