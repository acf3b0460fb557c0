"""One model against another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from standins.openai_server import serve
from tests.helpers.served import Command
from tests.lm_eval_tasks.judge.test_judge import answers_of, judging, make_samples


def between(command: Command, url: str, one: Path, other: Path, output: Path) -> tuple[str, dict[str, Any]]:
    code, out, err = command("judge", one, other, "--model", "m", "--base-url", url, "--output", output)
    assert code == 0, err
    [file] = output.glob("judge_*.json")
    return out, json.loads(file.read_text())


@pytest.mark.slow
def test_models_are_judged_against_each_other(command: Command, tmp_path: Path) -> None:
    one = make_samples(tmp_path / "one", 12, lambda i: f"good text {i}")
    other = make_samples(tmp_path / "other", 10, lambda i: f"weak text {i}")
    with serve(judging(lambda first, second: 1 if "good" in first else 2)) as server:
        out, found = between(command, server.url, one, other, tmp_path / "judged")
        shown = [answers_of(body) for body in server.requests]
    assert "10 samples in both, of 12 and 10" in out
    assert (found["judged_model"], found["against"]) == ("one", "other")
    assert (tmp_path / "judged" / "judge_one-against-other-by-m.json").is_file()
    assert found["tasks"]["Abs-9K"]["m"]["win_rate"]["value"] == 1.0
    assert len(shown) == 20
    assert all({text.split()[0] for text in pair} == {"good", "weak"} for pair in shown)
    # The other way round, the same verdicts say the opposite.
    with serve(judging(lambda first, second: 1 if "good" in first else 2)) as server:
        _, found = between(command, server.url, other, one, tmp_path / "again")
    assert found["tasks"]["Abs-9K"]["m"]["win_rate"]["value"] == 0.0


def test_a_missing_text_loses_without_a_judge(command: Command, tmp_path: Path) -> None:
    one = make_samples(tmp_path / "one", 4, lambda i: "" if i == 0 else f"text {i}")
    other = make_samples(tmp_path / "other", 4, lambda i: "" if i == 1 else f"words {i}")
    with serve(judging(lambda first, second: 1)) as server:
        _, found = between(command, server.url, one, other, tmp_path / "judged")
        assert len(server.requests) == 4
    # A loss, a win, and two that the order decides.
    assert found["tasks"]["Abs-9K"]["m"]["win_rate"]["value"] == 0.5
    assert found["tasks"]["Abs-9K"]["m"]["raw_win_rate"] == 0.75
    said = [verdicts["m"] for verdicts in found["verdicts"]["Abs-9K"].values() if isinstance(verdicts["m"], str)]
    assert said == ["empty", "unopposed"]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"prompt_version": 2}, "their prompts have the versions 1 and 2"),
        ({"setting": "Title-10K"}, "no task in common"),
    ],
)
def test_runs_that_cannot_be_compared(changes: dict[str, Any], says: str, command: Command, tmp_path: Path) -> None:
    one, other = make_samples(tmp_path / "one"), make_samples(tmp_path / "other", **changes)
    with serve(judging(lambda first, second: 1)) as server:
        code, _, err = command("judge", one, other, "--model", "m", "--base-url", server.url)
    assert (code, says in err) == (1, True), err
