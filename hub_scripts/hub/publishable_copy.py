"""The folder to upload: a round, or its publishable copy next to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.manifest import MANIFEST, SEALED, Manifest, read_manifest
from builder.dataset.publishable import publishable
from hub_scripts.errors import CheckError
from lm_eval_tasks.core.row_format import FIRST_VERSIONS

if TYPE_CHECKING:
    from builder.round.licenses import Shown


def publishable_copy(source: Path, licenses: Shown) -> Path:
    """The folder to upload: the publishable copy next to a round, made again if it is not of this very round.

    Raises:
        CheckError: the folder is such a copy with more than these licences allow, or the copy's place is taken.
    """
    manifest = read_manifest(source)
    copy_record = manifest.publishable
    if licenses == "all" or (copy_record and copy_record.licenses == licenses):
        return source
    if copy_record:
        raise CheckError(f"{source} was made with --licenses {copy_record.licenses}, not {licenses}; push its round")
    copy = source.resolve().with_name(f"{source.resolve().name}-publishable")
    if (copy / MANIFEST).is_file():
        copy_manifest = read_manifest(copy)
        if copy_manifest.publishable is None:
            raise CheckError(f"{copy} exists and is not a publishable copy; move it away")
        if (
            copy_manifest.publishable.licenses == licenses
            and _original_manifest(copy_manifest) == replace(manifest, other_files={})
            and _carries(copy_manifest, manifest)
        ):
            return copy
    publishable(source, copy, licenses)
    return copy


def _carries(copy: Manifest, original: Manifest) -> bool:
    """Whether a copy has the original's files next to the data; a sealed one has no first versions."""
    left_out = FIRST_VERSIONS if copy.revision.endswith(SEALED) else None
    return copy.carried == {name: hash_ for name, hash_ in original.carried.items() if name != left_out}


def _original_manifest(copy: Manifest) -> Manifest:
    """The manifest of the round that a copy was made of, except for the hashes of the files next to the data."""
    assert copy.publishable is not None
    return replace(
        copy,
        configurations=copy.publishable.original,
        publishable=None,
        other_files={},
        revision="" if copy.revision.endswith(SEALED) else copy.revision,
    )
