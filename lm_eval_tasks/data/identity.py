"""Which question a row is: the hash that answers carry, by which runs are paired."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from lm_eval_tasks.base.files import sha256_of_bytes

# What a row says that is neither shown, nor asked, nor right.
_BESIDE = frozenset(("round", "license", "published", "primary_category", "authors", "context", "shortcut", "tags"))


def row_hash(row: object, version: int, texts: Iterable[str] = ()) -> str:
    """The sha256 of what a row shows, asks and calls right, and of the version of its prompt.

    Args:
        row: a family's typed row.
        texts: what it shows of other configurations.
    """
    content = [version, _bare(msgspec.to_builtins(row)), list(texts)]
    return sha256_of_bytes(msgspec.json.encode(content, order="deterministic"))


def _bare(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _bare(part) for name, part in value.items() if name not in _BESIDE}
    return [_bare(part) for part in value] if isinstance(value, list | tuple) else value
