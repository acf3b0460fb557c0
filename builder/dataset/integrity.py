"""Whether a dataset folder contains what its manifest says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builder.dataset.manifest import MANIFEST, Manifest, place_of
from lm_eval_tasks.base.files import sha256_of


def file_differences(folder: Path, manifest: Manifest) -> Iterator[str]:
    """One sentence for each file of a folder that is missing or changed."""
    listed = {path: file.sha256 for path, file in manifest.files.items()} | manifest.other_files
    for path in sorted(listed):
        if not place_of(folder, path).is_file():
            yield f"{path} is missing"
        elif sha256_of(place_of(folder, path)) != listed[path]:
            yield f"{path} has changed"


def unlisted_files(folder: Path, manifest: Manifest) -> list[str]:
    """The files of a folder that its manifest does not list."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return sorted(there - manifest.files.keys() - manifest.other_files.keys() - {MANIFEST, *manifest.gone_files})
