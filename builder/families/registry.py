"""All families at once, and the rows of a dataset folder through them.

A family is a folder beside this module, with the name that it has in `lm_eval_tasks/families`, whose list adds it. It describes itself
in `FAMILY`, and is loaded when a round has, or asks for, its rows, so that nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from builder.families.descriptor import FamilyBuilder, Faults, Written
from builder.parquet.read import read_file
from builder.parquet.schema import Row, RowSchema
from lm_eval_tasks import families as evaluated
from lm_eval_tasks.base.contract import PAPERS_TASK, SPLITS, Split
from lm_eval_tasks.base.manifest import ListedConfiguration

if TYPE_CHECKING:
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine

_NAMES = (*evaluated.NAMES, PAPERS_TASK)


def family_of(task: str) -> FamilyBuilder:
    """Find the family of a manifest's task."""
    return _load(PAPERS_TASK if task == PAPERS_TASK else evaluated.of_task(task).name)


def families() -> list[FamilyBuilder]:
    """List all families."""
    return [_load(name) for name in _NAMES]


@cache
def _load(name: str) -> FamilyBuilder:
    family = import_module(f"builder.families.{name}").FAMILY
    assert isinstance(family, FamilyBuilder)
    return family


def prepare(workspace: Workspace, engine: Engine) -> None:
    """Fetch and read what the rows of all families need besides the papers."""
    for prepare_family in dict.fromkeys(family.prepare for family in families() if family.prepare):
        prepare_family(workspace, engine)


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Write into a folder what the round asks for of all families."""
    for write_family in dict.fromkeys(family.write for family in families() if family.write):
        yield from write_family(workspace, folder, engine)


def faults(folder: Path, configurations: Sequence[ListedConfiguration]) -> Faults:
    """Find the rows that fail the checks of their families."""
    checks = dict.fromkeys(family.faults for family in families() if family.faults)
    return {name: rows for check in checks for name, rows in check(folder, configurations).items()}


# --- rows as a manifest lists them


def schema_of(configuration: ListedConfiguration) -> RowSchema:
    """Find what the rows of a configuration have."""
    return family_of(configuration.task).schema(configuration.task)


def columns_of(configuration: ListedConfiguration) -> pa.Schema:
    """Find the columns of a configuration's files."""
    schema = schema_of(configuration)
    return schema.id_columns if configuration.form == "ids" else schema.columns


def read_rows(
    folder: Path, configuration: ListedConfiguration, split: Split, columns: Sequence[str] | None = None
) -> Iterator[Row]:
    """Read the rows of one split of a dataset folder, few in memory at a time.

    Args:
        columns: those that are read, as pyarrow names them (`demonstrations.list.element.id` for a part of a list); all without any.

    Raises:
        FolderError: a file is missing, or is not what its configuration says.
    """
    for file in configuration.files(split):
        yield from read_file(folder, file, columns_of(configuration), columns)


def rows_of(
    folder: Path, configuration: ListedConfiguration, columns: Sequence[str] | None = None
) -> Iterator[tuple[Split, Row]]:
    """Read the rows of a configuration with their splits, split after split; see `read_rows`."""
    for split in SPLITS:
        for row in read_rows(folder, configuration, split, columns):
            yield split, row


def with_positions(rows: Iterable[Row], taken: Collection[int]) -> Iterator[tuple[int, Row]]:
    """Yield the number the whole rows of a split by their positions in the completed one: those that no row by id has, in order."""
    return zip((position for position in count() if position not in taken), rows, strict=False)
