"""Sealed rounds: hashes first, texts later; and whether what was opened is what was sealed.

A sealed revision holds every row by id, with the hash of each of its texts. Nobody can train on what is not there, and nobody can
change it afterwards without being found out.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builder.dataset.manifest import SEALED, Configuration, Manifest, read_manifest
from builder.dataset.rows import Row, kind_of, read_rows
from builder.records import SPLITS

# Of a row by id, what depends on how the copy was cut.
_PLACES = frozenset({"position"})


def seal_of(manifest: Manifest) -> str | None:
    """The revision under which a round was sealed, if it was; None for that revision itself."""
    return None if manifest.revision.endswith(SEALED) else f"{manifest.round}{SEALED}"


def differences_from_seal(sealed: Path, opened: Path) -> Iterator[str]:
    """How a revision differs from what was sealed, one sentence for each configuration and split.

    Args:
        sealed, opened: the folders of both revisions.

    Raises:
        FolderError: one of them cannot be read.
    """
    before, after = read_manifest(sealed), read_manifest(opened)
    names = {one.name for one in before.configurations if one.form != "ids"}
    if added := sorted({one.name for one in after.configurations if one.form != "ids"} - names):
        yield f"{added[0]} was not sealed"
    for name in sorted(names):
        hashes, shown = (_rows_of(folder, manifest, name) for folder, manifest in ((sealed, before), (opened, after)))
        if changed := [key for key, row in shown.items() if key in hashes and row != hashes[key]]:
            yield f"{name}: {len(changed)} rows are not those that were sealed, among them {changed[0][1]}"
        if other := sorted(shown.keys() ^ hashes.keys()):
            yield f"{name}: {len(other)} rows are in one of the revisions alone, among them {other[0][1]}"


def _rows_of(folder: Path, manifest: Manifest, name: str) -> dict[tuple[str, str], Row]:
    """(split, id) -> the row by id, of rows of both forms."""
    found: dict[tuple[str, str], Row] = {}
    for one in manifest.configurations:
        if name in (one.name, one.of) and (one.form == "ids" or one.name == name):
            found |= _by_ids(folder, one)
    return found


def _by_ids(folder: Path, one: Configuration) -> dict[tuple[str, str], Row]:
    kind = kind_of(one)
    return {
        (split, row["id"]): {name: value for name, value in by_id.items() if name not in _PLACES}
        for split in SPLITS
        for row in read_rows(folder, one, split)
        for by_id in [row if one.form == "ids" else kind.id_row(row, 0)]
    }
