"""What a dataset folder contains, as its `manifest.json` says: the one place that reads and writes that file.

The manifest is written last, so that its presence means that the folder is finished. It may come from anyone: what is
read from it is checked against the types below, and no path in it leads out of its folder.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from builder.errors import FolderError
from builder.records import PAPERS, SPLITS, TASKS, LinkWay, ReadingSummary, Split, SplitDates
from builder.round.allowed import AuditTable, Licenses
from builder.stage_report import StageCounts
from lm_eval_tasks.base.contract import MANIFEST as MANIFEST
from lm_eval_tasks.base.contract import Context, Measured
from lm_eval_tasks.base.files import is_inside
from lm_eval_tasks.base.text import ODD, parse_json, why
from lm_eval_tasks.families.registry import FAMILIES

if TYPE_CHECKING:
    from lm_eval_tasks.base.intervals import Interval

# Raise with every change to the types below; 1 was a dictionary whose configurations were recognised by their names, 2 had no core.
FORMAT = 5
# full: rows of a writing setting; questions: of other families; papers: the texts that some of these show; ids: any of these by id alone.
Form = Literal["full", "questions", "papers", "ids"]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_TASKS = {PAPERS, *(each.task for family in FAMILIES for each in family.configurations)}
_FILE = r"{name}/{split}-[0-9a-f]{{16}}-\d{{5}}-of-\d{{5}}\.parquet"
_BESIDE = re.compile(r"\.?[A-Za-z0-9][\w.-]*")
_Count = Annotated[int, Field(ge=0, lt=1 << 53)]
# Shares of the samples that are at most this long.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_Share = Annotated[float, Field(ge=0, le=1)]
_Day = Annotated[str, Field(pattern=r"^((19|2\d)\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01]))?$")]
_Month = Annotated[str, Field(pattern=r"^(19|2\d)\d\d-(0[1-9]|1[0-2])$")]
_Name = Annotated[str, Field(max_length=500)]
_ROUND = r"^\d{4}\.(0[1-9]|1[0-2])$"
_REVISION = r"^(\d{4}\.(0[1-9]|1[0-2])(\.post\d{1,4})?)?$"


@dataclass(frozen=True, slots=True)
class DataFile:
    """One Parquet file: path below the folder, hash and size of the file, rows, and bytes of its table in memory."""

    path: str
    sha256: str
    bytes: _Count
    rows: _Count
    nbytes: _Count


@dataclass(frozen=True, slots=True)
class Bounds:
    """A mean and its 95 % interval over first authors, None with too few of them."""

    mean: _Share
    low: float | None = None
    high: float | None = None


def bounds_of(estimate: Interval) -> Bounds:
    """An estimate as a manifest holds it."""
    low, high = estimate.bounds or (None, None)
    return Bounds(round(estimate.mean, 4), low and round(low, 4), high and round(high, 4))


@dataclass(frozen=True, slots=True)
class KindStatistics:
    """What is known of the questions of one kind in a reading configuration.

    Attributes:
        n: how many, those in another order left out.
        labels: mean number of papers, passages or works to choose from.
        answers: mean number of right ones.
        empty: share of the questions that none answers.
        place: where the right ones stand on average, from 0, the first, to 1, the last; 0.5 if there are none.
        blind: what the best answer scores that does not depend on the context, by the headline metric.
        shortcut: what the family's shortcut scores.
        body_masks: Match: masks that only full texts solve.
    """

    n: _Count
    labels: Annotated[float, Field(ge=0)]
    answers: Annotated[float, Field(ge=0)]
    empty: _Share
    place: _Share
    blind: _Share
    shortcut: Bounds
    body_masks: _Count = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of one split of a configuration.

    Attributes:
        samples, input_tokens, target_tokens: sums.
        first, last: ISO days, "" if the split is empty.
        input_lengths, target_lengths: tokens at each of `QUANTILES`, nothing if the split is empty.
        labels: SCALAR: how often each place holds the right candidate.
        shortcuts: baseline that does not read the paper -> its score: SCALAR's accuracy, ROUGE-L over content words of texts.
        kinds: reading families: kind of question -> what is known of it.
        detectable: the smallest difference between two models' mean scores that the samples show in four out of five
            cases (`lm_eval_tasks/base/intervals.py`); None if there are too few first authors, or it has not been computed.
        one_group: the share of the samples whose papers' authors are connected by co-authors among these papers, in the largest group;
            None if it has not been computed.
    """

    samples: _Count = 0
    input_tokens: _Count = 0
    target_tokens: _Count = 0
    first: _Day = ""
    last: _Day = ""
    licenses: dict[str, _Count] = field(default_factory=dict)
    input_lengths: tuple[_Count, ...] = ()
    target_lengths: tuple[_Count, ...] = ()
    labels: Annotated[tuple[_Count, ...], Field(max_length=100)] = ()
    detectable: Annotated[float, Field(ge=0)] | None = None
    one_group: _Share | None = None
    shortcuts: dict[Measured, Bounds] = field(default_factory=dict)
    kinds: dict[_Name, KindStatistics] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for lengths in (self.input_lengths, self.target_lengths):
            if len(lengths) not in (0, len(QUANTILES)) or sorted(lengths) != list(lengths):
                raise ValueError(f"lengths are given at {len(QUANTILES)} rising shares of the samples, or not at all")
        if self.labels and sum(self.labels) != self.samples:
            raise ValueError("there are not as many labels as samples")


@dataclass(frozen=True, slots=True)
class SplitContents:
    """The files of one split, in the order of their rows, and what is in them."""

    files: tuple[DataFile, ...] = ()
    statistics: Statistics = Statistics()


