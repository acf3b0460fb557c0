"""What Linux can do and Python has no name for. On other systems none of this happens, and callers learn that."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def die_with(parent: int) -> None:
    """Let the system kill this process as soon as its parent ends, however the parent ends.

    Args:
        parent: its process id; if it has ended already, this process ends at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def exchange(first: Path, second: Path) -> bool:
    """Let two folders or files take each other's place in one step, so that both names exist at any moment.

    Returns:
        False if the system or the file system cannot do that; then nothing has changed.
    """
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    paths = os.fsencode(first), os.fsencode(second)
    return rename is not None and rename(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0
