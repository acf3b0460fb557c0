"""Ending with the parent: Linux kills a process whose parent is gone, if the process has asked for it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with(parent: int) -> None:
    """Let the system kill this process as soon as its parent ends, however the parent ends. Other systems know no such thing.

    Args:
        parent: its process id; where it has gone already, this process ends at once.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
