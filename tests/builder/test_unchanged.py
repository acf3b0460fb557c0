"""A run since whose end nothing has changed is not done again; any change is noticed."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from builder import pipeline
from tests.helpers.drawing import FILLER, draw, stack
from tests.helpers.papers import SMALL_ROUND

Command = Callable[..., tuple[int, str, str]]
ROUND = SMALL_ROUND.format(settings='["Abs-9K"]')
AGAIN = "nothing has changed since this run"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run."""
    from builder.cli import main

    place = tmp_path_factory.mktemp("done")
    (place / "round.toml").write_text(ROUND)
    assert main(["run", str(place / "round.toml")]) == 0
    return place


@pytest.fixture
def place(done: Path, tmp_path: Path, command: Command) -> Path:
    """The same elsewhere, with its own memory of it."""
    shutil.copytree(done, tmp_path / "place")
    code, out, errors = command("run", tmp_path / "place" / "round.toml")
    assert (code, AGAIN in out) == (0, False), errors
    return tmp_path / "place"


def test_an_unchanged_run_shows_what_it_showed(place: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = (place / "academiceval" / "manifest.json").read_bytes()
    monkeypatch.setattr(pipeline, "running", None)  # it is not called
    # Reading the store touches its file.
    assert command("status", place / "round.toml")[0] == 0
    code, out, errors = command("run", place / "round.toml")
    assert code == 0, errors
    assert AGAIN in out
    assert "samples abs: 36 in" in out
    assert "| Abs-9K |" in out
    assert (place / "academiceval" / "manifest.json").read_bytes() == manifest


def _lose_a_file(place: Path) -> None:
    next((place / "academiceval" / "Abs-9K").iterdir()).unlink()


def _write_to_the_store(place: Path) -> None:
    with sqlite3.connect(place / "work" / "store.sqlite3") as store:
        store.execute("INSERT OR REPLACE INTO meta VALUES ('a', 'b')")
    store.close()


def _leave_a_log(place: Path) -> None:
    (place / "work" / "store.sqlite3-wal").touch()


def _change_the_round(place: Path) -> None:
    (place / "round.toml").write_text(ROUND.replace("test = 0.3", "test = 0.3\n[audit]\nlong_run = 0.9\n"))


def _spoil_the_memory(place: Path) -> None:
    (place / "work" / "run.json").write_text('{"of": 1}')


@pytest.mark.parametrize(
    "change", [_lose_a_file, _write_to_the_store, _leave_a_log, _change_the_round, _spoil_the_memory]
)
def test_any_change_is_noticed(change: Callable[[Path], None], place: Path, command: Command) -> None:
    change(place)
    code, out, errors = command("run", place / "round.toml", *(["--replace"] if change is _change_the_round else []))
    assert (code, AGAIN in out) == (0, False), errors
    code, out, errors = command("run", place / "round.toml")
    assert (code, AGAIN in out) == (0, True), errors


def test_a_new_file_of_a_mirror_is_noticed(tmp_path: Path, command: Command) -> None:
    mirror = tmp_path / "mirror"
    (mirror / "pdf").mkdir(parents=True)
    (mirror / "meta.jsonl").write_text("")
    (tmp_path / "round.toml").write_text('round = "2026.11"\n[source]\nkind = "mirror"\npath = "mirror"\n')
    from builder.round.file import load_round
    from builder.unchanged import given, remember, remembered

    round_ = load_round(tmp_path / "round.toml")
    round_.workspace.mkdir()
    remember(round_, given(round_), ["done"])
    assert remembered(round_) == ["done"]
    before = given(round_)
    draw(mirror / "pdf" / "2601.00001.pdf", [stack(FILLER)])
    assert remembered(round_) is None
    # What came while the run worked may not be in it.
    remember(round_, before, ["done"])
    assert remembered(round_) is None
