"""How far long work has come: a bar on a terminal, elsewhere a line every half minute."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from tqdm import tqdm

_T = TypeVar("_T")
# Work that takes less is not worth a bar.
_DELAY = 2.0
_BETWEEN_LINES = 30.0
_shown = True


def silence() -> None:
    """Show nothing more in this process."""
    global _shown
    _shown = False


class Progress:
    """Steps done of a known or unknown number.

    Args:
        what: the work's name.
        total: None if it is not known.
        done: steps done by an earlier run.
        delay: seconds before a bar is drawn; 0 where the first step alone may take minutes.
    """

    def __init__(self, what: str, total: int | None = None, done: int = 0, delay: float = _DELAY) -> None:
        self._what, self._total, self._done, self._before = what, total, done, done
        self._started = self._told = time.monotonic()
        self._bar: Any = None
        if _shown and sys.stderr.isatty():
            self._bar = tqdm(desc=what, total=total, initial=done, delay=delay, unit_scale=True, leave=False)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._told > self._started:
            self._tell()

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        if self._bar is not None:
            self._bar.update()
        elif time.monotonic() - self._told >= _BETWEEN_LINES:
            self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        if not _shown:
            return
        seconds = self._told - self._started
        line = f"{self._what}: {self._done}{f' of {self._total}' if self._total else ''}"
        steps = self._done - self._before
        if self._total and steps > 0 and self._done < self._total:
            line += f", about {_duration((self._total - self._done) * seconds / steps)} left"
        sys.stderr.write(line + "\n")
        sys.stderr.flush()


def progress(items: Iterable[_T], what: str, total: int | None = None) -> Iterator[_T]:
    """Pass items on, showing how many were taken."""
    with Progress(what, total) as bar:
        for item in items:
            yield item
            bar.step()


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
