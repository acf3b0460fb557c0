"""The configurations of a round: which of the known ones it asks for, its own ones, and names that could be mistaken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from builder.errors import RoundError
from lm_eval_tasks.base.contract import IDS, WRITING_TASKS, Task

if TYPE_CHECKING:
    from builder.stage_report import StageReport
    from lm_eval_tasks.families.writing.settings import Setting

_LENGTH = re.compile(r"-(\d+)K")


def by_task(settings: Iterable[Setting]) -> dict[Task, tuple[Setting, ...]]:
    """Return the settings of each task, for the tasks that have any."""
    chosen = tuple(settings)
    grouped = {task: tuple(setting for setting in chosen if setting.task == task) for task in WRITING_TASKS}
    return {task: group for task, group in grouped.items() if group}


def shrunk(chosen: Iterable[Setting], reports: Sequence[StageReport]) -> Iterator[str]:
    """Yield which settings have fewer samples because others of their task, which has the same papers in all, need demonstrations."""
    kept = {report.stage: report for report in reports}
    for task, settings in by_task(chosen).items():
        report = kept.get(f"samples {task}")
        if report:
            co_author, random = (report.dropped[f"too_few_{kind}_demonstrations"] for kind in ("co_author", "random"))
            plain = [each.name for each in settings if not (each.random or each.co_author)]
            others = [each.name for each in settings if each.random or each.co_author]
            yield from _fewer(report.kept, plain, others, co_author + random, "demonstrations")
            of_random = [each.name for each in settings if each.random and not each.co_author]
            of_co_authors = [each.name for each in settings if each.co_author]
            yield from _fewer(report.kept, of_random, of_co_authors, co_author, "co-authors' papers")


def _fewer(kept: int, names: Sequence[str], others: Sequence[str], lost: int, what: str) -> Iterator[str]:
    if names and lost:
        need = "need" if len(others) > 1 else "needs"
        yield (
            f"{', '.join(names)}: {kept} samples instead of {kept + lost}, because {', '.join(others)} {need} {what}; a round without them "
            "has these samples"
        )


def refuse_names(own: Iterable[str], taken: Iterable[str], what: str) -> None:
    """Raise a RoundError for one of the round's own names that could be taken for another configuration.

    Names become folders, and some file systems do not distinguish capitals.
    """
    known = {name.casefold() for name in taken}
    for name in own:
        if name.casefold() in known:
            raise RoundError(f"the {what} {name!r} of round.toml has the name of another one; rename it")
        if name.casefold().endswith(IDS):
            raise RoundError(
                f"the {what} {name!r} of round.toml ends like the name of a derived configuration; rename it"
            )
        known.add(name.casefold())


def thousands_in(name: str) -> int | None:
    """Return the thousands of tokens in a setting's name: 28 of "Intro-28K-G"."""
    length = _LENGTH.search(name)
    return int(length[1]) if length else None
