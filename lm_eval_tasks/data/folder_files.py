"""A dataset folder's files, compared with its manifest before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lm_eval_tasks.core.errors import DatasetError
from lm_eval_tasks.core.files import is_inside, sha256_of_bytes
from lm_eval_tasks.core.known_hashes import known_sha256
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.row_format import MANIFEST
from lm_eval_tasks.core.text import ODD, parse_json, why


def configurations_of(folder: Path) -> dict[str, dict[str, dict[Path, str]]]:
    """Configuration -> split -> its files and the sha256 that the manifest says.

    Raises:
        DatasetError: there is no manifest that can be read.
    """
    try:
        listed = parse_json((folder / MANIFEST).read_bytes())["configurations"]
        return {
            str(each["name"]): {
                str(split): {folder / str(file["path"]): str(file["sha256"]) for file in content["files"]}
                for split, content in each["splits"].items()
            }
            for each in listed
        }
    except ODD as err:
        raise DatasetError(f"{folder / MANIFEST} is no manifest ({why(err)}); build the dataset again") from err


def check_files(folder: Path, config: str, splits: Mapping[str, Mapping[Path, str]]) -> None:
    """Raise a DatasetError for a file that is missing, lies elsewhere or is not what the manifest says."""
    files = {file: digest for listed in splits.values() for file, digest in listed.items()}
    for file, digest in progress(files.items(), f"check {config}"):
        if not file.is_file() or not is_inside(file, folder) or known_sha256(file) != digest:
            raise DatasetError(
                f"{file} is not the file that {folder / MANIFEST} lists: get the dataset again, or build it again"
            )


def cache_name(splits: Mapping[str, Mapping[Path, str]]) -> str:
    """A name for the copies that `datasets` keeps of files: other contents, another name."""
    digests = " ".join(digest for listed in splits.values() for digest in listed.values())
    return f"academiceval-{sha256_of_bytes(digests)[:16]}"
