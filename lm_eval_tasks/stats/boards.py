"""The two boards of a round, writing and reading: which of its configurations each one counts. No number averages over both.

Similarity to the authors' text and right answers differ too much between models to be one scale: by the published tables, the standard
deviation between models, after placing, is 0.01 to 0.02 for texts and 0.15 to 0.30 for SCALAR.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import get_args

from lm_eval_tasks.families.every import FAMILIES
from lm_eval_tasks.families.family import Board

BOARDS: tuple[Board, ...] = get_args(Board)
WRITING, READING = BOARDS


def comparisons(boards: Mapping[str, Board]) -> int:
    """How many rows the comparison of two models has: one for each task, and one for each board that counts several of them.

    Args:
        boards: name of a task, as of a configuration -> its board.
    """
    sets = [counted([name for name in boards if boards[name] == board], board) for board in BOARDS]
    return len(boards) + sum(len(names) > 1 for names in sets)


def counted(names: Collection[str], board: Board, core: Collection[str] = ()) -> tuple[str, ...]:
    """The configurations that a board counts, which no model's runs decide.

    Args:
        names: of the round's configurations.
        core: those that the round's manifest calls its core.
    """
    return tuple(name for family in FAMILIES if family.board == board for name in family.counted(names, core))
