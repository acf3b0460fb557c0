"""Stage 8: rows -> Parquet files whose names carry a hash of their content.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset.lead import with_lead
from builder.dataset.manifest import QUANTILES, Configuration, DataFile, SplitContents, Statistics, bounds_of, canary
from builder.dataset.reading_tally import ReadingTally
from builder.dataset.rows import columns_of
from builder.records import SPLITS, Split
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.power import detectable_with
from lm_eval_tasks.base.row_format import Measured
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.scalar.row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row

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


@dataclass(slots=True)
class _Tally:
    """`Statistics` in the making."""

    task: str
    reading: ReadingTally
    inputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    days: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    labels: Counter[int] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    choosers: Mapping[Measured, Chooser] = field(default_factory=dict)
    right: dict[Measured, list[float]] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    co_authors: nx.Graph[str] = field(default_factory=nx.Graph)

    def add(self, row: Row) -> None:
        self.inputs.append(row["input_tokens"])
        self.days[row["published"]] += 1
        self.licenses[row["license"]] += 1
        first_author: str = next(iter(row["authors"]), row.get("paper_id") or row["id"])
        self.authors[first_author] += 1
        nx.add_star(self.co_authors, [first_author, *row["authors"]])
        if "target_tokens" in row:
            self.targets.append(row["target_tokens"])
        # The targets of questions are places.
        if "label" in row:
            self.labels[row["label"]] += 1
        # A question by id alone has no text to choose by.
        if "question" in row:
            self.clusters.append(first_author)
            asked = typed(ScalarRow, row)
            for name, choose in self.choosers.items():
                self.right.setdefault(name, []).append(float(choose(asked) == asked.label))
        if "parts" in row and "title" in row:
            self.reading.add(row)

    def _one_group(self) -> float | None:
        groups = [sum(self.authors[name] for name in group) for group in nx.connected_components(self.co_authors)]
        return round(max(groups) / sum(groups), 4) if groups else None

    def close(self) -> Statistics:
        places = range(max(self.labels, default=-1) + 1)
        spread = None if self.task == "papers" else target_of(self.task).spread
        smallest = spread and detectable_with(self.authors.values(), spread)
        return Statistics(
            samples=len(self.inputs),
            input_tokens=sum(self.inputs),
            target_tokens=sum(self.targets),
            first=min(self.days, default=""),
            last=max(self.days, default=""),
            licenses=dict(sorted(self.licenses.items())),
            input_lengths=_lengths(self.inputs),
            target_lengths=_lengths(self.targets),
            labels=tuple(self.labels[place] for place in places),
            detectable=smallest and round(smallest, 4),
            one_group=self._one_group(),
            shortcuts={name: bounds_of(level(right, self.clusters)) for name, right in self.right.items()},
            kinds=self.reading.kinds(),
            shown_months=self.reading.months(),
        )


def _lengths(tokens: list[int]) -> tuple[int, ...]:
    """The lengths at each of `QUANTILES`, by nearest rank."""
    ordered = sorted(tokens)
    return tuple(ordered[ceil(share * len(ordered)) - 1] for share in QUANTILES) if ordered else ()


@dataclass(frozen=True, slots=True)
class _Shard:
    """A file that has been written but does not have its final name yet."""

    part: Path
    rows: int
    nbytes: int


class SplitWriter:
    """Writes one split of a configuration."""

    def __init__(
        self, folder: Path, name: str, task: str, split: Split, columns: pa.Schema, choosers: Mapping[Measured, Chooser]
    ) -> None:
        self._place, self._split, self._schema = folder / name, split, columns
        self._pending: list[Row] = []
        self._size = 0
        self._shards: list[_Shard] = []
        self._writer: pq.ParquetWriter | None = None
        self._rows = self._nbytes = 0
        self._tally = _Tally(task, ReadingTally(task), choosers=choosers)

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
            tuple(self._name_shard(i, shard) for i, shard in enumerate(self._shards)), self._tally.close()
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
            self._writer = pq.ParquetWriter(self._shard_path(), schema, compression="zstd", write_page_index=True)
        return self._writer

    def _shard_path(self) -> Path:
        return self._place / f".{self._split}-{len(self._shards)}.part"

    def _close_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._shards.append(_Shard(self._shard_path(), self._rows, self._nbytes))
            self._writer, self._rows, self._nbytes = None, 0, 0

    def _name_shard(self, i: int, shard: _Shard) -> DataFile:
        digest = sha256_of(shard.part)
        name = f"{self._split}-{digest[:16]}-{i:05d}-of-{len(self._shards):05d}.parquet"
        path = shard.part.rename(shard.part.with_name(name))
        return DataFile(f"{self._place.name}/{name}", digest, path.stat().st_size, shard.rows, shard.nbytes)
