"""How much a Parquet file unpacks to: a small file may hold more than a machine's memory."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import DatasetError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

# The most that is unpacked at a time.
_ROWS, _BYTES = 64, 1 << 29
# Texts pack to a quarter, repeated ones to less; what a file may unpack to, in all.
_MOST_TIMES, _LEAST = 100, 1 << 30
# That a value takes in memory besides its text.
_BYTES_OF_VALUE = 8


def largest_chunk(metadata: "pq.FileMetaData") -> int:
    """Count the bytes of the largest column chunk, unpacked: the most that one value, which a dictionary may repeat, can take up."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    return max((column.total_uncompressed_size for column in columns), default=0)


def batch_rows(largest: int) -> int:
    """Choose how many rows are unpacked at a time, so that even values of the largest size fit."""
    return max(1, min(_ROWS, _BYTES // max(1, largest)))


def _values(metadata: "pq.FileMetaData") -> tuple[int, int]:
    """Count the values of all column chunks, and of the largest; a list of a row has any number of them, whatever its size."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    counts = [group.column(i).num_values for group in groups for i in range(group.num_columns)]
    return sum(counts), max(counts, default=0)


def check_values(path: Path, metadata: "pq.FileMetaData") -> None:
    """Raise a DatasetError for a file with more values than fit into the memory that its size is worth."""
    if _values(metadata)[0] * _BYTES_OF_VALUE > max(_LEAST, _MOST_TIMES * path.stat().st_size):
        raise _too_large(path)


@cache
def check_unpacked(path: Path, digest: str) -> None:
    """Raise a DatasetError for a file, looked through once for each digest, that unpacks to far more than its size."""
    import pyarrow.parquet as pq

    most, size = max(_LEAST, _MOST_TIMES * path.stat().st_size), 0
    with pq.ParquetFile(path) as file:
        check_values(path, file.metadata)
        of_largest = _values(file.metadata)[1]
        if max(file.metadata.num_rows, of_largest) * largest_chunk(file.metadata) <= most:
            return
        for batch in file.iter_batches(batch_rows(largest_chunk(file.metadata))):
            size += batch.nbytes
            if size > most:
                raise _too_large(path)


def _too_large(path: Path) -> DatasetError:
    return DatasetError(
        f"{path} unpacks to more than {_MOST_TIMES} times its size: get the dataset from whom you trust"
    )
