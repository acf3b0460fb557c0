"""Reads and writes `manifest.json`.

The file may come from anyone, and from a newer release: what is read from it is checked against the types of `base.manifest`, and
what this release does not know is left out, and said.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from lm_eval_tasks.base.contract import MANIFEST, PAPERS_TASK
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.manifest import Manifest, place_of
from lm_eval_tasks.base.text import ODD, parse_json, why
from lm_eval_tasks.base.typed import typed

# Raised when, and only when, an older release would read a manifest wrongly. A new field or family does not raise it.
FORMAT = 5


def parse_manifest_file(data: bytes, origin: str, known_tasks: frozenset[str]) -> tuple[Manifest, tuple[str, ...]]:
    """Read a manifest from the bytes of its file; return it with the names of the fields and configurations that this release does not
    know.

    Args:
        origin: what the file is called in errors.
        known_tasks: of the families of this release; configurations of others are left out.

    Raises:
        DatasetError: it is no manifest, or of another format.
    """
    try:
        content = parse_json(data)
    except ValueError as err:
        raise DatasetError(f"{origin} is not JSON ({err}); build the folder again") from err
    file_format = content.pop("format", None) if isinstance(content, dict) else None
    if file_format != FORMAT:
        raise DatasetError(
            f"{origin} is of format {file_format!r}, but this release reads {FORMAT}: build the folder again, or use the "
            "release that made it"
        )
    try:
        strange = _take_strange_configurations(content, known_tasks | {PAPERS_TASK})
        manifest = typed(Manifest, content)
    except ODD as err:
        raise DatasetError(
            f"{origin} is not a manifest that this release can read ({why(err)}); build the folder again"
        ) from err
    fields = sorted(set(_unknown_fields(content, _content_of(manifest))))
    return manifest, (*strange, *fields)


def _take_strange_configurations(content: dict[str, Any], known_tasks: frozenset[str]) -> list[str]:
    """Take the configurations of unknown families out of a manifest, and what speaks of them; return their names."""
    configurations = content.get("configurations")
    if not isinstance(configurations, list):
        return []
    listed = [each for each in configurations if isinstance(each, dict) and isinstance(each.get("task"), str)]
    strange = [str(each.get("name")) for each in listed if each["task"] not in known_tasks]
    if strange:
        content["configurations"] = [
            each for each in configurations if each not in listed or each["name"] not in strange
        ]
        content["core"] = [entry for entry in content.get("core", []) if entry["configuration"] not in strange]
    return strange


def _unknown_fields(content: object, known: object, name: str = "") -> Iterator[str]:
    """List the fields of a manifest that its record has not taken, without the numbers of entries."""
    if isinstance(content, Mapping) and isinstance(known, Mapping):
        for key, value in content.items():
            path = f"{name}.{key}" if name else str(key)
            if key in known:
                yield from _unknown_fields(value, known[key], path)
            else:
                yield path
    elif isinstance(content, list) and isinstance(known, tuple | list):
        for entry, known_entry in zip(content, known, strict=True):
            yield from _unknown_fields(entry, known_entry, name)


def _content_of(manifest: Manifest) -> dict[str, Any]:
    content: dict[str, Any] = msgspec.to_builtins(manifest)
    return content


def manifest_bytes(manifest: Manifest) -> bytes:
    """Write a manifest as its file holds it."""
    content = {"format": FORMAT, **_content_of(manifest)}
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def read_manifest_bytes(folder: Path) -> bytes:
    """Read the file of a finished dataset folder.

    Raises:
        DatasetError: no such folder, no manifest (an unfinished build), or it cannot be read.
    """
    if not folder.is_dir():
        raise DatasetError(f"the dataset folder {folder} does not exist; `academiceval run round.toml` makes one")
    path = place_of(folder, MANIFEST)
    if not path.is_file():
        raise DatasetError(
            f"{folder} has no {MANIFEST}, so it is not a finished dataset; name the folder of one, or build it again"
        )
    try:
        return path.read_bytes()
    except OSError as err:
        raise DatasetError(f"cannot read {path}: {err.strerror}") from err
