"""One command, one fault, and the same command again: what came of it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.faults.cases import BUSY, LOST, PAGE, SLOW, Answer, Case, State
from tests.faults.inject import ERRORS, KILL, TORN
from tests.helpers.warm import Warm

_SCRIPT = "import sys; from tests.faults.inject import main; sys.exit(main())"
# Bytes that a file may have: what SQLite and Parquet write past Python meets this.
ROOMS = (2_000, 30_000, 300_000)


# What may go wrong at some kinds of steps, where it is not every error and a kill.
_POSSIBLE = {"open": ("EIO",), "connect": (KILL,), "write": (*ERRORS, KILL, TORN)}
# lm-eval asks git where it is; a batch tells how far it is.
_CHATTER = ("waiting ", "batch batch-", "fatal: not a git repository")


@dataclass(frozen=True)
class Fault:
    """What goes wrong: an error, a kill or a torn write at a step; an answer; or no room for larger files, at every step."""

    how: str
    at: int = -1
    step: str = ""
    room: int = 0
    answer: Answer | None = None

    def __str__(self) -> str:
        return f"{self.how} at {self.at}{f': {self.step}' if self.step else ''}" if self.at >= 0 else self.how


class Bench:
    """A command's folder, made once and copied for every fault."""

    def __init__(self, case: Case, place: Path, warm: Warm) -> None:
        self.case, self._place, self._warm = case, place, warm
        (place / "before").mkdir(parents=True)
        case.prepare(place / "before")
        self.old = case.state(place / "before")
        record = place / "steps"
        with self._folder() as folder:
            done = self._run(folder, record=str(record))
            assert done.returncode == 0, done.stderr
            self.new, asked = case.state(folder), self.asked
        self.steps = record.read_text().splitlines()
        assert self.new, f"{case.name} has written nothing"
        self.answers = asked

    def faults(self) -> Iterator[Fault]:
        """Every fault at every step that can meet it; of steps of one kind in one folder the first and the last."""
        alike: dict[tuple[str, str, str], list[int]] = {}
        for at, step in enumerate(self.steps):
            kind, _, path = step.rpartition(" ")
            alike.setdefault((kind, str(Path(path).parent), Path(path).suffix), []).append(at)
        for (kind, *_), places in alike.items():
            for at in sorted({places[0], places[-1]}):
                yield from (Fault(how, at, self.steps[at]) for how in _POSSIBLE.get(kind, (*ERRORS, KILL)))
        for at in range(self.answers):
            for how in (LOST, SLOW, BUSY, PAGE):
                yield Fault(how, at, answer=Answer(how, at))
        for room in ROOMS:
            yield Fault(f"files of at most {room} bytes", room=room)

    def outcome(self, fault: Fault) -> str:
        """What became of the command: "undisturbed", "one sentence" or "killed"; then the same command again must end well.

        Raises:
            AssertionError: it ended otherwise, left something torn, or the second run did not end in the undisturbed state.
        """
        with self._folder() as folder:
            at_step = {"at": fault.at, "how": fault.how} if fault.step else {}
            done = self._run(folder, **at_step, room=fault.room, answer=fault.answer)
            state = self._state(folder)
            found = self._judged(done, state, fault)
            again = self._run(folder)
            assert again.returncode == 0, f"{fault}: the second run fails: {again.stderr[-2000:]}"
            assert self.case.state(folder) == self.new, f"{fault}: the second run ends in another state"
        return found

    def _state(self, folder: Path) -> State | None:
        try:
            return self.case.state(folder)
        except (ValueError, sqlite3.Error):  # a journal's torn line, a store without tables
            return None

    def _judged(self, done: CompletedProcess[str], state: State | None, fault: Fault) -> str:
        if self.case.whole:
            assert state in (self.old, self.new), f"{fault}: the output is neither the old nor the new one"
        if done.returncode == -9:
            return "killed"
        if done.returncode == 0:
            assert state == self.new, f"{fault}: exit code 0, and another state"
            return "undisturbed"
        said = [line for line in done.stderr.splitlines() if line and not line.startswith(_CHATTER)]
        assert done.returncode == 1, f"{fault}: {done.stderr[-2000:]}"
        assert len(said) == 1, f"{fault}: {done.stderr[-2000:]}"
        assert said[0].startswith("error: "), f"{fault}: {done.stderr[-2000:]}"
        return "one sentence"

    @contextmanager
    def _folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self._place) as fresh:
            folder = Path(fresh) / "here"
            shutil.copytree(self._place / "before", folder)
            yield folder

    def _run(self, folder: Path, answer: Answer | None = None, **spec: Any) -> CompletedProcess[str]:
        with self.case.serve(folder, answer) as server:
            argv = [part.replace("{server}", getattr(server, "url", "")) for part in self.case.argv]
            fault = json.dumps({**spec, "watched": str(folder), "argv": argv})
            env = {
                **os.environ,
                "FAULT": fault,
                "HF_DATASETS_CACHE": str(folder.parent / "cache"),
                "ACADEMICEVAL_CACHE": str(folder.parent / "own"),
            }
            done = self._warm.run(["python", "-c", _SCRIPT], env=env, cwd=folder)
            self.asked = getattr(server, "asked", 0)
            return done
