"""What a dataset folder contains, as its `manifest.json` says. The file is written last, so that its presence means that the folder is
finished; no path in it leads out of the folder.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lm_eval_tasks.base.contract import SPLITS, WRITING_TASKS, Licenses, Split
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.figures import Amount, Audit, Label, ReadingSummary, StageCounts, Statistics
from lm_eval_tasks.base.files import is_inside

# full: rows of a writing setting; questions: of other families; papers: the texts that some of these show; ids: any of these by id alone.
Form = Literal["full", "questions", "papers", "ids"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_FILE = r"{name}/{split}-[0-9a-f]{{16}}-\d{{5}}-of-\d{{5}}\.parquet"
_BESIDE = re.compile(r"\.?[A-Za-z0-9][\w.-]*")
RoundName = Annotated[str, msgspec.Meta(pattern=r"^\d{4}\.(0[1-9]|1[0-2])\Z")]
Revision = Annotated[str, msgspec.Meta(pattern=r"^(\d{4}\.(0[1-9]|1[0-2])(\.post\d{1,4})?)?\Z")]


@dataclass(frozen=True, slots=True)
class SplitDates:
    """The first days of the validation and the test split."""

    validation_from: date
    test_from: date

    def split_of(self, published: date) -> Split:
        """Choose the split of a paper by the day of its first version."""
        if published >= self.test_from:
            return "test"
        return "validation" if published >= self.validation_from else "train"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file: path below the folder, hash and size of the file, rows, and bytes of its table in memory."""

    path: str
    sha256: str
    bytes: Amount
    rows: Amount
    nbytes: Amount


@dataclass(frozen=True, slots=True)
class SplitContents:
    """The files of one split, in the order of their rows, and what is in them.

    Attributes:
        lacking: how many more rows the round has, which this copy of it could not be completed with.
    """

    files: tuple[DataFile, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)
    lacking: Amount = 0


@dataclass(frozen=True, slots=True)
class ListedConfiguration:
    """One configuration of the dataset: what `load_dataset` is given as its second argument.

    Attributes:
        task: of its rows: a writing task, or one that another family has.
        form: what a row is, see `Form`.
        of: ids: the configuration whose rows these are. "" for the others.
        splits: those that have rows.
    """

    name: str
    task: str
    form: Form
    of: str = ""
    splits: dict[Split, SplitContents] = field(default_factory=dict)

    @property
    def is_writing(self) -> bool:
        """Whether its rows ask for a text; otherwise they are questions with an exact answer."""
        return self.task in WRITING_TASKS

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not a valid configuration name")
        if (self.form == "ids") != bool(self.of):
            raise ValueError(f"{self.name} is of form {self.form} and `of` {self.of!r}")
        if self.form != "ids" and (self.form == "full") != self.is_writing:
            raise ValueError(f"{self.name} is of form {self.form} and task {self.task}")
        for split, contents in self.splits.items():
            self._check_files(split, contents)

    def _check_files(self, split: Split, contents: SplitContents) -> None:
        pattern = re.compile(_FILE.format(name=re.escape(self.name), split=split))
        for file in contents.files:
            if not pattern.fullmatch(file.path):
                raise ValueError(f"{file.path!r} is not a data file of {self.name}, {split}")
        if sum(file.rows for file in contents.files) != contents.statistics.samples:
            raise ValueError(f"{self.name}, {split}: the files and the statistics have different numbers of rows")

    def files(self, split: Split) -> tuple[DataFile, ...]:
        return self.splits[split].files if split in self.splits else ()

    def statistics(self, split: Split) -> Statistics:
        return self.splits[split].statistics if split in self.splits else Statistics()

    @property
    def samples(self) -> int:
        return sum(contents.statistics.samples for contents in self.splits.values())

    @property
    def lacking(self) -> int:
        """How many rows of the round this copy could not be completed with."""
        return sum(contents.lacking for contents in self.splits.values())

    @property
    def every_file(self) -> tuple[DataFile, ...]:
        return tuple(file for split in SPLITS for file in self.files(split))


@dataclass(frozen=True, slots=True)
class Publishable:
    """What a publishable copy was made of.

    Attributes:
        licenses: what the texts in it allow.
        report: how many rows are whole and how many by id only.
        original: the configurations of the whole; empty if that is not known, after a takedown.
    """

    licenses: Licenses
    report: StageCounts
    original: tuple[ListedConfiguration, ...]


