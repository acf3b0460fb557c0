"""The registry of writing settings: which task, and how many demonstrations of which kind. Data, no code branches on names.

Names and counts are those of Table 2 of the AcademicEval paper (section 3.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from builder.errors import RoundError
from builder.records import TASKS, Task
from builder.round.names import refuse_names
from lm_eval_tasks.core.text import suggestion


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration of the dataset.

    Attributes:
        name: the configuration's name, e.g. "Intro-28K-G".
        random: demonstrations drawn from papers of the same primary category.
        co_author: demonstrations drawn from papers of the co-author graph's neighbours.
        tokens: a budget of bert-base-uncased tokens for the whole input: of the kinds that have any, as many whole
            demonstrations as fit are shown, up to `random` and `co_author`; None shows exactly that many.
    """

    name: str
    task: Task
    random: int = 0
    co_author: int = 0
    tokens: int | None = None


BUILT_IN: tuple[Setting, ...] = (
    Setting("Title-10K", "title"),
    Setting("Title-30K", "title", random=2),
    Setting("Title-31K-G", "title", co_author=2),
    Setting("Title-50K-M", "title", random=2, co_author=2),
    Setting("Abs-9K", "abs"),
    Setting("Abs-28K", "abs", random=2),
    Setting("Abs-29K-G", "abs", co_author=2),
    Setting("Abs-48K-M", "abs", random=2, co_author=2),
    Setting("Intro-8K", "intro"),
    Setting("Intro-28K", "intro", random=2),
    Setting("Intro-28K-G", "intro", co_author=2),
    Setting("Intro-48K-M", "intro", random=2, co_author=2),
    Setting("Related-34K", "related"),
    Setting("Related-53K", "related", random=2),
    Setting("Related-53K-G", "related", co_author=2),
    Setting("Related-72K-M", "related", random=2, co_author=2),
)


def select(names: Iterable[str], own: Iterable[Setting] = ()) -> tuple[Setting, ...]:
    """The settings of these names, in the registry's order, and all of the round's own.

    Raises:
        RoundError: a name that is not in the registry, or one of the round's own settings that has the name of another.
    """
    wanted, own = set(names), tuple(own)
    refuse_names([setting.name for setting in own], [setting.name for setting in BUILT_IN], "setting")
    unknown = sorted(wanted - {setting.name for setting in (*BUILT_IN, *own)})
    if unknown:
        hint = suggestion(unknown[0], [setting.name for setting in BUILT_IN])
        raise RoundError(f"unknown setting {unknown[0]!r}: {hint}")
    return tuple(setting for setting in BUILT_IN if setting.name in wanted) + own


def by_task(settings: Iterable[Setting]) -> dict[Task, tuple[Setting, ...]]:
    """The settings of each task, for the tasks that have any."""
    chosen = tuple(settings)
    grouped = {task: tuple(setting for setting in chosen if setting.task == task) for task in TASKS}
    return {task: group for task, group in grouped.items() if group}
