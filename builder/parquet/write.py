"""Rows -> Parquet files whose names carry a hash of their content.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builder.parquet.schema import Row
from builder.parquet.tally import Tally
from lm_eval_tasks.base.contract import Split
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.manifest import DataFile, SplitContents, canary

_GROUP_ROWS = 64
_GROUP_BYTES = 32 * 2**20
_SHARD_BYTES = 400 * 2**20


class SplitWriter:
    """Writes one split of a configuration, in row groups small enough for the Hub's viewer.

    The same rows in the same order give the same bytes.

    Args:
        folder: of the configuration.
    """

    def __init__(self, folder: Path, split: Split, columns: pa.Schema, tally: Tally) -> None:
        self._folder, self._split, self._schema = folder, split, columns
        self._pending: list[Row] = []
        self._size = 0
        self._shards: list[tuple[int, int]] = []  # rows and bytes of each finished file
        self._writer: pq.ParquetWriter | None = None
        self._rows = self._nbytes = 0
        self._tally = tally

    def add(self, row: Row) -> None:
        """Write a row behind the others."""
        beside = [shown.get("content", "") for shown in (*row.get("demonstrations", ()), *row.get("candidates", ()))]
        self._pending.append(row)
        self._size += len(row.get("content", "")) + sum(map(len, beside))
        if len(self._pending) >= _GROUP_ROWS or self._size >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> SplitContents:
        """Finish the files; return them with what their rows say together."""
        self._write_group()
        self._close_shard()
        files = tuple(self._name_shard(i, *shard) for i, shard in enumerate(self._shards))
        return SplitContents(files, self._tally.close())

    def _write_group(self) -> None:
        rows, self._pending, self._size = self._pending, [], 0
        if not rows:
            return
        for row in rows:
            self._tally.add(row)
        table = pa.Table.from_pylist(rows, schema=self._schema)
        if self._writer is None:
            self._writer = self._open_shard(str(rows[0]["round"]))
        self._writer.write_table(table, row_group_size=len(rows))
        self._rows += len(rows)
        self._nbytes += table.nbytes
        if self._nbytes >= _SHARD_BYTES:
            self._close_shard()

    def _open_shard(self, round_name: str) -> pq.ParquetWriter:
        self._folder.mkdir(exist_ok=True)
        schema = self._schema.with_metadata({**(self._schema.metadata or {}), "canary": canary(round_name)})
        return pq.ParquetWriter(self._unnamed(len(self._shards)), schema, compression="zstd", write_page_index=True)

    def _unnamed(self, i: int) -> Path:
        """Return where a file lies that does not have its final name yet."""
        return self._folder / f".{self._split}-{i}.part"

    def _close_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._shards.append((self._rows, self._nbytes))
            self._writer, self._rows, self._nbytes = None, 0, 0

    def _name_shard(self, i: int, rows: int, nbytes: int) -> DataFile:
        unnamed = self._unnamed(i)
        digest = sha256_of(unnamed)
        name = f"{self._split}-{digest[:16]}-{i:05d}-of-{len(self._shards):05d}.parquet"
        path = unnamed.rename(self._folder / name)
        return DataFile(f"{self._folder.name}/{name}", digest, path.stat().st_size, rows, nbytes)
