"""A dataset folder as a whole: its manifest, and how a new one takes the place of an old one."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from builder.errors import FolderError

MANIFEST = "manifest.json"
OTHER_FILES = "other_files"
FORMAT = 1


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a finished dataset folder.

    Raises:
        FolderError: no such folder, no manifest (an unfinished build), or one that this code cannot read.
    """
    if not folder.is_dir():
        raise FolderError(f"the dataset folder {folder} does not exist; `academiceval build round.toml` makes one")
    path = folder / MANIFEST
    if not path.is_file():
        raise FolderError(f"{folder} has no {MANIFEST}, so it is no finished dataset; build it again")
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise FolderError(f"cannot read {path}: {err}") from err
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise FolderError(f"{path} is not of format {FORMAT}; build the folder again with this release")
    return manifest


def write_manifest(folder: Path, content: dict[str, Any]) -> None:
    """Write the manifest, whole or not at all; its presence means that the folder is finished.

    The hashes of the files beside it (the card) are added to what `files` says of the data.
    """
    beside = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name != MANIFEST
    }
    part = folder / f".{MANIFEST}.part"
    part.write_bytes(manifest_bytes({"format": FORMAT, **content, OTHER_FILES: beside}))
    part.rename(folder / MANIFEST)


def manifest_bytes(content: dict[str, Any]) -> bytes:
    """A manifest as it is written."""
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def refuse_other_contents(built: Path, output: Path, replace: bool) -> None:
    """Raise a FolderError where a folder would take the place of one of the same round with other contents.

    Who has published a round or measured with it must not find another under its name.
    """
    if replace or not (output / MANIFEST).is_file():
        return
    new, old = read_manifest(built), read_manifest(output)
    if new["round"] == old["round"] and new["files"] != old["files"]:
        raise FolderError(
            f"{output} holds round {old['round']} with other contents; give the new one another `round` or `output`, or "
            "pass --replace if nobody has used the old one"
        )


@contextmanager
def replacing(output: Path) -> Iterator[Path]:
    """An empty folder to build in, that takes the place of `output` when the block is left, and goes when it fails.

    Raises:
        FolderError: `output` holds something that is no dataset folder, or the place cannot be written.
    """
    building = _begin(output)
    try:
        yield building
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    _finish(output)


def _begin(output: Path) -> Path:
    building, old = _beside(output)
    try:
        if old.exists() and not output.exists():
            # A build was killed between its two renames: the previous folder is still whole.
            old.rename(output)
        if output.exists() and not output.is_dir():
            raise FolderError(f"{output} exists and is a file; move it away or choose another `output`")
        if output.exists() and any(output.iterdir()) and not (output / MANIFEST).is_file():
            raise FolderError(f"{output} exists and is no dataset folder; move it away or choose another `output`")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
    except OSError as err:
        raise FolderError(f"cannot write {building}: {err.strerror}") from err
    return building


def _finish(output: Path) -> None:
    """Put the built folder in the place of `output`; the previous one goes only when the new one is there."""
    building, old = _beside(output)
    shutil.rmtree(old, ignore_errors=True)
    if output.exists():
        output.rename(old)
    building.rename(output)
    shutil.rmtree(old, ignore_errors=True)


def _beside(output: Path) -> tuple[Path, Path]:
    return output.with_name(f".{output.name}.building"), output.with_name(f".{output.name}.old")
