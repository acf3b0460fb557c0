"""What a dataset folder contains, as its `manifest.json` says: the one place that reads and writes that file.

The manifest is written last, so that its presence means that the folder is finished. It may come from anyone: what is
read from it is checked against the types below, and no path in it leads out of its folder. It may come from a newer release:
what this one does not know is left out, and said.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from lm_eval_tasks.base.contract import MANIFEST, PAPERS_TASK, SPLITS, WRITING_TASKS, Licenses, Split
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.figures import Amount, Audit, Label, ReadingSummary, StageCounts, Statistics
from lm_eval_tasks.base.files import is_inside
from lm_eval_tasks.base.text import ODD, parse_json, why
from lm_eval_tasks.base.typed import typed

# Raised when, and only when, an older release would read a manifest wrongly. A new field or family does not raise it.
FORMAT = 5
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
    """The files of one split, in the order of their rows, and what is in them."""

    files: tuple[DataFile, ...] = ()
    statistics: Statistics = field(default_factory=Statistics)


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
        publishable: for a copy to publish.
        takedown: rows that were taken out of this folder.
        fill: rows by id that could not be completed.
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
    publishable: Publishable | None = None
    takedown: StageCounts | None = None
    fill: StageCounts | None = None
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


@dataclass(frozen=True, slots=True)
class ParsedManifest:
    """A manifest as it was read.

    Attributes:
        left_out: the names of fields and configurations that this release does not know.
    """

    manifest: Manifest
    left_out: tuple[str, ...]


def place_of(folder: Path, path: str) -> Path:
    """Find where a file named by a manifest lies. All code that opens a file of one asks here.

    Raises:
        DatasetError: that is out of the folder.
    """
    place = folder / path
    if is_inside(place, folder):
        return place
    raise DatasetError(f"{place} leads out of the dataset folder, to {place.resolve()}; put the file itself there")


def parse_manifest_file(data: bytes, origin: str, known_tasks: frozenset[str]) -> ParsedManifest:
    """Read a manifest from the bytes of its file.

    Args:
        origin: what the file is called in errors.
        known_tasks: of the families of this release; configurations of others are left out.

    Raises:
        DatasetError: it is no manifest, or of another format.
    """
    try:
        content = parse_json(data)
    except ValueError as err:
        raise DatasetError(f"{origin} is not JSON ({err}); build the folder again") from err
    file_format = content.pop("format", None) if isinstance(content, dict) else None
    if file_format != FORMAT:
        raise DatasetError(
            f"{origin} is of format {file_format!r}, but this release reads {FORMAT}: build the folder again, or use the "
            "release that made it"
        )
    try:
        strange = _take_strange_configurations(content, known_tasks | {PAPERS_TASK})
        manifest = typed(Manifest, content)
    except ODD as err:
        raise DatasetError(
            f"{origin} is not a manifest that this release can read ({why(err)}); build the folder again"
        ) from err
    fields = sorted(set(_unknown_fields(content, _content_of(manifest))))
    return ParsedManifest(manifest, (*strange, *fields))


def _take_strange_configurations(content: dict[str, Any], known_tasks: frozenset[str]) -> list[str]:
    """Take the configurations of unknown families out of a manifest, and what speaks of them; return their names."""
    configurations = content.get("configurations")
    if not isinstance(configurations, list):
        return []
    listed = [each for each in configurations if isinstance(each, dict) and isinstance(each.get("task"), str)]
    strange = [str(each.get("name")) for each in listed if each["task"] not in known_tasks]
    if strange:
        content["configurations"] = [
            each for each in configurations if each not in listed or each["name"] not in strange
        ]
        content["core"] = [entry for entry in content.get("core", []) if entry["configuration"] not in strange]
    return strange


def _unknown_fields(content: object, known: object, name: str = "") -> Iterator[str]:
    """List the fields of a manifest that its record has not taken, without the numbers of entries."""
    if isinstance(content, Mapping) and isinstance(known, Mapping):
        for key, value in content.items():
            path = f"{name}.{key}" if name else str(key)
            if key in known:
                yield from _unknown_fields(value, known[key], path)
            else:
                yield path
    elif isinstance(content, list) and isinstance(known, tuple | list):
        for entry, known_entry in zip(content, known, strict=True):
            yield from _unknown_fields(entry, known_entry, name)


def _content_of(manifest: Manifest) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(manifest)
    return content


def manifest_bytes(manifest: Manifest) -> bytes:
    """Write a manifest as its file holds it."""
    content = {"format": FORMAT, **_content_of(manifest)}
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def read_manifest_bytes(folder: Path) -> bytes:
    """Read the file of a finished dataset folder.

    Raises:
        DatasetError: no such folder, no manifest (an unfinished build), or it cannot be read.
    """
    if not folder.is_dir():
        raise DatasetError(f"the dataset folder {folder} does not exist; `academiceval run round.toml` makes one")
    path = place_of(folder, MANIFEST)
    if not path.is_file():
        raise DatasetError(
            f"{folder} has no {MANIFEST}, so it is not a finished dataset; name the folder of one, or build it again"
        )
    try:
        return path.read_bytes()
    except OSError as err:
        raise DatasetError(f"cannot read {path}: {err.strerror}") from err


def canary(round_: str) -> str:
    """Make the line by which this dataset can be recognised in training data; always the same for a round."""
    return f"academiceval canary {uuid.uuid5(uuid.NAMESPACE_URL, f'academiceval {round_}')}"
