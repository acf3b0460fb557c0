"""A round's manifest as this release reads it: without the families that it does not have."""

import logging
from pathlib import Path

from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.base.manifest_file import parse_manifest_file, read_manifest_bytes
from lm_eval_tasks.families.registry import FAMILIES

_LOGGER = logging.getLogger(__name__)
_KNOWN_TASKS = frozenset(configuration.task for family in FAMILIES for configuration in family.configurations)
# Files about which it has been said what is left out of them.
_SAID: set[str] = set()


def parse_manifest(data: bytes, origin: str) -> Manifest:
    """Read a manifest from the bytes of its file, and say once what of it this release does not know.

    Args:
        origin: what the file is called.

    Raises:
        DatasetError: it is no manifest, or of another format.
    """
    manifest, left_out = parse_manifest_file(data, origin, _KNOWN_TASKS)
    if left_out and origin not in _SAID:
        _SAID.add(origin)
        _LOGGER.warning(
            "%s is of a newer release: this one does not know %s, and reads the round without",
            origin,
            ", ".join(left_out),
        )
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a finished dataset folder.

    Raises:
        DatasetError: no such folder, no manifest (an unfinished build), or one that this code cannot read.
    """
    return parse_manifest(read_manifest_bytes(folder), str(folder / MANIFEST))
