"""What the rows of a configuration are, according to the manifest alone, and how they are read."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset.families import Row, RowKind, family_of
from builder.dataset.manifest import Configuration, DataFile, place_of
from builder.errors import FolderError
from builder.records import SPLITS, Split
from builder.round.licenses import Licenses, allows
from lm_eval_tasks.base.listing import batch_rows, largest_chunk

# Offsets and bit maps, which differ with how a table is cut into batches.
_SLACK = 1 << 24


def kind_of(configuration: Configuration) -> RowKind:
    """The kind of a configuration's rows."""
    return family_of(configuration.task).rows(configuration.task)


def columns_of(configuration: Configuration) -> pa.Schema:
    """The columns of a configuration's files."""
    kind = kind_of(configuration)
    return kind.id_columns if configuration.form == "ids" else kind.columns


def may_publish(papers: Iterable[tuple[str, str]], licenses: Licenses) -> bool:
    """Whether the licences of all papers whose texts a row shows, see `RowKind.papers`, allow it."""
    return all(allows(license_, licenses) for _, license_ in papers)


def read_rows(
    folder: Path, configuration: Configuration, split: Split, columns: Sequence[str] | None = None
) -> Iterator[Row]:
    """The rows of one split of a dataset folder, few in memory at a time.

    Args:
        columns: those that are read, as pyarrow names them (`demonstrations.list.element.id` for a part of a list); all without any.

    Raises:
        FolderError: a file is missing, or is not what its configuration says.
    """
    for file in configuration.files(split):
        yield from _rows(folder, configuration, file, columns)


def _rows(
    folder: Path, configuration: Configuration, data_file: DataFile, columns: Sequence[str] | None
) -> Iterator[Row]:
    path, size = place_of(folder, data_file.path), 0
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(columns_of(configuration)) or file.metadata.num_rows != data_file.rows:
                raise FolderError(f"{path} does not have the columns and rows of {configuration.name}; build it again")
            largest = largest_chunk(file.metadata)
            if largest > data_file.nbytes + _SLACK:
                raise FolderError(f"{path} contains more than its manifest says; build the folder again")
            for batch in file.iter_batches(batch_rows(largest), columns=columns):
                size += batch.nbytes
                if size > data_file.nbytes + _SLACK or any(map(_has_null, batch.columns)):
                    raise FolderError(
                        f"{path} contains more than its manifest says, or empty cells; build the folder again"
                    )
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        reason = str(err).partition("\n")[0]
        raise FolderError(f"{path} cannot be read ({reason}); build the folder again") from err


def _has_null(array: pa.Array) -> bool:
    if array.null_count:
        return True
    if pa.types.is_struct(array.type):
        return any(_has_null(part) for part in array.flatten())
    return pa.types.is_list(array.type) and _has_null(array.flatten())


def rows_of(
    folder: Path, configuration: Configuration, columns: Sequence[str] | None = None
) -> Iterator[tuple[Split, Row]]:
    """The rows of a configuration with their splits, split after split; see `read_rows`."""
    for split in SPLITS:
        for row in read_rows(folder, configuration, split, columns):
            yield split, row


def with_positions(rows: Iterable[Row], taken: Collection[int]) -> Iterator[tuple[int, Row]]:
    """The whole rows of a split with their positions in the completed one: those that no row by id has, in order."""
    return zip((position for position in count() if position not in taken), rows, strict=False)
