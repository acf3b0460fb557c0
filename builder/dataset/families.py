"""Families of questions with exact answers, such as SCALAR: what the rest of the builder needs to know of each.

A family is a folder with a module that describes it in `FAMILY`; a line of `records.FAMILY_MODULES` adds it. The module is loaded when
a round has, or asks for, the family's rows, so that nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from builder.dataset.row_kind import Row, RowKind
from builder.records import FAMILY_MODULES

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration
    from builder.stage_report import StageReport
    from builder.store import Store
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.base import Engine

Lacking = Literal["missing_paper", "missing_file", "changed_text"]


@dataclass(frozen=True, slots=True)
class Family:
    """A family of questions.

    Attributes:
        label: its task, for display.
        rows: the kind of its rows.
        complete: a row by id -> the whole row, or why it cannot be had.
        prepare: fetches and reads, before the build, what the questions need besides the papers.
        write: writes into a folder what the round asks for; each configuration with the reports of its stage.
    """

    label: str
    rows: RowKind
    complete: Callable[[Row, Store], Row | Lacking]
    prepare: Callable[[Workspace, Engine], None]
    write: Callable[[Workspace, Path], Iterator[tuple[Configuration, Sequence[StageReport]]]]


def family_of(task: str) -> Family:
    """The family of a manifest's task."""
    return _load(FAMILY_MODULES[task])


def families() -> list[Family]:
    """All families."""
    return [_load(module) for module in dict.fromkeys(FAMILY_MODULES.values())]


@cache
def _load(module: str) -> Family:
    family = import_module(module).FAMILY
    assert isinstance(family, Family)
    return family
