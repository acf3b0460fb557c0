"""Progress bars: on a terminal only, and only for work that takes a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

_T = TypeVar("_T")


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """Pass items on, drawing a bar once two seconds have gone by."""
    yield from tqdm(items, desc=what, total=total, disable=None, delay=2, unit_scale=True, leave=False)
