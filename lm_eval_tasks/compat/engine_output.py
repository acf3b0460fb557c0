"""`vllm`: why its engine did not start. `LLM(...)` says only that it did not; its processes write the reason, with tracebacks.

A public way would be the reason in the error that `LLM` raises.
"""

from __future__ import annotations

import os
import re
import select
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_ERROR = re.compile(rb"\bERROR\b|^Traceback |^Process \w+:$|\bEngineCore failed\b", re.MULTILINE)
# What vLLM's log puts before each line.
_BEFORE = re.compile(r"^\([^)]*\) ?(?:ERROR \S+ \S+ \[[^\]]*\] ?)?|^ERROR \S+ \S+ \[[^\]]*\] ?")
_CHUNK = 1 << 16
# Seconds that the last words of a process may take which did not start.
_PATIENCE = 5


@contextmanager
def errors_kept() -> Iterator[list[str]]:
    """Pass on what this process and those that it starts write, up to the first error.

    Yields:
        A list that has the lines from there on, without the log's marks, if the block raises. Else these are passed on too.
    """
    streams = [_Stream(file.fileno()) for file in (sys.__stdout__, sys.__stderr__) if file is not None]
    kept: list[str] = []
    try:
        yield kept
    except BaseException:
        for stream in streams:
            kept += [_BEFORE.sub("", line) for line in stream.end(keep=True).splitlines()]
        raise
    for stream in streams:
        stream.end(keep=False)


class _Stream:
    """Standard output or error, read through a pipe by a thread, which goes on as long as a process writes into it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._beyond = descriptor, os.dup(descriptor)
        self._kept, self._keeps = bytearray(), True
        self._lock = threading.Lock()
        self._reading, writing = os.pipe()
        _flush()
        os.dup2(writing, descriptor)
        os.close(writing)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while select.select([self._reading], [], []):
            with self._lock:
                if not (chunk := os.read(self._reading, _CHUNK)):
                    return
                self._pass_on(chunk)

    def _pass_on(self, chunk: bytes) -> None:
        start = len(chunk)
        if self._keeps and self._kept:
            start = 0
        elif self._keeps and (error := _ERROR.search(chunk)):
            # From the beginning of its line.
            start = chunk.rfind(b"\n", 0, error.start()) + 1
        self._write(chunk[:start])
        self._kept += chunk[start:]

    def end(self, *, keep: bool) -> str:
        """Let this process write again where it did, and return what was kept; if it is not to be kept, it is passed on."""
        _flush()
        os.dup2(self._beyond, self._descriptor)
        if keep:
            self._thread.join(_PATIENCE)
        with self._lock:
            # What was written before this, and not read yet.
            while select.select([self._reading], [], [], 0)[0] and (chunk := os.read(self._reading, _CHUNK)):
                self._pass_on(chunk)
            text, self._keeps = bytes(self._kept), False
            self._kept.clear()
            if not keep:
                self._write(text)
        return text.decode(errors="replace")

    def _write(self, content: bytes) -> None:
        # Whoever read it may be gone.
        with suppress(OSError):
            while content:
                content = content[os.write(self._beyond, content) :]


def _flush() -> None:
    for file in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            file.flush()
