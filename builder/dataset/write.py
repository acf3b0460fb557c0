"""Stage 8: samples -> Parquet files whose names carry a hash of their content.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from builder.records import Sample, Split, Task
from builder.round.settings import Setting
from builder.samples.tokens import TokenCounter, input_texts

_T = TypeVar("_T")
_GROUP_ROWS = 64
_GROUP_BYTES = 32 * 2**20
_SHARD_BYTES = 400 * 2**20

_STRINGS = pa.list_(pa.string())
_CITATION = pa.struct([("id", pa.string()), ("title", pa.string()), ("abstract", pa.string())])
_DEMONSTRATION = pa.struct(
    [(name, pa.string()) for name in ("id", "kind", "published", "license", "title", "abstract", "content", "output")]
)


def schema(task: Task) -> pa.Schema:
    """Columns of a row of this task; `published` and `updated` are ISO days."""
    fields = [
        ("id", pa.string()), ("title", pa.string()), ("abstract", pa.string()), ("authors", _STRINGS),
        ("primary_category", pa.string()), ("categories", _STRINGS), ("published", pa.string()),
        ("updated", pa.string()), ("license", pa.string()), ("content", pa.string()),
        *([("citations", pa.list_(_CITATION))] if task == "related" else []),
        ("demonstrations", pa.list_(_DEMONSTRATION)), ("target", pa.string()), ("input_tokens", pa.int64()),
        ("target_tokens", pa.int64()), ("round", pa.string()),
    ]  # fmt: skip
    return pa.schema(fields)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """One Parquet file: path below the dataset folder, hash and size of the file, rows, and bytes in memory."""

    path: str
    sha256: str
    bytes: int
    rows: int
    nbytes: int


@dataclass(slots=True)
class SplitStatistics:
    """Sums over one split of a setting; `first` and `last` are ISO days, "" where the split is empty."""

    samples: int = 0
    input_tokens: int = 0
    target_tokens: int = 0
    first: str = ""
    last: str = ""
    licenses: dict[str, int] = field(default_factory=dict)

    def add(self, row: dict[str, Any]) -> None:
        self.samples += 1
        self.input_tokens += row["input_tokens"]
        self.target_tokens += row.get("target_tokens", 0)  # SCALAR's targets are numbers
        self.first = min(self.first or row["published"], row["published"])
        self.last = max(self.last, row["published"])
        self.licenses[row["license"]] = self.licenses.get(row["license"], 0) + 1


class Pending(Generic[_T]):
    """Items that wait to become a row group, until they are many or large."""

    def __init__(self) -> None:
        self._items: list[_T] = []
        self._size = 0

    def add(self, item: _T, size: int) -> bool:
        """Whether the group is full with this one."""
        self._items.append(item)
        self._size += size
        return len(self._items) >= _GROUP_ROWS or self._size >= _GROUP_BYTES

    def take(self) -> list[_T]:
        items, self._items, self._size = self._items, [], 0
        return items


class RowWriter:
    """Writes the rows of one split of one configuration, in row groups small enough for the Hub's viewer.

    The same rows in the same order give the same bytes.

    Args:
        folder: the dataset folder.
        config: the configuration's name.
    """

    def __init__(self, folder: Path, config: str, split: Split, columns: pa.Schema) -> None:
        self._folder, self._config, self._split, self._schema = folder, config, split, columns
        self._pending = Pending[dict[str, Any]]()
        self._shards: list[tuple[Path, int, int]] = []
        self._writer: pq.ParquetWriter | None = None
        self._rows = self._nbytes = 0
        self.statistics = SplitStatistics()

    def add(self, row: dict[str, Any]) -> None:
        beside = [one.get("content", "") for one in (*row.get("demonstrations", ()), *row.get("candidates", ()))]
        if self._pending.add(row, len(row.get("content", "")) + sum(map(len, beside))):
            self.write_group(self._pending.take())

    def close(self) -> list[WrittenFile]:
        """Finish the files and give them their names; an empty split has none, for `datasets` refuses empty files."""
        self.write_group(self._pending.take())
        self._close_shard()
        return [self._named(i, *shard) for i, shard in enumerate(self._shards)]

    def write_group(self, rows: list[dict[str, Any]]) -> None:
        """Write rows as one group."""
        if not rows:
            return
        for row in rows:
            self.statistics.add(row)
        table = pa.Table.from_pylist(rows, schema=self._schema)
        self._open().write_table(table, row_group_size=len(rows))
        self._rows += len(rows)
        self._nbytes += table.nbytes
        if self._nbytes >= _SHARD_BYTES:
            self._close_shard()

    def _open(self) -> pq.ParquetWriter:
        if self._writer is None:
            (self._folder / self._config).mkdir(exist_ok=True)
            self._writer = pq.ParquetWriter(self._shard_path(), self._schema, compression="zstd", write_page_index=True)
        return self._writer

    def _shard_path(self) -> Path:
        return self._folder / self._config / f".{self._split}-{len(self._shards)}.part"

    def _close_shard(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._shards.append((self._shard_path(), self._rows, self._nbytes))
            self._writer, self._rows, self._nbytes = None, 0, 0

    def _named(self, i: int, part: Path, rows: int, nbytes: int) -> WrittenFile:
        with part.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        name = f"{self._split}-{digest[:16]}-{i:05d}-of-{len(self._shards):05d}.parquet"
        path = part.rename(part.with_name(name))
        return WrittenFile(f"{self._config}/{name}", digest, path.stat().st_size, rows, nbytes)


class SplitWriter:
    """Writes the samples of one split of one setting.

    Args:
        folder: the dataset folder.
        round_name: the revision that every row carries.
    """

    def __init__(self, folder: Path, setting: Setting, split: Split, round_name: str, count: TokenCounter) -> None:
        self._task, self._round, self._count = setting.task, round_name, count
        self._pending = Pending[Sample]()
        self._rows = RowWriter(folder, setting.name, split, schema(setting.task))

    @property
    def statistics(self) -> SplitStatistics:
        return self._rows.statistics

    def add(self, sample: Sample) -> None:
        if self._pending.add(sample, len(sample.content) + sum(len(d.content) for d in sample.demonstrations)):
            self._flush()

    def close(self) -> list[WrittenFile]:
        self._flush()
        return self._rows.close()

    def _flush(self) -> None:
        self._rows.write_group(to_rows(self._pending.take(), self._task, self._round, self._count))


def to_rows(samples: Sequence[Sample], task: Task, round_name: str, count: TokenCounter) -> list[dict[str, Any]]:
    """The rows of some samples, their tokens counted in one batch."""
    shown = [_shown(sample, task) for sample in samples]
    counts = iter(count([text for texts in shown for text in texts] + [sample.target for sample in samples]))
    inputs = [sum(next(counts) for _ in texts) for texts in shown]
    return [
        _row(sample, task, round_name, tokens, next(counts)) for sample, tokens in zip(samples, inputs, strict=True)
    ]


def _shown(sample: Sample, task: Task) -> list[str]:
    """Every text of the row that the task's prompt shows, the prompt's own words left out."""
    texts = input_texts(sample.paper.title, sample.paper.abstract, sample.content, task)
    for demo in sample.demonstrations:
        texts += [*input_texts(demo.title, demo.abstract, demo.content, task), demo.output]
    for cited in sample.citations:
        texts += [cited.title, cited.abstract]
    return texts


def _row(sample: Sample, task: Task, round_name: str, input_tokens: int, target_tokens: int) -> dict[str, Any]:
    paper = sample.paper
    row: dict[str, Any] = {
        "id": paper.versioned_id,
        "title": paper.title,
        "abstract": paper.abstract,
        "authors": list(paper.authors),
        "primary_category": paper.primary_category,
        "categories": list(paper.categories),
        "published": paper.published.isoformat(),
        "updated": paper.updated.isoformat(),
        "license": paper.license,
        "content": sample.content,
        "demonstrations": [
            {name: getattr(demo, name) for name in _DEMONSTRATION.names} for demo in sample.demonstrations
        ],
        "target": sample.target,
        "input_tokens": input_tokens,
        "target_tokens": target_tokens,
        "round": round_name,
    }
    if task == "related":
        row["citations"] = [{"id": c.id, "title": c.title, "abstract": c.abstract} for c in sample.citations]
    return row
