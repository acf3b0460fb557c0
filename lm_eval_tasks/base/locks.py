"""One process at a time: a lock file next to what a command writes. The system frees it however its holder ends."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from lm_eval_tasks.base.errors import BusyError

# Seconds that the children of a killed holder, which share its lock, may take to end on a busy machine.
_GRACE = 2.0


def lock_of(path: Path) -> Path:
    """The lock file of a file or folder."""
    return path.with_name(f".{path.name}.lock")


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Keep all other processes from writing a file or folder until the block is left.

    Raises:
        BusyError: another process holds it; the message names the process.
    """
    path = path.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    place = lock_of(path)
    lock = FileLock(place)
    try:
        lock.acquire(timeout=_GRACE)
    except Timeout as err:
        raise BusyError(f"{path} is being written by {_holder(place)}; wait for it to end, or stop it first") from err
    try:
        place.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
        yield
    finally:
        # While it is held: whoever opened this file meanwhile sees that it is gone, and looks again.
        place.unlink(missing_ok=True)
        lock.release()


def _holder(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8", errors="replace")[:200] or "another process"
    except OSError:
        return "another process"
