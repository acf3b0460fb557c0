"""What a dataset is named, and what the manifest of a folder lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.base import gone
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.metadata import VARIABLE
from lm_eval_tasks.base.row_format import IDS, MADE_UP, MANIFEST
from lm_eval_tasks.base.text import ODD, parse_json, suggestion, why

# Split -> its files and the sha256 that they must have.
Splits = Mapping[str, Mapping[Path, str]]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder's manifest says, read once.

    Attributes:
        revision: the sha256 of the manifest.
        configurations: name -> the manifest's entry, not yet checked.
        is_made_up: whether the round's papers are.
        core: the configurations that every model is asked first.
    """

    folder: Path
    revision: str
    configurations: Mapping[str, Any]
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
            names = [str(entry["name"]) for entry in content["configurations"]]
            if len(set(names)) < len(names):
                raise ValueError("it lists a configuration twice")
            entries = dict(zip(names, content["configurations"], strict=True))
            core = tuple(str(entry["configuration"]) for entry in content.get("core", ()))
            return cls(folder, sha256_of_bytes(data), entries, content.get("source") == MADE_UP, core)
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

    def splits_of(self, config: str) -> Splits:
        """The files of a configuration, not yet checked.

        Raises:
            DatasetError: the manifest says something else.
        """
        try:
            return {
                str(split): {self.folder / str(file["path"]): str(file["sha256"]) for file in content["files"]}
                for split, content in self.configurations[config]["splits"].items()
            }
        except ODD as err:
            raise _unreadable(self.folder, err) from err


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
