"""The two boards of a round, writing and reading: which of its configurations each one counts. No number averages over both.

Similarity to the authors' text and right answers differ too much between models to be one scale: by the published tables, the standard
deviation between models, after placing, is 0.01 to 0.02 for texts and 0.15 to 0.30 for SCALAR.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from lm_eval_tasks.tasks.records import CORE_READINGS, LEVELS, MATCH_CORE, SETTINGS, TARGETS, Kind


@dataclass(frozen=True, slots=True)
class Board:
    """A board: its title, and the kinds of tasks that it counts."""

    title: str
    kinds: tuple[Kind, ...]


WRITING = Board("Writing", ("writing",))
READING = Board("Reading", ("cloze", "set", "pairs"))
BOARDS = (WRITING, READING)


def counted(names: Collection[str], board: Board, core: Collection[str] = ()) -> tuple[str, ...]:
    """The configurations that a board counts, which no model's runs decide.

    Of writing one setting of each task, that with demonstrations by co-authors if there is one, else the first; of reading all
    levels of SCALAR, and the core of the reading families.

    Args:
        names: of the round's configurations.
        core: those that the round's manifest calls its core; Match is counted only if it is one of them.
    """
    if board is READING:
        known = [*(level.name for level in LEVELS), *(reading.name for reading in CORE_READINGS)]
        return tuple(
            name for name in (*known, MATCH_CORE.configuration) if name in names and (name in known or name in core)
        )
    settings = [
        next(iter(sorted(of_task, key=lambda setting: not (setting.co_author and not setting.random))), None)
        for of_task in (
            [setting for setting in SETTINGS if setting.task == target.name and setting.name in names]
            for target in TARGETS
        )
    ]
    return tuple(setting.name for setting in settings if setting)
