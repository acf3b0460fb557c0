"""Files -> documents, each file read in a child process that can be killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from pydantic import TypeAdapter

from builder.packed import OF_THE_FILE
from builder.records import READING_REASONS, Document, Quality
from builder.sources.object_store import local_copy
from lm_eval_tasks.engines.registry import Engine, LocalEngine

_AHEAD = 16
# A file that takes no processor time has hung: after this many times its limit, never sooner than a busy machine needs.
_PATIENCE, _LEAST_PATIENCE = 10.0, 120.0
# That a process which has closed its output takes to end.
_SECONDS_TO_END = 2.0
# How often a file is read before it is believed to exceed its limit, or to have ended its process by a signal.
_TRIES, _KILLED_TRIES = 2, 4


@dataclass(frozen=True, slots=True)
class Extracted:
    """The outcome for one file.

    Attributes:
        name: of the file, as it was given.
        sha256: hash of the file, "" if it could not be read.
        reason: "" if there is a document, else a member of `records.ExtractReason`.
        seconds: processor time.
        was_killed: whether the process was killed from outside, which no file can do.
    """

    name: str
    sha256: str
    reason: str
    detail: str
    document: Document | None
    quality: Quality | None
    seconds: float
    was_killed: bool = False


_EXTRACTED = TypeAdapter(Extracted)


def extract_files(names: Iterable[str], engine: Engine, time_limit: float, memory_limit: int) -> Iterator[Extracted]:
    """Read files and yield their outcomes in input order.

    A reason among `records.READING_REASONS` was seen a second time: on this machine when nothing else was being read, on a
    cluster whenever its turn came.

    Args:
        names: paths, or addresses in an object store.
        time_limit: seconds of processor time that reading a file may take.
        memory_limit: MiB of address space that reading a file may take.
    """
    if isinstance(engine, LocalEngine):
        yield from _read_here(names, engine.jobs, time_limit, memory_limit)
    else:
        yield from engine.map(partial(_read_anywhere, time_limit, memory_limit), names)


def _read_anywhere(time_limit: float, memory_limit: int, name: str) -> Extracted:
    """Return the outcome of a file in whatever process this is called; it knows nothing of what happens to other files there."""
    return _read_with_retries(_worker_here(time_limit, memory_limit), name, _Turns(1))


def _read_here(names: Iterable[str], jobs: int, time_limit: float, memory_limit: int) -> Iterator[Extracted]:
    local = threading.local()
    workers: list[_Worker] = []
    turns = _Turns(jobs)

    def read(name: str) -> Extracted:
        if not hasattr(local, "worker"):
            local.worker = _Worker(time_limit, memory_limit)
            workers.append(local.worker)
        return _read_with_retries(local.worker, name, turns)

    pending: deque[Future[Extracted]] = deque()
    threads = ThreadPoolExecutor(jobs)
    try:
        for name in names:
            pending.append(threads.submit(read, name))
            if len(pending) >= _AHEAD * jobs:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        turns.cancelled.set()
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.close()
        threads.shutdown()
        # A thread may have started another process meanwhile.
        for worker in workers:
            worker.close()


def _read_with_retries(worker: _Worker, name: str, turns: _Turns) -> Extracted:
    """Return the outcome of a file; what happened to the process may have been the machine's doing, and must recur before it counts."""
    try:
        with local_copy(name, turns.cancelled) as path:
            with turns.take(1):
                outcome = worker.read(path)
            tried = 1
            while outcome.reason in READING_REASONS and not turns.cancelled.is_set():
                if tried >= (_KILLED_TRIES if outcome.was_killed else _TRIES):
                    break
                tried += 1
                with turns.take(turns.most):
                    worker.close()
                    outcome = worker.read(path)
    except OF_THE_FILE as err:
        return Extracted(name, "", "missing_file", f"{name}: {err.strerror or 'no such file'}", None, None, 0.0)
    return replace(outcome, name=name, detail=outcome.detail.replace(str(path), name))


class _Turns:
    """Places for those who work at a time, until they are cancelled; who takes the most is alone."""

    def __init__(self, most: int) -> None:
        self.most, self.cancelled = most, threading.Event()
        # The entry is held by who waits for places, so that nobody takes one before.
        self._slots, self._entry = threading.Semaphore(most), threading.Lock()

    @contextmanager
    def take(self, slots: int) -> Iterator[None]:
        with self._entry:
            for _ in range(slots):
                self._slots.acquire()
        try:
            yield
        finally:
            self._slots.release(slots)


class _Worker:
    """One child process, started when first needed and again after it had to be killed."""

    def __init__(self, time_limit: float, memory_limit: int) -> None:
        self._time_limit = time_limit
        # -P: nothing in the folder where the command is run may be mistaken for one of our modules.
        self._command = [
            *(sys.executable, "-P", "-m", "builder.extract.worker"),
            *map(str, (memory_limit, time_limit, os.getpid())),
        ]
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> Extracted:
        process = self._ensure_process()
        assert process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(max(_LEAST_PATIENCE, _PATIENCE * self._time_limit), stop)
        timer.start()
        try:
            process.stdin.write(json.dumps({"path": str(path)}) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            timer.cancel()
        if line.endswith("\n"):
            return _EXTRACTED.validate_python({"name": str(path), **json.loads(line)})
        # What it ended with, before it is ended.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_END)
        self.close()
        reason, detail = (
            ("time_limit", f"took more than {self._time_limit:g} s of processor time, or hung")
            if late.is_set() or process.returncode == -signal.SIGXCPU
            else ("crashed", f"the reading process ended with status {process.returncode}")
        )
        was_killed = not late.is_set() and process.returncode == -signal.SIGKILL
        return Extracted(str(path), "", reason, detail, None, None, 0.0, was_killed)

    def _ensure_process(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is not None:
            self.close()  # it ended between two files
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


# The reading child of a process that serves others.
_worker_here = lru_cache(maxsize=1)(_Worker)
