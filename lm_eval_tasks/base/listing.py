"""What a dataset is named, what the manifest of a folder lists, and that its files are that."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import msgspec

from lm_eval_tasks.base.contract import IDS, MADE_UP, MANIFEST
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import is_inside, known_sha256, sha256_of_bytes
from lm_eval_tasks.base.metadata import VARIABLE
from lm_eval_tasks.base.text import ODD, parse_json, suggestion, why
from lm_eval_tasks.base.typed import typed

if TYPE_CHECKING:
    import pyarrow.parquet as pq

# Split -> its files and the sha256 that they must have.
Splits = Mapping[str, Mapping[Path, str]]
# The most that is unpacked at a time.
_ROWS, _BYTES = 64, 1 << 29
# Texts pack to a quarter, repeated ones to less; what a file may unpack to, in all.
_MOST_TIMES, _LEAST = 100, 1 << 30


class _File(msgspec.Struct):
    path: str
    sha256: str


class _Split(msgspec.Struct):
    files: list[_File]


class _Configuration(msgspec.Struct):
    name: str
    task: str = ""
    splits: dict[str, _Split] = msgspec.field(default_factory=dict)

    def files_below(self, folder: Path) -> Splits:
        return {name: {folder / file.path: file.sha256 for file in split.files} for name, split in self.splits.items()}


class _Manifest(msgspec.Struct):
    """What evaluation reads of a manifest; the builder reads, and checks, all of it."""

    configurations: list[_Configuration]
    source: str | None = None
    core: list[dict[str, Any]] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder's manifest says, read once.

    Attributes:
        revision: the sha256 of the manifest.
        configurations: name -> its files, not yet compared with what is there.
        tasks: name -> its task, "" if the manifest does not say it.
        is_made_up: whether the round's papers are.
        core: the configurations that every model is asked first.
    """

    folder: Path
    revision: str
    configurations: Mapping[str, Splits]
    tasks: Mapping[str, str]
    is_made_up: bool
    core: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read a folder's manifest; a DatasetError if there is none that can be read."""
        try:
            data = (folder / MANIFEST).read_bytes()
            content = parse_json(data)
            manifest = typed(_Manifest, content)
            splits = {entry.name: entry.files_below(folder) for entry in manifest.configurations}
            if len(splits) < len(manifest.configurations):
                raise ValueError("it lists a configuration twice")
            core = tuple(str(entry["configuration"]) for entry in manifest.core)
            tasks = {entry.name: entry.task for entry in manifest.configurations}
            return cls(folder, sha256_of_bytes(data), splits, tasks, manifest.source == MADE_UP, core)
        except OSError as err:
            raise DatasetError(
                f"{folder} has no {MANIFEST}, so it is not a finished dataset; name the folder of one, or build it again"
            ) from err
        except ODD as err:
            raise DatasetError(f"{folder / MANIFEST} is no manifest ({why(err)}); build the dataset again") from err

    def check_setting(self, name: str, setting: str) -> None:
        """Raise a DatasetError if the folder, here as the user typed it, lacks a setting."""
        if setting not in self.configurations:
            hint = suggestion(setting, [known for known in self.configurations if not known.endswith(IDS)], "{}")
            raise DatasetError(f"the dataset {name!r} has no setting {setting}; {hint}")


def check_dataset(name: str, setting: str | None = None) -> None:
    """Raise a DatasetError for a dataset that is neither a finished folder nor named as on the Hub, or a folder without the setting."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        listing = Listing.of(folder)
        if setting:
            listing.check_setting(name, setting)
    elif "/" not in name:
        raise DatasetError(unreachable(name))


def unreachable(name: str) -> str:
    """The sentence about a dataset that cannot be found."""
    return (
        f"the dataset {name!r} is neither a folder here nor reachable on the Hub; give its folder, or ORG/NAME of the Hub, with "
        f'--metadata \'{{"dataset": "ORG/academiceval"}}\' or in {VARIABLE}'
    )


def largest_chunk(metadata: "pq.FileMetaData") -> int:
    """Bytes of the largest column chunk, unpacked: the most that one value, which a dictionary may repeat, can take up."""
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    columns = (group.column(i) for group in groups for i in range(group.num_columns))
    return max((column.total_uncompressed_size for column in columns), default=0)


def batch_rows(largest: int) -> int:
    """How many rows are unpacked at a time, so that even values of the largest size fit."""
    return max(1, min(_ROWS, _BYTES // max(1, largest)))


@cache
def check_unpacked(path: Path, digest: str) -> None:
    """Raise a DatasetError for a file, looked through once for each digest, that unpacks to far more than its size."""
    import pyarrow.parquet as pq

    most, size = max(_LEAST, _MOST_TIMES * path.stat().st_size), 0
    with pq.ParquetFile(path) as file:
        if file.metadata.num_rows * largest_chunk(file.metadata) <= most:
            return
        for batch in file.iter_batches(batch_rows(largest_chunk(file.metadata))):
            size += batch.nbytes
            if size > most:
                raise DatasetError(
                    f"{path} unpacks to more than {_MOST_TIMES} times its size: get the dataset from whom you trust"
                )


def checked_splits(listing: Listing, config: str) -> Splits:
    """The files of a configuration, which are what the manifest says.

    Raises:
        DatasetError: one is missing, lies elsewhere, is something else, or unpacks to far more than its size.
    """
    from lm_eval_tasks.base.progress import progress

    splits, folder = listing.configurations[config], listing.folder
    files = [(file, digest) for listed in splits.values() for file, digest in listed.items()]
    for file, digest in progress(files, f"check {config}"):
        if not file.is_file() or not is_inside(file, folder) or known_sha256(file) != digest:
            raise DatasetError(
                f"{file} is not the file that {folder / MANIFEST} lists: get the dataset again, or build it again"
            )
        check_unpacked(file, digest)
    return splits
