"""What the rest of the builder needs to know of a family of tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from builder.parquet.schema import Lacking, Row, RowSchema
from lm_eval_tasks.base.manifest import ListedConfiguration

if TYPE_CHECKING:
    from builder.parquet.tally import Measure
    from builder.stage_report import StageReport
    from builder.store import Store
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine

Written = Iterator[tuple[ListedConfiguration, Sequence["StageReport"]]]
# Check -> the rows that fail it, as "Configuration id".
Faults = dict[str, list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyBuilder:
    """How the rows of a family are built; families that are made together have the same functions, which then are called once.

    Attributes:
        schema: a task, as manifests call it -> what its rows have.
        complete: a row by id and its task -> the whole row, or why it cannot be had.
        prepare: fetches and reads, before the build, what the rows need besides the papers.
        write: writes into a folder what the round asks for; each configuration with the reports of its stage.
        faults: the rows that fail the family's checks.
        measure: a task -> what counts its rows; None if only what all families count is known of them.
        finish: adds to a configuration, once its files are there, what is measured over all its splits.
    """

    schema: Callable[[str], RowSchema]
    complete: Callable[[Row, str, Store], Row | Lacking]
    prepare: Callable[[Workspace, Engine], None] | None = None
    write: Callable[[Workspace, Path, Engine], Written] | None = None
    faults: Callable[[Path, Sequence[ListedConfiguration]], Faults] | None = None
    measure: Callable[[str], Measure] | None = None
    finish: Callable[[Path, ListedConfiguration], ListedConfiguration] | None = None
