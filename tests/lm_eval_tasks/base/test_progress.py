"""Long work says how far it has come, in a log too; a quiet command says nothing, and neither do the libraries that it uses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lm_eval_tasks.base import progress

# As a command begins, in a process whose standard error is no terminal.
_BEGIN = """
from builder.cli import _set_up_output, all_commands
_set_up_output(all_commands().parse(["show", "x", *{options}]))
from lm_eval_tasks.base import progress
progress._BETWEEN_LINES = progress._SHORT = 0.0
from tqdm import tqdm
with progress.counted("papers", 2) as bar:
    bar.update()
    bar.update()
print(tqdm(range(1)).disable)
"""


@pytest.mark.parametrize("options", [[], ["--quiet"]])
def test_a_log_has_lines_and_bars_of_libraries_are_off(options: list[str]) -> None:
    command = [sys.executable, "-c", _BEGIN.format(options=options)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "True"
    assert ("papers: 2 of 2" in ended.stderr) == (not options)


def test_many_short_loops_are_no_long_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line comes when the last one is old, whatever runs just then, and none for work that is soon done."""
    clock = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr("tqdm.std.time", lambda: clock[0])
    monkeypatch.setattr(progress, "_last_line", 1000.0)
    lines = []
    for seconds in (5, 5, 5, 5, 5, 5, 5, 5, 0.5, 5, 5, 5, 5, 5, 5):
        for _ in progress.progress([1, 2], "papers"):
            clock[0] += seconds
        lines.append(capsys.readouterr().err.count("papers"))
    # Every thirty seconds of a hundred and forty.
    assert sum(lines) == 4
    assert lines[8] == 0
