"""How a benchmark runs: its option, its last line, processes of their own, and what they take."""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.intervals import Interval

ROOT = Path(__file__).resolve().parents[2]
ACADEMICEVAL = (sys.executable, "-m", "builder.cli")
Figures = dict[str, Any]
Line = Sequence[object]


@dataclass(frozen=True)
class Used:
    """What a call in a process of its own, or a command, returned and took; time and memory include its children."""

    result: Any
    seconds: float
    processor_seconds: float
    peak_mb: float


def run(measure: Callable[[Path, bool], Figures], *needed: Path) -> None:
    """Be the main function of a benchmark: measure in a temporary folder, and print the figures as the last line.

    Args:
        measure: takes the folder, and whether to measure small sizes, in less than half a minute.
        needed: files and folders that must be there.
    """
    parser = argparse.ArgumentParser(
        description=sys.modules[measure.__module__].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, in less than half a minute")
    arguments = parser.parse_args()
    if missing := [path for path in needed if not path.exists()]:
        parser.exit(1, f"error: {missing[0]} is not there\n")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), arguments.quick)))


def bounded(name: str, over: Interval) -> Figures:
    """Return a mean with its bounds, as figures of that name."""
    low, high = over.bounds or (None, None)
    return {name: round(over.mean, 4), f"{name}_low": low and round(low, 4), f"{name}_high": high and round(high, 4)}


def call(function: Callable[..., Any], *arguments: Any) -> Used:
    """Call a function in a process of its own; its imports are not measured."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_watched, function, arguments).result()


def _watched(function: Callable[..., Any], arguments: Sequence[Any]) -> Used:
    started, before = time.perf_counter(), processor_seconds()
    result = function(*arguments)
    return Used(result, time.perf_counter() - started, processor_seconds() - before, peak_mb())


def processor_seconds() -> float:
    """Return the seconds of this process and its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def peak_mb() -> float:
    """Return the peak memory of this process, or of the largest of its children."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


def command(*line: object, **environment: str) -> Used:
    """Run a command to its end, offline; it must succeed."""
    started = time.perf_counter()
    process = _start(line, environment)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, line))} ended with {process.returncode}")
    seconds = time.perf_counter() - started
    return Used(None, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def commit() -> str:
    """Return the commit that is measured."""
    line = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(line, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def interrupt(line: Line, after: float, by: int = signal.SIGKILL) -> None:
    """Start a command, end it by a signal after so many seconds, and run it again to its end."""
    process = _start(line, {})
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(by)
        process.wait()
    command(*line)


def _start(line: Line, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(list(map(str, line)), stdout=subprocess.DEVNULL, env=offline() | environment)


def offline() -> dict[str, str]:
    """Return the environment in which nothing is fetched, and nothing counts that this user has set for the Hub."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    fixed = {"PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none", "TRANSFORMERS_VERBOSITY": "error"}
    return {**own, **fixed, "HF_HUB_OFFLINE": "1"}


def best(*functions: Callable[[], Any], times: int = 3) -> list[tuple[float, Any]]:
    """Return of each function the shortest time of a few calls, taken in turn, and what the last returned."""
    seconds: list[list[float]] = [[] for _ in functions]
    results: list[Any] = [None] * len(functions)
    for _ in range(times):
        for i, function in enumerate(functions):
            started = time.perf_counter()
            results[i] = function()
            seconds[i].append(time.perf_counter() - started)
    return list(zip(map(min, seconds), results, strict=True))