@dataclass(frozen=True, slots=True)
class CoreEntry:
    """A configuration that every model is asked first, see `families.registry.CORE`.

    Attributes:
        samples: of its test split that are asked.
        shortcut: the shorter context of its main comparison.
    """

    configuration: Label
    samples: Amount
    shortcut: Label


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything that is known about a dataset folder.

    Attributes:
        round: its name, such as "2026.11".
        revision: the name under which the folder is published; "" for the round's own.
        configurations: each with its name, task, form, and the files and statistics of its splits.
        reports: what each stage kept and dropped.
        seed: of all random choices.
        reading: how well files were read.
        audit: what the audit found.
        code_version: of this software.
        imported: where a dataset that was made elsewhere came from, "" for one of our rounds.
        config: round.toml as it was used, without places on the machine and without what has its own fields here.
        source: kind of the source, "" for an imported dataset.
        allowed: what the audit may find: a table of `builder.round.allowed.AuditTable`.
        changes: round -> what changed in it.
        extractor: version of the code that read the files.
        split: None for an imported dataset.
        links: way of resolving -> citations.
        core: what every model is asked first, and boards count.
        examples: configuration -> one of its rows, with its long texts cut.
        publishable: for a copy to publish.
        takedown: rows that were taken out of this folder.
        fill: rows by id that could not be completed.
        other_ids: of the papers that rows show, ids by which other archives know them -> their own.
        other_files: name -> sha256 of the files next to the data.
    """

    round: RoundName
    code_version: str
    configurations: tuple[ListedConfiguration, ...]
    reports: tuple[StageCounts, ...]
    revision: Revision = ""
    imported: str = ""
    seed: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    allowed: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, str] = field(default_factory=dict)
    extractor: str = ""
    split: SplitDates | None = None
    reading: ReadingSummary | None = None
    links: dict[str, int] = field(default_factory=dict)
    audit: Audit | None = None
    core: tuple[CoreEntry, ...] = ()
    examples: dict[str, dict[str, Any]] = field(default_factory=dict)
    publishable: Publishable | None = None
    takedown: StageCounts | None = None
    fill: StageCounts | None = None
    other_ids: dict[str, str] = field(default_factory=dict)
    other_files: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len({each.name.casefold() for each in self.configurations}) < len(self.configurations):
            raise ValueError("two configurations have the same name")
        tasks = {each.name: each.task for each in self.complete_configurations}
        if not tasks:
            raise ValueError("there is no configuration")
        by_ids = [each for each in self.configurations if each.form == "ids"]
        for each in by_ids:
            if tasks.get(each.of) != each.task:
                raise ValueError(f"{each.name} is of {each.of!r}, which is not a configuration of its task")
        if len({each.of for each in by_ids}) < len(by_ids) or (by_ids and self.publishable is None):
            raise ValueError("rows by id belong to a publishable copy, once for each configuration")
        for name in self.other_files:
            if not _BESIDE.fullmatch(name):
                raise ValueError(f"{name!r} is not a valid name of a file next to the data")

    @property
    def published_as(self) -> str:
        return self.revision or self.round

    @property
    def files(self) -> dict[str, DataFile]:
        return {file.path: file for configuration in self.configurations for file in configuration.every_file}

    @property
    def complete_configurations(self) -> Iterator[ListedConfiguration]:
        return (configuration for configuration in self.configurations if configuration.form != "ids")

    def find(self, name: str) -> ListedConfiguration | None:
        """Find a configuration by its name."""
        return next((each for each in self.configurations if each.name == name), None)

    def by_ids_of(self, name: str) -> ListedConfiguration | None:
        """Find the configuration that contains rows of another one by id."""
        return next((each for each in self.configurations if each.form == "ids" and each.of == name), None)


def place_of(folder: Path, path: str) -> Path:
    """Find where a file named by a manifest lies. All code that opens a file of one asks here.

    Raises:
        DatasetError: that is out of the folder.
    """
    file = folder / path
    if is_inside(file, folder):
        return file
    raise DatasetError(f"{file} leads out of the dataset folder, to {file.resolve()}; put the file itself there")


def canary(round_: str) -> str:
    """Make the line by which this dataset can be recognised in training data; always the same for a round."""
    return f"academiceval canary {uuid.uuid5(uuid.NAMESPACE_URL, f'academiceval {round_}')}"
