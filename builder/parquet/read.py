"""How the rows of a split are read: few in memory at a time, from files that are what their manifest says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builder.errors import FolderError
from builder.parquet.schema import Row
from lm_eval_tasks.base.manifest import DataFile, place_of
from lm_eval_tasks.base.unpacked import batch_rows, check_values, largest_chunk

# Offsets and bit maps, which differ with how a table is cut into batches.
_SLACK = 1 << 24


def read_file(folder: Path, data_file: DataFile, schema: pa.Schema, columns: Sequence[str] | None) -> Iterator[Row]:
    """Read the rows of one file of a dataset folder.

    Args:
        schema: all columns that the file must have.
        columns: those that are read, as pyarrow names them (`demonstrations.list.element.id` for a part of a list); all without any.

    Raises:
        FolderError: the file is missing, or is not what its manifest says.
    """
    path = place_of(folder, data_file.path)
    try:
        with pq.ParquetFile(path) as file:
            if not file.schema_arrow.equals(schema) or file.metadata.num_rows != data_file.rows:
                raise FolderError(
                    f"{path} does not have the columns and rows of {path.parent.name}; build the folder again"
                )
            for batch in _batches(file, path, data_file.nbytes + _SLACK, columns):
                yield from batch.to_pylist()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
        reason = str(err).partition("\n")[0]
        raise FolderError(f"{path} cannot be read ({reason}); build the folder again") from err


def _batches(file: pq.ParquetFile, path: Path, most: int, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """Read a file in batches of at most so many bytes together."""
    check_values(path, file.metadata)
    size, largest = 0, largest_chunk(file.metadata)
    if largest > most:
        raise FolderError(f"{path} contains more than its manifest says; build the folder again")
    for batch in file.iter_batches(batch_rows(largest), columns=columns):
        size += batch.nbytes
        if size > most or any(map(_has_null, batch.columns)):
            raise FolderError(f"{path} contains more than its manifest says, or empty cells; build the folder again")
        yield batch


def _has_null(array: pa.Array) -> bool:
    if array.null_count:
        return True
    if pa.types.is_struct(array.type):
        return any(_has_null(child) for child in array.flatten())
    return pa.types.is_list(array.type) and _has_null(array.flatten())
