"""Whether a dataset folder contains what its manifest says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builder.dataset.manifest import MANIFEST, Manifest, place_of
from lm_eval_tasks.core.files import sha256_of


def file_differences(folder: Path, manifest: Manifest, ignored: frozenset[str] = frozenset()) -> Iterator[str]:
    """One sentence for each file of a folder that is missing, changed or not listed.

    Args:
        ignored: paths that may exist without being listed, or differ.
    """
    listed = {path: file.sha256 for path, file in manifest.files.items()} | manifest.other_files
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for path in sorted(listed.keys() - ignored):
        if path not in there:
            yield f"{path} is missing"
        elif sha256_of(place_of(folder, path)) != listed[path]:
            yield f"{path} has changed"
    for path in sorted(there - set(listed) - {MANIFEST} - ignored):
        yield f"{path} is not listed"
