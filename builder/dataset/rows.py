"""What the rows of a configuration are, told by the manifest alone; and reading them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset import question_rows, writing_rows
from builder.dataset.manifest import Configuration
from builder.errors import FolderError
from builder.records import SPLITS, Split
from builder.round.licenses import Licenses, allows
from lm_eval_tasks.row_format import IDS

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RowKind:
    """A kind of row, that of a writing task or SCALAR's.

    Attributes:
        columns, id_columns: of whole rows, and of rows by id.
        texts: a whole row -> every text in it, by its place.
        papers: a row of either form -> (id with version, licence) of the papers whose texts it shows or stands for.
        id_row: a whole row and its position in its split -> the row by id.
    """

    columns: pa.Schema
    id_columns: pa.Schema
    texts: Callable[[Row], dict[str, str]]
    papers: Callable[[Row], list[tuple[str, str]]]
    id_row: Callable[[Row, int], Row]


def kind_of(configuration: Configuration) -> RowKind:
    """The kind of a configuration's rows."""
    task = configuration.task
    if task == "cloze":
        return RowKind(
            question_rows.COLUMNS,
            question_rows.ID_COLUMNS,
            question_rows.texts,
            question_rows.papers,
            question_rows.id_row,
        )
    return RowKind(
        writing_rows.columns(task), writing_rows.ID_COLUMNS, writing_rows.texts, writing_rows.papers,
        partial(writing_rows.id_row, task=task),
    )  # fmt: skip


def columns_of(configuration: Configuration) -> pa.Schema:
    """The columns of a configuration's files."""
    kind = kind_of(configuration)
    return kind.id_columns if configuration.form == "ids" else kind.columns


def by_ids(configuration: Configuration) -> Configuration:
    """The empty configuration for rows of this one by id alone."""
    return Configuration(configuration.name + IDS, configuration.task, "ids", configuration.name)


def emptied(configuration: Configuration) -> Configuration:
    """The configuration without its files, to be written anew."""
    return replace(configuration, splits={})


def may_publish(papers: Iterable[tuple[str, str]], licenses: Licenses) -> bool:
    """Whether the licences of all papers whose texts a row shows, see `RowKind.papers`, allow it."""
    return all(allows(license_, licenses) for _, license_ in papers)


def read_rows(folder: Path, configuration: Configuration, split: Split) -> Iterator[Row]:
    """The rows of one split of a dataset folder, one group in memory at a time.

    Raises:
        FolderError: a file is missing, or is not what its configuration says.
    """
    columns = columns_of(configuration)
    for one in configuration.files(split):
        try:
            with pq.ParquetFile(folder / one.path) as file:
                if not file.schema_arrow.equals(columns):
                    raise FolderError(
                        f"{folder / one.path} has other columns than {configuration.name}; build it again"
                    )
                for group in range(file.num_row_groups):
                    yield from file.read_row_group(group).to_pylist()
        except (pa.ArrowException, OSError) as err:
            reason = str(err).partition("\n")[0]
            raise FolderError(f"{folder / one.path} cannot be read ({reason}); build the folder again") from err


def rows_of(folder: Path, configuration: Configuration) -> Iterator[tuple[Split, Row]]:
    """The rows of a configuration with their splits, split after split."""
    for split in SPLITS:
        for row in read_rows(folder, configuration, split):
            yield split, row


def with_positions(rows: Iterable[Row], taken: Collection[int]) -> Iterator[tuple[int, Row]]:
    """The whole rows of a split with their positions in the completed one: those that no row by id has, in order."""
    return zip((position for position in count() if position not in taken), rows, strict=False)
