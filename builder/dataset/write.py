"""Stage 8: rows -> Parquet files whose names carry a hash of their content, and what the rows of a split say together.

Without the hash `datasets` takes a rebuilt folder for the one in its cache and serves the old rows.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from statistics import fmean, median

import networkx as nx
import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset.families import Row, columns_of, read_rows
from lm_eval_tasks.base.contract import LEAD, SPLITS, Measured, Split
from lm_eval_tasks.base.figures import QUANTILES, Bounds, KindStatistics, Statistics
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.intervals import detectable_with, level
from lm_eval_tasks.base.manifest import DataFile, ListedConfiguration, SplitContents, canary
from lm_eval_tasks.base.rouge import rouge_l_content
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.reading_row import ReadingRow
from lm_eval_tasks.families.scalar.prompt import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser, choosers_of

_GROUP_ROWS = 64
_GROUP_BYTES = 32 * 2**20
_SHARD_BYTES = 400 * 2**20


@dataclass(frozen=True, slots=True)
class _Question:
    labels: int
    answers: tuple[int, ...]
    blind: float
    shortcut: float
    cluster: str
    body_masks: int


def _statistics(questions: list[_Question]) -> KindStatistics:
    places = [(label - 1) / max(1, question.labels - 1) for question in questions for label in question.answers]
    scores, clusters = [question.shortcut for question in questions], [question.cluster for question in questions]
    return KindStatistics(
        n=len(questions),
        labels=round(fmean(question.labels for question in questions), 1),
        answers=round(fmean(len(question.answers) for question in questions), 2),
        empty=round(fmean(not question.answers for question in questions), 4),
        place=round(fmean(places), 4) if places else 0.5,
        blind=round(fmean(question.blind for question in questions), 4),
        shortcut=Bounds.of(level(scores, clusters)),
        body_masks=sum(question.body_masks for question in questions),
    )


@dataclass(slots=True)
class Tally:
    """`Statistics` in the making."""

    task: str
    choosers: Mapping[Measured, Chooser]
    inputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    days: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    labels: Counter[int] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    right: dict[Measured, list[float]] = field(default_factory=lambda: defaultdict(list))
    clusters: list[str] = field(default_factory=list)
    co_authors: "nx.Graph[str]" = field(default_factory=nx.Graph)
    kinds: dict[str, list[_Question]] = field(default_factory=lambda: defaultdict(list))

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
                self.right[name].append(float(choose(asked) == asked.label))
        # Of a reading question each order has a row; one by id has no title.
        if "parts" in row and "title" in row and row["order"] == 0:
            answering, read = reading_answering(self.task), typed(ReadingRow, row)
            blind, shortcut = answering.blind_score(read), answering.shortcut_score(read)
            self.kinds[read.kind].append(
                _Question(read.labels, read.answer, blind, shortcut, read.first_author, read.tags.count("body"))
            )

    def close(self) -> Statistics:
        groups = [sum(self.authors[name] for name in group) for group in nx.connected_components(self.co_authors)]
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
            labels=tuple(self.labels[place] for place in range(max(self.labels, default=-1) + 1)),
            detectable=smallest and round(smallest, 4),
            one_group=round(max(groups) / sum(groups), 4) if groups else None,
            shortcuts={name: Bounds.of(level(right, self.clusters)) for name, right in self.right.items()},
            kinds={kind: _statistics(questions) for kind, questions in sorted(self.kinds.items())},
        )


def _lengths(tokens: list[int]) -> tuple[int, ...]:
    """The lengths at each of `QUANTILES`, by nearest rank."""
    ordered = sorted(tokens)
    return tuple(ordered[ceil(share * len(ordered)) - 1] for share in QUANTILES) if ordered else ()


class ConfigurationWriter:
    """Writes the rows of one configuration, in row groups small enough for the Hub's viewer.

    The same rows in the same order give the same bytes.

    Args:
        configuration: what is written; the files that it names are ignored.
        choosers: of SCALAR's questions, whose accuracy is measured; None for `bm25-local`.
    """

    def __init__(
        self, folder: Path, configuration: ListedConfiguration, choosers: Mapping[Measured, Chooser] | None = None
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

    def close(self) -> ListedConfiguration:
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
        self._tally = Tally(task, choosers)

    def add(self, row: Row) -> None:
        beside = [part.get("content", "") for part in (*row.get("demonstrations", ()), *row.get("candidates", ()))]
        self._pending.append(row)
        self._size += len(row.get("content", "")) + sum(map(len, beside))
        if len(self._pending) >= _GROUP_ROWS or self._size >= _GROUP_BYTES:
            self._write_group()

    def close(self) -> SplitContents:
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
        if self._writer is None:
            self._place.mkdir(exist_ok=True)
            schema = self._schema.with_metadata(
                {**(self._schema.metadata or {}), "canary": canary(str(rows[0]["round"]))}
            )
            self._writer = pq.ParquetWriter(
                self._part(len(self._shards)), schema, compression="zstd", write_page_index=True
            )
        self._writer.write_table(table, row_group_size=len(rows))
        self._rows += len(rows)
        self._nbytes += table.nbytes
        if self._nbytes >= _SHARD_BYTES:
            self._close_shard()

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


def with_lead(folder: Path, configuration: ListedConfiguration) -> ListedConfiguration:
    """The configuration of a writing setting with the ROUGE-L over content words of `lead` on its test split.

    As many words are taken as the median target of the train split has, as the baseline of that name does. Nothing is measured
    without a train split, or of rows by id only.
    """
    test = configuration.splits.get("test")
    if configuration.form != "full" or not configuration.is_writing or test is None:
        return configuration
    lengths = [len(row["target"].split()) for row in read_rows(folder, configuration, "train", ["target"])]
    if not lengths:
        return configuration
    words = int(median(lengths))
    scores, authors = [], []
    for row in read_rows(folder, configuration, "test", ["content", "target", "authors"]):
        scores.append(
            rouge_l_content(row["target"], " ".join(row["content"].replace(row["target"], "").split()[:words]))
        )
        authors.append(row["authors"][0])
    measured = replace(test.statistics, shortcuts={LEAD: Bounds.of(level(scores, authors))})
    return replace(configuration, splits={**configuration.splits, "test": replace(test, statistics=measured)})
