"""Which of a source's papers belong to a round, and all of them in a window of days."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from builder.progress import progress
from builder.records import Drop, Paper
from builder.report import StageReport
from builder.round import Round
from builder.sources import Source
from builder.store import in_categories


def belonging(round_: Round, items: Iterable[Paper | Drop]) -> Iterator[Paper | Drop]:
    """The same items, those of other categories as drops."""
    wanted = frozenset(round_.papers.categories)
    for item in items:
        outside = isinstance(item, Paper) and not in_categories(item, wanted)
        yield Drop(item.id, "other_category") if outside else item


def harvest(
    round_: Round, source: Source, first: date | None, last: date | None, report: StageReport
) -> Iterator[Paper]:
    """Yield the papers that belong to the round, and report the others.

    Drop reasons: bad_record, withdrawn, outside_window, other_category.
    """
    for item in belonging(round_, progress(source.submitted_between(first, last), "harvest")):
        if isinstance(item, Drop):
            report.drop(item.id, item.reason)
        else:
            report.kept += 1
            yield item
