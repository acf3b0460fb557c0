"""Isolation: what a hostile file may do costs that file alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from builder.extract import workers
from builder.extract.workers import extract_files
from lm_eval_tasks.engines.registry import LocalEngine
from tests.helpers.drawing import PAPER, draw, stack

# As it is before a test run lets it read in its own process.
READ_IN_CHILDREN = workers._read_here
# A worker that does to itself what the name of the file says.
NAUGHTY = """
import os, sys, time
sys.argv = ["worker", *sys.argv[1:]]
from builder.extract import worker
real = worker.read_pdf
def read(path):
    if "spin" in path.name:
        while True: pass
    if "hang" in path.name: time.sleep(600)
    if "crash" in path.name: os.kill(os.getpid(), 11)
    if "eat" in path.name: bytearray(8 * 2**30)
    if "killed" in path.name:
        mark = path.with_suffix(".tried")
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), 9)
    if "always" in path.name: os.kill(os.getpid(), 9)
    if "print" in path.name: os.write(1, b"noise"); print("noise")
    return real(path)
worker.read_pdf = read
worker.main()
"""


NAUGHTY_PARENT = """
import sys, threading, time
from pathlib import Path
from builder.extract import workers
worker = workers._Worker(600.0, 1024)
worker._command = [sys.executable, "-c", {naughty!r}, *worker._command[-3:]]
print(worker._ensure_process().pid, flush=True)
worker.read(Path({file!r}))
"""


@pytest.fixture(autouse=True)
def _in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_read_here", READ_IN_CHILDREN)


@pytest.fixture
def naughty(monkeypatch: pytest.MonkeyPatch) -> None:
    real = workers._Worker.__init__

    def start(self: workers._Worker, time_limit: float, memory_limit: int) -> None:
        real(self, time_limit, memory_limit)
        self._command = [sys.executable, "-c", NAUGHTY, *self._command[-3:]]

    monkeypatch.setattr(workers._Worker, "__init__", start)


@pytest.mark.slow
@pytest.mark.long
def test_each_file_gets_its_own_fate(naughty: None, tmp_path: Path) -> None:
    names = ["good1", "spin", "good2", "crash", "eat", "good3", "print", "good4"]
    files = [draw(tmp_path / f"{name}.pdf", [stack(*PAPER)]) for name in names]
    results = list(extract_files(map(str, files), LocalEngine(3), time_limit=3.0, memory_limit=1024))
    assert [result.name for result in results] == list(map(str, files))
    assert {Path(result.name).stem: result.reason for result in results} == {
        **dict.fromkeys(["good1", "good2", "good3", "good4", "print"], ""),
        "spin": "time_limit",
        "crash": "crashed",
        "eat": "memory_limit",
    }


@pytest.mark.long
def test_what_happens_to_the_process_is_not_what_the_file_is(naughty: None, tmp_path: Path) -> None:
    """An out-of-memory killer takes one child: the file is read again, alone."""
    names = ["good1", "killed", "good2", "always"]
    files = [draw(tmp_path / f"{name}.pdf", [stack(*PAPER)]) for name in names]
    results = {
        Path(one.name).stem: one
        for one in extract_files(map(str, files), LocalEngine(2), time_limit=30.0, memory_limit=1024)
    }
    assert {name: one.reason for name, one in results.items()} == {
        **dict.fromkeys(["good1", "good2", "killed"], ""),
        "always": "crashed",
    }
    assert results["killed"].document == results["good1"].document


@pytest.mark.slow
def test_a_child_that_died_between_two_files_is_not_charged_to_the_next(tmp_path: Path) -> None:
    files = [draw(tmp_path / f"{i}.pdf", [stack(*PAPER)]) for i in range(20)]
    before, killed = _children(), False
    for one in extract_files(map(str, files), LocalEngine(1), 30.0, 1024):
        assert one.reason == ""
        for child in set() if killed else _children() - before:
            os.kill(child, signal.SIGKILL)
            killed = True
    assert killed


@pytest.mark.slow
def test_children_die_with_their_parent(tmp_path: Path) -> None:
    """Even a child that is busy, and however the parent ends."""
    draw(tmp_path / "spin.pdf", [stack(*PAPER)])
    script = NAUGHTY_PARENT.format(naughty=NAUGHTY, file=str(tmp_path / "spin.pdf"))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        time.sleep(1.0)
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    deadline = time.monotonic() + 60
    while _is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_a_file_that_waits_for_ever_is_given_up(naughty: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_PATIENCE", 1.0)
    monkeypatch.setattr(workers, "_LEAST_PATIENCE", 2.0)
    files = [draw(tmp_path / "hang.pdf", [stack(*PAPER)])]
    assert [
        one.reason for one in extract_files(map(str, files), LocalEngine(1), time_limit=1.0, memory_limit=1024)
    ] == ["time_limit"]


def _children() -> set[int]:
    """The processes that this one has started and that are there."""
    return {int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()}


@pytest.mark.slow
def test_workers_are_ours_in_any_folder_and_end_when_the_reader_stops_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pymupdf.py").write_text("raise SystemExit('taken for ours')")
    monkeypatch.chdir(tmp_path)
    files = [draw(tmp_path / f"{i}.pdf", [stack(*PAPER)]) for i in range(6)]
    others = _children()
    results = extract_files(map(str, files), LocalEngine(2), 30.0, 1024)
    assert next(results).reason == ""
    children = _children() - others
    assert children
    results.close()  # type: ignore[attr-defined]
    assert not children & _children()


def test_no_files_no_results() -> None:
    assert list(extract_files([], LocalEngine(2), 30.0, 1024)) == []
