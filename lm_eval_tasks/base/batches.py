"""Lists cut into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


def batches(items: Sequence[_T], most: int) -> list[Sequence[_T]]:
    """The items in their order, up to `most` together."""
    return [items[i : i + most] for i in range(0, len(items), most)]
