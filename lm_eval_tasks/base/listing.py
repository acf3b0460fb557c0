"""What a dataset is named, and what the manifest of a folder lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from lm_eval_tasks.base import gone
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import VARIABLE
from lm_eval_tasks.base.row_format import IDS, MADE_UP, MANIFEST
from lm_eval_tasks.base.text import ODD, parse_json, suggestion, why
from lm_eval_tasks.base.typed import typed

# Split -> its files and the sha256 that they must have.
Splits = Mapping[str, Mapping[Path, str]]


class _File(msgspec.Struct):
    path: str
    sha256: str


class _Split(msgspec.Struct):
    files: list[_File]


class _Configuration(msgspec.Struct):
    name: str
    splits: dict[str, _Split] = msgspec.field(default_factory=dict)

    def files_below(self, folder: Path) -> Splits:
        return {name: {folder / file.path: file.sha256 for file in split.files} for name, split in self.splits.items()}


class _CoreEntry(msgspec.Struct):
    configuration: str


class _Manifest(msgspec.Struct):
    """What evaluation reads of a manifest; the builder reads, and checks, all of it."""

    configurations: list[_Configuration]
    source: str | None = None
    core: list[_CoreEntry] = msgspec.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder's manifest says, read once.

    Attributes:
        revision: the sha256 of the manifest.
        configurations: name -> its files, not yet compared with what is there.
        is_made_up: whether the round's papers are.
        core: the configurations that every model is asked first.
    """

    folder: Path
    revision: str
    configurations: Mapping[str, Splits]
    is_made_up: bool
    core: tuple[str, ...]

    @classmethod
    def of(cls, folder: Path) -> Listing:
        """Read a folder's manifest.

        Raises:
            DatasetError: there is none that can be read.
        """
        try:
            data = (folder / MANIFEST).read_bytes()
            content = parse_json(data)
            gone.refuse_sealed(content.get("revision"))
            manifest = typed(_Manifest, content)
            splits = {entry.name: entry.files_below(folder) for entry in manifest.configurations}
            if len(splits) < len(manifest.configurations):
                raise ValueError("it lists a configuration twice")
            core = tuple(entry.configuration for entry in manifest.core)
            return cls(folder, sha256_of_bytes(data), splits, manifest.source == MADE_UP, core)
        except OSError as err:
            raise DatasetError(
                f"{folder} has no {MANIFEST}, so it is not a finished dataset; name the folder of one, or build it again"
            ) from err
        except ODD as err:
            raise _unreadable(folder, err) from err

    def check_setting(self, name: str, setting: str) -> None:
        """Raise a DatasetError if the folder lacks a setting.

        Args:
            name: the folder, as the user typed it.
        """
        if setting not in self.configurations:
            if said := gone.task(setting):
                raise DatasetError(f"{setting} is gone: {said}")
            hint = suggestion(setting, [known for known in self.configurations if not known.endswith(IDS)], "{}")
            raise DatasetError(f"the dataset {name!r} has no setting {setting}; {hint}")


def _unreadable(folder: Path, err: Exception) -> DatasetError:
    return DatasetError(f"{folder / MANIFEST} is no manifest ({why(err)}); build the dataset again")


def check_dataset(name: str, setting: str | None = None) -> None:
    """Raise a DatasetError for a dataset that is neither a finished folder nor named as on the Hub, or a folder without the setting."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        if "/" not in name:
            raise DatasetError(unreachable(name))
        return
    listing = Listing.of(folder)
    if setting:
        listing.check_setting(name, setting)


def unreachable(name: str) -> str:
    """The sentence about a dataset that cannot be found."""
    return (
        f"the dataset {name!r} is neither a folder here nor reachable on the Hub; give its folder, or ORG/NAME of the Hub, with "
        f'--metadata \'{{"dataset": "ORG/academiceval"}}\' or in {VARIABLE}'
    )
