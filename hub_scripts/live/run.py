"""`academiceval live`: the steps of a month, one after another, each in a separate process.

A step is done when its command has ended with 0 and nothing that it depends on has changed since; the same call then skips it.
Every command resumes by itself, so a month that is killed at any point ends in the same state.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.manifest import MANIFEST, read_manifest
from builder.errors import FolderError
from builder.round.model import load_round
from hub_scripts.errors import LiveError
from hub_scripts.live.months import months_to_do, this_month
from hub_scripts.live.spending import Spending
from hub_scripts.live.state import State
from hub_scripts.live.steps import Step, steps
from lm_eval_tasks.core.files import sha256_of, sha256_of_bytes, write_whole
from lm_eval_tasks.core.linux import die_with
from lm_eval_tasks.core.locks import exclusive
from lm_eval_tasks.core.tables import Table, markdown

if TYPE_CHECKING:
    from hub_scripts.live.config import Live, ModelTable

# In the folder of a round's results.
LOG = "live.md"
_OF_RESULTS = ("results_*.json", "judge_*.json", "report_card*.json")


def live(
    path: Path,
    settings: Live,
    models: Mapping[str, ModelTable],
    round_name: str | None,
    *,
    yes: bool,
    quiet: bool = False,
    max_cost: float | None = None,
) -> Iterator[str | Table]:
    """Do a month, or show its plan.

    Args:
        path: live.toml.
        settings, models: what `load_live` read from it.
        round_name: the month; None for today's, after the last one if that was left unfinished.
        yes: whether to do it.
        quiet: whether the commands show only results and errors.
        max_cost: in place of the one in live.toml.

    Raises:
        LiveError: a file cannot be used, or steps failed.
        RoundError: round.toml cannot be used.
        BusyError: another process is working on this month.
    """
    limit = settings.max_cost if max_cost is None else max_cost
    names = [round_name] if round_name else months_to_do(path.parent / settings.results, this_month())
    unfinished = []
    for name in names:
        round_ = load_round(path.parent / settings.round, round=name)
        # All months share the dataset folder.
        with exclusive(path) if yes else nullcontext():
            month = _Month(path.parent, settings.results / round_.round, limit, quiet=quiet)
            planned = list(steps(settings, models, round_))
            yield from _do(month, planned) if yes else _plan(month, planned)
        if yes and month.failed:
            listed = "; ".join(f"{step} ({why})" for step, why in month.failed.items())
            again = f" (later, --round {name} goes on with it)" if name != names[-1] else ""
            unfinished.append(f"round {round_.round} is not finished: {listed}{again}")
        elif yes:
            yield f"round {round_.round}: {'finished' if month.has_worked else 'nothing is new'}; log: {path.parent / month.runs / LOG}"
    if unfinished:
        raise LiveError(f"{'; '.join(unfinished)}; the same command resumes")


def _plan(month: _Month, planned: Sequence[Step]) -> Iterator[str | Table]:
    month.done |= {step.name for step in planned if month.is_done(step)}
    yield month.table(planned)
    is_left = len(month.done) < len(planned)
    yield f"\nround {month.runs.name}: {'nothing is left to do' if not is_left else 'this is the plan; --yes carries it out'}"


def _do(month: _Month, planned: Sequence[Step]) -> Iterator[str]:
    month.state.place.parent.mkdir(parents=True, exist_ok=True)
    for step in planned:
        yield from month.take(step, planned)
    month.write_log(planned)
    if not month.failed:
        month.state.finish()


def _is_complete(folder: Path) -> bool:
    """Whether a dataset folder has all its files, in their sizes."""
    try:
        files = read_manifest(folder).files
    except FolderError:
        return False
    sizes = ((folder / path, file.bytes) for path, file in files.items())
    return all(path.is_file() and path.stat().st_size == size for path, size in sizes)


class _Month:
    """What is done of a month's steps.

    Attributes:
        done: steps that were found done, or were done by this call.
        failed: step -> why.
        has_worked: whether this call did a step.
    """

    def __init__(self, place: Path, runs: Path, max_cost: float | None, *, quiet: bool) -> None:
        self._place, self.runs, self._quiet = place, runs, quiet
        self.state = State(place / runs)
        self._spending = Spending(place, max_cost)
        self.done: set[str] = set()
        self.failed: dict[str, str] = {}
        self.has_worked = False

    def is_done(self, step: Step) -> bool:
        record = self.state.of(step.name)
        product = self._product_hash(step)
        return product is not None and (record.get("key"), record.get("made")) == (self._key(step), product)

    def _product_hash(self, step: Step) -> str | None:
        """What a step has made, as a hash: a later month replaces it with its own."""
        if step.makes is None:
            return ""
        path = self._place / step.makes
        if path.name == MANIFEST and not _is_complete(path.parent):
            return None
        files = self._files(path)
        return sha256_of_bytes(json.dumps([sha256_of(file) for file in files])) if files else None

    def take(self, step: Step, planned: Sequence[Step]) -> Iterator[str]:
        """Do a step that is not done yet, if the steps that it needs are."""
        missing = [name for name in step.needs if name in self.failed]
        if missing:
            self.failed[step.name] = f"needs {missing[0]}"
            return
        if self.is_done(step):
            self.done.add(step.name)
            return
        # What changes while it runs is for the next call.
        key, argv = self._key(step), step.argv
        if step.bill and self._spending.limit is not None:
            allowed = self._spending.budget_left(step, planned, self.state)
            if allowed <= 0:
                self.failed[step.name] = "max_cost is used up"
                return
            argv = (*argv, "--max-cost", f"{allowed:.6f}")
            # Until it has ended, what it costs is not known.
            self.state.note(step.name, allowed=allowed, key=None)
        yield f"{step.name}: academiceval {shlex.join(argv)}"
        started = time.monotonic()
        self.has_worked = True
        code = self._run(argv)
        if code:
            self.failed[step.name] = f"ended with exit code {code}"
        else:
            self.done.add(step.name)
            seconds = round(time.monotonic() - started, 1)
            record = {**self.state.of(step.name), "key": key}
            spent = {"spent": self._spending.cost_of(step, record)} if step.bill else {}
            self.state.note(step.name, key=key, made=self._product_hash(step), seconds=seconds, **spent)
        self.write_log(planned)

    def _run(self, argv: Sequence[str]) -> int:
        # A command that outlived this process would hold its locks against the next call.
        ends_with_us = partial(die_with, os.getpid())
        command = [sys.executable, "-m", "builder.cli", *argv, *(["--quiet"] if self._quiet else [])]
        return subprocess.run(command, cwd=self._place, preexec_fn=ends_with_us, check=False).returncode

    def _key(self, step: Step) -> str:
        """A hash of everything that a step's outcome depends on."""
        files = [file for path in step.inputs for file in self._files(self._place / path)]
        contents = [(file.name, file.parent.name, sha256_of(file)) for file in files]
        return sha256_of_bytes(json.dumps([step.argv, contents, *step.weights]))

    def _files(self, place: Path) -> list[Path]:
        if place.is_dir():
            return sorted(file for pattern in _OF_RESULTS for file in place.rglob(pattern))
        return [place] if place.is_file() else []

    # --- what is shown

    def table(self, planned: Sequence[Step]) -> Table:
        """Step, state, seconds, command."""
        rows = (
            (
                step.name,
                self._state_of(step),
                self.state.of(step.name).get("seconds"),
                f"academiceval {shlex.join(step.argv)}",
            )
            for step in planned
        )
        return Table(("Step", "State", "Seconds", "Command"), "llrl", tuple(rows))

    def _state_of(self, step: Step) -> str:
        if step.name in self.failed:
            return self.failed[step.name]
        return "done" if step.name in self.done else "to do"

    def write_log(self, planned: Sequence[Step]) -> None:
        """The month on one page."""
        lines = markdown(self.table(planned))
        write_whole(self._place / self.runs / LOG, f"# Round {self.runs.name}\n\n" + "\n".join(lines) + "\n")
