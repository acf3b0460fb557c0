"""Which rounds a workspace has been brought to, and what that took."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from builder.stage_report import StageReport

if TYPE_CHECKING:
    from builder.store import Store

_NOTE = "rounds"


@dataclass(frozen=True, slots=True)
class Covered:
    """A finished crawl or update.

    Attributes:
        last_day: the last day that was covered.
        settings: what the work depended on besides the round's name.
    """

    last_day: date
    report: StageReport
    settings: str = ""


def read_coverage(store: Store) -> dict[str, Covered]:
    """Round -> what was done for it."""
    note = store.note(_NOTE) or {}
    assert isinstance(note, dict)
    return {
        name: Covered(date.fromisoformat(entry["last_day"]), StageReport.from_dict(entry["report"]), entry["settings"])
        for name, entry in note.items()
    }


def finish(store: Store, round_: str, done: Covered) -> None:
    """Note that a round is done."""
    note = store.note(_NOTE) or {}
    assert isinstance(note, dict)
    note[round_] = {
        "last_day": done.last_day.isoformat(),
        "report": done.report.to_dict(),
        "settings": done.settings,
    }
    store.set_note(_NOTE, note)


def months_before(day: date, months: int) -> date:
    """The same day of an earlier month, or that month's last."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))
