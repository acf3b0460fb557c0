"""What a person sees who waits: progress bars, on a terminal only and for work that takes a while, and reasons for long waits."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from tqdm import tqdm

_T = TypeVar("_T")
# A shorter silence needs no explanation.
_LONG_WAIT = 10.0


def announce_wait(seconds: float, reason: str) -> None:
    """Say why nothing will happen for a while."""
    if seconds >= _LONG_WAIT:
        tqdm.write(f"waiting {seconds:.0f} s: {reason}", file=sys.stderr)


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """Pass items on, drawing a bar once two seconds have gone by."""
    yield from tqdm(items, desc=what, total=total, disable=None, delay=2, unit_scale=True, leave=False)
