"""What the rest of the builder needs to know of each family of tasks.

A family is a folder of `builder/families`, with the name that it has in `lm_eval_tasks/families`, whose list adds it. Its module
`family.py` describes it in `FAMILY`, and is loaded when a round has, or asks for, its rows, so that nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from builder.dataset.row_kind import Row, RowKind
from builder.records import PAPERS
from lm_eval_tasks import families as evaluated

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration
    from builder.stage_report import StageReport
    from builder.store import Store
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.base import Engine

NAMES = (*evaluated.NAMES, PAPERS)
Lacking = Literal["missing_paper", "missing_file", "changed_text"]
Written = Iterator[tuple["Configuration", Sequence["StageReport"]]]
# Check -> the rows that fail it, as "Configuration id".
Faults = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A family of tasks; families that are made together have the same functions, which then are called once.

    Attributes:
        rows: a task, as manifests call it -> the kind of its rows.
        complete: a row by id and its task -> the whole row, or why it cannot be had.
        prepare: fetches and reads, before the build, what the rows need besides the papers.
        write: writes into a folder what the round asks for; each configuration with the reports of its stage.
        faults: the rows that fail the family's checks.
    """

    rows: Callable[[str], RowKind]
    complete: Callable[[Row, str, Store], Row | Lacking]
    prepare: Callable[[Workspace, Engine], None] | None = None
    write: Callable[[Workspace, Path, Engine], Written] | None = None
    faults: Callable[[Path, Sequence[Configuration]], Faults] | None = None


def family_of(task: str) -> Family:
    """The family of a manifest's task."""
    return _load(PAPERS if task == PAPERS else evaluated.of_task(task).name)


def families() -> list[Family]:
    """All families."""
    return [_load(name) for name in NAMES]


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read what the rows of all families need besides the papers."""
    for prepare_family in dict.fromkeys(family.prepare for family in families() if family.prepare):
        prepare_family(workspace, engine)


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Write into a folder what the round asks for of all families."""
    for write_family in dict.fromkeys(family.write for family in families() if family.write):
        yield from write_family(workspace, folder, engine)


def faults(folder: Path, configurations: Sequence[Configuration]) -> Faults:
    """The rows that fail the checks of their families."""
    checks = dict.fromkeys(family.faults for family in families() if family.faults)
    return {name: rows for check in checks for name, rows in check(folder, configurations).items()}


@cache
def _load(name: str) -> Family:
    family = import_module(f"builder.families.{name}.family").FAMILY
    assert isinstance(family, Family)
    return family
