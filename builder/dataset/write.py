"""Stage 8: rows -> Parquet files whose names carry a hash of their content.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset.families import Row
from builder.dataset.manifest import Configuration, DataFile, SplitContents, bounds_of, canary
from builder.dataset.rows import columns_of
from builder.dataset.tally import ReadingTally, Tally
from builder.records import SPLITS, Split
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.row_format import LEAD, Measured
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of
from lm_eval_tasks.metrics.rouge import rouge_l_content

_GROUP_ROWS = 64
_GROUP_BYTES = 32 * 2**20
_SHARD_BYTES = 400 * 2**20


class ConfigurationWriter:
    """Writes the rows of one configuration, in row groups small enough for the Hub's viewer.

    The same rows in the same order give the same bytes.

    Args:
        folder: the dataset folder.
        configuration: what is written; the files that it names are ignored.
        choosers: of SCALAR's questions, whose accuracy is measured; None for `bm25-local`.
    """

    def __init__(
        self, folder: Path, configuration: Configuration, choosers: Mapping[Measured, Chooser] | None = None
    ) -> None:
        choosers = choosers_of(embed_local=False) if choosers is None else choosers
        self._folder, self._configuration = folder, configuration
        columns = columns_of(configuration)
        self._splits = {
            split: SplitWriter(folder, configuration.name, configuration.task, split, columns, choosers)
            for split in SPLITS
        }

    def add(self, split: Split, row: Row) -> None:
        self._splits[split].add(row)

    def close(self) -> Configuration:
        """Finish the files; the configuration with them. A split without rows has none: `datasets` refuses empty files."""
        closed = {split: writer.close() for split, writer in self._splits.items()}
        filled = {split: contents for split, contents in closed.items() if contents.files}
        return with_lead(self._folder, replace(self._configuration, splits=filled))


class SplitWriter:
    """Writes one split of a configuration."""

    def __init__(
        self, folder: Path, name: str, task: str, split: Split, columns: pa.Schema, choosers: Mapping[Measured, Chooser]
    ) -> None:
        self._place, self._split, self._schema = folder / name, split, columns
        self._pending: list[Row] = []
        self._size = 0
        self._shards: list[tuple[int, int]] = []  # rows and bytes of each finished file
        self._writer: pq.ParquetWriter | None = None
        self._rows = self._nbytes = 0
        self._tally = Tally(task, ReadingTally(task), choosers=choosers)

    def add(self, row: Row) -> None:
        beside = [part.get("content", "") for part in (*row.get("demonstrations", ()), *row.get("candidates", ()))]
        self._pending.append(row)
        self._size += len(row.get("content", "")) + sum(map(len, beside))
        if len(self._pending) >= _GROUP_ROWS or self._size >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> SplitContents:
        """Finish the files and give them their names."""
        self._write_group()
        self._close_shard()
        return SplitContents(
            tuple(self._name_shard(i, *shard) for i, shard in enumerate(self._shards)), self._tally.close()
        )

    def _write_group(self) -> None:
        rows, self._pending, self._size = self._pending, [], 0
        if not rows:
            return
        for row in rows:
            self._tally.add(row)
        table = pa.Table.from_pylist(rows, schema=self._schema)
        self._open(str(rows[0]["round"])).write_table(table, row_group_size=len(rows))
        self._rows += len(rows)
        self._nbytes += table.nbytes
        if self._nbytes >= _SHARD_BYTES:
            self._close_shard()

    def _open(self, round_: str) -> pq.ParquetWriter:
        if self._writer is None:
            self._place.mkdir(exist_ok=True)
            schema = self._schema.with_metadata({**(self._schema.metadata or {}), "canary": canary(round_)})
            part = self._part(len(self._shards))
            self._writer = pq.ParquetWriter(part, schema, compression="zstd", write_page_index=True)
        return self._writer

    def _part(self, i: int) -> Path:
        """A file that does not have its final name yet."""
        return self._place / f".{self._split}-{i}.part"

    def _close_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._shards.append((self._rows, self._nbytes))
            self._writer, self._rows, self._nbytes = None, 0, 0

    def _name_shard(self, i: int, rows: int, nbytes: int) -> DataFile:
        part = self._part(i)
        digest = sha256_of(part)
        path = part.rename(part.with_name(f"{self._split}-{digest[:16]}-{i:05d}-of-{len(self._shards):05d}.parquet"))
        return DataFile(f"{self._place.name}/{path.name}", digest, path.stat().st_size, rows, nbytes)


def with_lead(folder: Path, configuration: Configuration) -> Configuration:
    """The configuration of a writing setting with the ROUGE-L over content words of `lead` on its test split.

    As many words are taken as the median target of the train split has, as the baseline of that name does. Nothing is measured
    without a train split, or of rows by id only.

    Args:
        folder: the dataset folder, in which the configuration is written.
    """
    test = configuration.splits.get("test")
    if configuration.form != "full" or not configuration.is_writing or test is None:
        return configuration
    lengths = [len(row["target"].split()) for row in _columns(folder, configuration, "train", ["target"])]
    if not lengths:
        return configuration
    words = int(median(lengths))
    scores, authors = [], []
    for row in _columns(folder, configuration, "test", ["content", "target", "authors"]):
        shown = row["content"].replace(row["target"], "")
        scores.append(rouge_l_content(row["target"], " ".join(shown.split()[:words])))
        authors.append(row["authors"][0])
    measured = replace(test.statistics, shortcuts={LEAD: bounds_of(level(scores, authors))})
    return replace(configuration, splits={**configuration.splits, "test": replace(test, statistics=measured)})


def _columns(folder: Path, configuration: Configuration, split: Split, columns: list[str]) -> Iterator[dict[str, Any]]:
    for file in configuration.files(split):
        for batch in pq.ParquetFile(folder / file.path).iter_batches(64, columns=columns):
            yield from batch.to_pylist()
