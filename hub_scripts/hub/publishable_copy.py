"""The folder to upload: a round, or its publishable copy next to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.manifest import MANIFEST, Manifest, read_manifest
from builder.dataset.publishable import publishable
from hub_scripts.errors import CheckError

if TYPE_CHECKING:
    from builder.round.licenses import Licenses


def publishable_copy(source: Path, licenses: Licenses) -> Path:
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
        is_of_it = _original_manifest(copy_manifest) == replace(manifest, other_files={})
        if copy_manifest.publishable.licenses == licenses and is_of_it:
            return copy
    publishable(source, copy, licenses)
    return copy


def _original_manifest(copy: Manifest) -> Manifest:
    """The manifest of the round that a copy was made of, except for the hashes of the files next to the data."""
    assert copy.publishable is not None
    return replace(copy, configurations=copy.publishable.original, publishable=None, other_files={})
