"""Which run a folder has, and which one a command goes on with."""

from __future__ import annotations

from pathlib import Path

import pytest

from lm_eval_tasks.samples.run_folder import newest_results, newest_run, run_folder


def test_a_run_of_its_own_counts_before_those_below_a_folder_and_an_empty_one_never(tmp_path: Path) -> None:
    later, own = tmp_path / "2026-11-30T13-00-00", tmp_path / "results_m.json"
    later.mkdir()
    (later / ".journal.jsonl.address").touch()
    assert newest_run(tmp_path) == tmp_path
    (later / "results_m.json").touch()
    assert newest_run(tmp_path) == later
    own.touch()
    assert (newest_run(tmp_path), newest_results(tmp_path)) == (tmp_path, [own])


def test_a_killed_run_goes_on_by_its_own_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def run(asked: str, *files: str) -> Path:
        with run_folder(None, "m", [asked]) as output:
            for file in files:
                (output / file).touch()
        return output

    killed = run("abs", "journal.jsonl").rename(Path("results/m/2026-01-01T00-00-00"))
    assert run("title", "journal.jsonl", "results_m.json") != killed
    assert run("abs", "results_m.json") == killed
    # One that fails before it has an answer leaves nothing.
    with run_folder(None, "n", ["abs"]) as output:
        assert output.is_dir()
    assert not output.exists()