@dataclass(frozen=True, slots=True)
class Configuration:
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
        return self.task in TASKS

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is not a valid configuration name")
        if self.task not in _TASKS:
            raise ValueError(f"{self.name} has the unknown task {self.task!r:.40}")
        if (self.form == "ids") != bool(self.of):
            raise ValueError(f"{self.name} is of form {self.form} and `of` {self.of!r}")
        if self.form != "ids" and (self.form in ("questions", "papers")) == self.is_writing:
            raise ValueError(f"{self.name} is of form {self.form} and task {self.task}")
        for split, contents in self.splits.items():
            pattern = re.compile(_FILE.format(name=re.escape(self.name), split=split))
            if odd := [file.path for file in contents.files if not pattern.fullmatch(file.path)]:
                raise ValueError(f"{odd[0]!r} is not a data file of {self.name}, {split}")
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
class Audit:
    """What an audit found; `dataset.audit` makes it.

    Attributes:
        shares: check -> share of samples, over all settings, in which it was found.
        counts: check -> how often.
        examples: check -> up to three "Setting id" that show it.
        longest_run: words of the longest run that a target shares with its prompt.
        months, categories: papers of each.
        active_authors: share of the papers by the 20 most active first authors.
    """

    samples: _Count
    shares: dict[_Name, _Share]
    counts: dict[str, _Count]
    examples: dict[str, list[str]]
    longest_run: _Count
    months: dict[_Month, _Count]
    categories: dict[_Name, _Count]
    active_authors: _Share


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
    original: tuple[Configuration, ...]


@dataclass(frozen=True, slots=True)
class CoreEntry:
    """A configuration that every model is asked first, see `records.CORE`.

    Attributes:
        samples: of its test split that are asked.
        shortcut: the shorter context of its main comparison.
    """

    configuration: _Name
    samples: _Count
    shortcut: Context


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
        allowed: what the audit may find.
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

    # Of the types in it, too: a dataclass without a configuration has that of what holds it.
    __pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)
    round: Annotated[str, Field(pattern=_ROUND)]
    code_version: str
    configurations: tuple[Configuration, ...]
    reports: tuple[StageCounts, ...]
    revision: Annotated[str, Field(pattern=_REVISION)] = ""
    imported: str = ""
    seed: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    allowed: AuditTable = field(default_factory=AuditTable)
    changes: dict[str, str] = field(default_factory=dict)
    extractor: str = ""
    split: SplitDates | None = None
    reading: ReadingSummary | None = None
    links: dict[LinkWay, int] = field(default_factory=dict)
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
        if odd := [name for name in self.other_files if not _BESIDE.fullmatch(name)]:
            raise ValueError(f"{odd[0]!r} is not a valid name of a file next to the data")

    @property
    def published_as(self) -> str:
        return self.revision or self.round

    @property
    def files(self) -> dict[str, DataFile]:
        return {file.path: file for configuration in self.configurations for file in configuration.every_file}

    def by_ids_of(self, name: str) -> Configuration | None:
        """The configuration that contains rows of another one by id."""
        return next((each for each in self.configurations if each.form == "ids" and each.of == name), None)

    @property
    def complete_configurations(self) -> Iterator[Configuration]:
        return (configuration for configuration in self.configurations if configuration.form != "ids")


_ADAPTER = TypeAdapter(Manifest)


def place_of(folder: Path, path: str) -> Path:
    """Where a file named by a manifest lies; a FolderError if that is out of the folder. All code that opens a file of one asks here."""
    place = folder / path
    if is_inside(place, folder):
        return place
    raise FolderError(f"{place} leads out of the dataset folder, to {place.resolve()}; put the file itself there")


def parse_manifest(data: bytes, origin: str) -> Manifest:
    """A manifest from the bytes of its file, which is called `origin` in the FolderError if it is none, or of another format."""
    try:
        content = parse_json(data)
    except ValueError as err:
        raise FolderError(f"{origin} is not JSON ({err}); build the folder again") from err
    file_format = content.pop("format", None) if isinstance(content, dict) else None
    if file_format != FORMAT:
        raise FolderError(
            f"{origin} is of format {file_format!r}, but this release reads {FORMAT}: build the folder again, or use the "
            "release that made it"
        )
    try:
        return _ADAPTER.validate_python(content)
    except ValidationError as err:
        problem = err.errors()[0]
        where, says = ".".join(map(str, problem["loc"])), problem["msg"].removeprefix("Value error, ")
        raise FolderError(
            f"{origin} is not a manifest that this release can read ({where or 'as a whole'}: {says}); build the folder again"
        ) from err
    except ODD as err:
        raise FolderError(f"{origin}: {why(err)}") from err


def manifest_bytes(manifest: Manifest) -> bytes:
    """A manifest as it is written."""
    content = {"format": FORMAT, **_ADAPTER.dump_python(manifest, mode="json")}
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def canary(round_: str) -> str:
    """A line by which this dataset can be recognised in training data; always the same for a round."""
    return f"academiceval canary {uuid.uuid5(uuid.NAMESPACE_URL, f'academiceval {round_}')}"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a finished dataset folder.

    Raises:
        FolderError: no such folder, no manifest (an unfinished build), or one that this code cannot read.
    """
    if not folder.is_dir():
        raise FolderError(f"the dataset folder {folder} does not exist; `academiceval run round.toml` makes one")
    path = place_of(folder, MANIFEST)
    if not path.is_file():
        raise FolderError(f"{folder} has no {MANIFEST}, so the dataset is not finished; build it again")
    try:
        data = path.read_bytes()
    except OSError as err:
        raise FolderError(f"cannot read {path}: {err.strerror}") from err
    return parse_manifest(data, str(path))
