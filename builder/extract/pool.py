"""Files -> documents, each file read in a child process that can be killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from builder.records import Document, Quality

_DOCUMENT = TypeAdapter(Document)
_AHEAD = 16
# A file that takes no processor time hangs: after so many times its limit, and never sooner than a busy machine needs.
_PATIENCE, _LEAST_PATIENCE = 10.0, 120.0


@dataclass(frozen=True, slots=True)
class Extracted:
    """The outcome for one file.

    Attributes:
        sha256: hash of the file, "" where it could not be read.
        reason: "" where there is a document, else a member of `records.ExtractReason`.
        seconds: processor time.
    """

    path: Path
    sha256: str
    reason: str
    detail: str
    document: Document | None
    quality: Quality | None
    seconds: float


def extract_files(paths: Iterable[Path], jobs: int, time_limit: float, memory_limit: int) -> Iterator[Extracted]:
    """Read files, `jobs` at a time, and yield their outcomes in input order.

    Args:
        time_limit: seconds of processor time that reading a file may take.
        memory_limit: MiB of address space that reading a file may take.
    """
    local = threading.local()
    workers: list[_Worker] = []

    def read(path: Path) -> Extracted:
        if not hasattr(local, "worker"):
            local.worker = _Worker(time_limit, memory_limit)
            workers.append(local.worker)
        worker: _Worker = local.worker
        return worker.read(path)

    pending: deque[Future[Extracted]] = deque()
    with ThreadPoolExecutor(jobs) as threads:
        try:
            for path in paths:
                pending.append(threads.submit(read, path))
                if len(pending) >= _AHEAD * jobs:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
            for worker in workers:
                worker.close()


class _Worker:
    """One child process, started when first needed and again after it had to be killed."""

    def __init__(self, time_limit: float, memory_limit: int) -> None:
        self._time_limit = time_limit
        # -P: nothing that lies in the folder where the command is given may be taken for one of our modules.
        self._command = [sys.executable, "-P", "-m", "builder.extract.worker", str(memory_limit), str(time_limit)]
        self._process: subprocess.Popen[str] | None = None

    def read(self, path: Path) -> Extracted:
        answer = self._ask(path)
        document, quality = answer["document"], answer["quality"]
        return Extracted(
            path, answer["sha256"], answer["reason"], answer["detail"],
            _DOCUMENT.validate_python(document) if document else None,
            Quality(**quality) if quality else None, answer["seconds"],
        )  # fmt: skip

    def _ask(self, path: Path) -> dict[str, Any]:
        process = self._running()
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
            answer: dict[str, Any] = json.loads(line)
            return answer
        self.close()
        if late.is_set() or process.returncode == -signal.SIGXCPU:
            reason, detail = "time_limit", f"took more than {self._time_limit:g} s of processor time, or hung"
        else:
            reason, detail = "crashed", f"the reading process ended with status {process.returncode}"
        return {"sha256": "", "reason": reason, "detail": detail, "document": None, "quality": None, "seconds": 0.0}

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        return self._process

    def close(self) -> None:
        """End the child, whatever it is doing."""
        if self._process is None:
            return
        self._process.kill()
        self._process.communicate()
        self._process = None
