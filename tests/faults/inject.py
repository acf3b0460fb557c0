"""In the process of a command: every step that it takes outside itself is counted, and at one of them something goes wrong.

Steps are what Python's audit events tell (files opened, renamed, removed, folders made, connections), and in addition each write
and each fsync of Python's own files. Libraries' own code (SQLite, Parquet) writes past Python: `room` makes the system refuse
what goes beyond a size of file, whoever writes it.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
ERRORS = {"ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES}
KILL, TORN = "SIGKILL", "torn write"
# Events that change what is on the disk -> the name of the step.
_CHANGES = {
    "os.rename": "rename",
    "os.remove": "remove",
    "os.mkdir": "mkdir",
    "os.rmdir": "rmdir",
    "os.truncate": "truncate",
}


class Steps:
    """Counts the steps below a folder; at step number `at` the fault `how` happens, once."""

    def __init__(self, watched: str, record: str, at: int, how: str) -> None:
        self._watched, self._record, self._at, self._how = watched, record, at, how
        self._taken: list[str] = []
        self._busy = False

    def take(self, kind: str, path: object) -> bool:
        """One step; true where the caller has to tear its write."""
        if self._busy or (kind != "connect" and not self.is_watched(path)):
            return False
        self._taken.append(f"{kind} {_short(path, self._watched)}")
        if self._record:
            self._busy = True
            Path(self._record).write_text("\n".join(self._taken))
            self._busy = False
        if len(self._taken) - 1 != self._at:
            return False
        if self._how == KILL:
            os.kill(os.getpid(), signal.SIGKILL)
        if self._how == TORN:
            return True
        code = ERRORS[self._how]
        raise OSError(code, os.strerror(code), str(path))

    def is_watched(self, path: object) -> bool:
        return isinstance(path, str | os.PathLike) and os.path.abspath(os.fspath(path)).startswith(self._watched)  # noqa: PTH100

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[2], int):
            self.take("open to write" if arguments[2] & _WRITING else "open", arguments[0])
        elif event in _CHANGES:
            self.take(_CHANGES[event], arguments[0])
        elif event == "sqlite3.connect":
            self.take("open store", arguments[0])
        elif event == "socket.connect":
            self.take("connect", "server")


def _short(path: object, watched: str) -> str:
    """A path as it reads in a table: below the folder, with hashes left out."""
    name = os.path.relpath(os.fspath(path), watched) if str(path).startswith(watched) else str(path)  # type: ignore[arg-type]
    return re.sub(r"(?<![^-./])[^-./]{16}(?![^-./])", "HASH", name)


class _File(io.FileIO):
    """A file whose writes are steps."""

    steps: Steps

    def write(self, data: Any, /) -> int:
        if self.steps.take("write", self.name):
            super().write(bytes(data)[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return super().write(data)


def _opening(steps: Steps, real: Callable[..., Any]) -> Callable[..., Any]:
    def opened(
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: Any = None,
        errors: Any = None,
        newline: Any = None,
        *rest: Any,
    ) -> Any:
        if not set(mode) & set("wax+") or not steps.is_watched(file):
            return real(file, mode, buffering, encoding, errors, newline, *rest)
        raw = _File(file, mode.replace("t", "").replace("b", ""))
        if buffering == 0:
            return raw
        kept = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return kept if "b" in mode else io.TextIOWrapper(kept, encoding or "utf-8", errors, newline)

    return opened


def main() -> int:
    """Run `academiceval` with the fault that the variable FAULT describes."""
    spec = json.loads(os.environ["FAULT"])
    steps = Steps(spec["watched"], spec.get("record", ""), spec.get("at", -1), spec.get("how", ""))
    _File.steps = steps
    io.open = _opening(steps, io.open)  # type: ignore[assignment]
    real_sync = os.fsync

    def sync(handle: int) -> None:
        steps.take("fsync", Path(f"/proc/self/fd/{handle}").readlink())
        real_sync(handle)

    os.fsync = sync
    if room := spec.get("room"):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    sys.addaudithook(steps.audit)
    from builder.cli import main as academiceval

    return academiceval(spec["argv"])
