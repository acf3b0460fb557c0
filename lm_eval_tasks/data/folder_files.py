"""A dataset folder as its manifest lists it: files are compared with it before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import DatasetError
from lm_eval_tasks.core.files import is_inside, sha256_of_bytes
from lm_eval_tasks.core.known_hashes import known_sha256
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.row_format import MADE_UP, MANIFEST
from lm_eval_tasks.core.text import ODD, parse_json, why

# Split -> its files and the sha256 that they must have.
Splits = Mapping[str, Mapping[Path, str]]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder's manifest says, read once.

    Attributes:
        revision: the sha256 of the manifest.
        configurations: name -> the manifest's entry, not yet checked.
        is_made_up: whether the round's papers are.
    """

    folder: Path
    revision: str
    configurations: Mapping[str, Any]
    is_made_up: bool

    @classmethod
    def of(cls, folder: Path) -> Listing:
        """Read a folder's manifest.

        Raises:
            DatasetError: there is none that can be read.
        """
        try:
            data = (folder / MANIFEST).read_bytes()
            content = parse_json(data)
            names = [str(entry["name"]) for entry in content["configurations"]]
            if len(set(names)) < len(names):
                raise ValueError("it lists a configuration twice")
            entries = dict(zip(names, content["configurations"], strict=True))
            return cls(folder, sha256_of_bytes(data), entries, content.get("source") == MADE_UP)
        except (*ODD, OSError) as err:
            raise _unreadable(folder, err) from err

    def checked_splits(self, config: str) -> Splits:
        """The files of a configuration, which are what the manifest says.

        Raises:
            DatasetError: one is missing, lies elsewhere or is something else.
        """
        try:
            splits = {
                str(split): {self.folder / str(file["path"]): str(file["sha256"]) for file in content["files"]}
                for split, content in self.configurations[config]["splits"].items()
            }
        except ODD as err:
            raise _unreadable(self.folder, err) from err
        files = [(file, digest) for listed in splits.values() for file, digest in listed.items()]
        for file, digest in progress(files, f"check {config}"):
            if not file.is_file() or not is_inside(file, self.folder) or known_sha256(file) != digest:
                raise DatasetError(
                    f"{file} is not the file that {self.folder / MANIFEST} lists: get the dataset again, or build it again"
                )
        return splits


def _unreadable(folder: Path, err: Exception) -> DatasetError:
    return DatasetError(f"{folder / MANIFEST} is no manifest ({why(err)}); build the dataset again")


def cache_name(splits: Splits) -> str:
    """A name for the copies that `datasets` keeps, which knows files by name and time alone: other contents, another name."""
    digests = " ".join(digest for listed in splits.values() for digest in listed.values())
    return f"academiceval-{sha256_of_bytes(digests)[:16]}"
