"""Rows -> Parquet files whose names carry a hash of their content, and what the rows of a split say together.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, Protocol

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq

from builder.parquet.schema import Row
from lm_eval_tasks.base.contract import Split
from lm_eval_tasks.base.figures import QUANTILES, Statistics
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.intervals import detectable_with
from lm_eval_tasks.base.manifest import DataFile, SplitContents, canary

_GROUP_ROWS = 64
_GROUP_BYTES = 32 * 2**20
_SHARD_BYTES = 400 * 2**20


class Measure(Protocol):
    """What a family measures of its own rows while they are written."""

    def add(self, row: Row, first_author: str) -> None:
        """Take one row, whole or by id."""

    def results(self) -> dict[str, Any]:
        """Give the family's own fields of `Statistics`."""


@dataclass(slots=True)
class Tally:
    """`Statistics` in the making.

    Attributes:
        spread: standard deviation between samples, of a difference between two models; None where rows are no samples.
        measure: of the rows' family; None if it measures nothing.
    """

    spread: float | None
    measure: Measure | None = None
    inputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    days: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    co_authors: nx.Graph[str] = field(default_factory=nx.Graph)

    def add(self, row: Row) -> None:
        """Count one row."""
        self.inputs.append(row["input_tokens"])
        self.days[row["published"]] += 1
        self.licenses[row["license"]] += 1
        first_author: str = next(iter(row["authors"]), row.get("paper_id") or row["id"])
        self.authors[first_author] += 1
        nx.add_star(self.co_authors, [first_author, *row["authors"]])
        # Questions have none.
        if "target_tokens" in row:
            self.targets.append(row["target_tokens"])
        if self.measure:
            self.measure.add(row, first_author)

    def close(self) -> Statistics:
        """Give the statistics of all rows."""
        groups = [sum(self.authors[name] for name in group) for group in nx.connected_components(self.co_authors)]
        smallest = self.spread and detectable_with(self.authors.values(), self.spread)
        return Statistics(
            samples=len(self.inputs),
            input_tokens=sum(self.inputs),
            target_tokens=sum(self.targets),
            first=min(self.days, default=""),
            last=max(self.days, default=""),
            licenses=dict(sorted(self.licenses.items())),
            input_lengths=_lengths(self.inputs),
            target_lengths=_lengths(self.targets),
            detectable=smallest and round(smallest, 4),
            one_group=round(max(groups) / sum(groups), 4) if groups else None,
            **(self.measure.results() if self.measure else {}),
        )


def _lengths(tokens: list[int]) -> tuple[int, ...]:
    """Find the lengths at each of `QUANTILES`, by nearest rank."""
    ordered = sorted(tokens)
    return tuple(ordered[ceil(share * len(ordered)) - 1] for share in QUANTILES) if ordered else ()


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
