"""Which months a call works on, what it may spend, and what makes a step be done again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hub_scripts.live.config import Live, ModelTable
from hub_scripts.live.months import months_to_do
from hub_scripts.live.run import live
from hub_scripts.live.spending import Spending
from hub_scripts.live.state import State
from hub_scripts.live.steps import Step, steps

from builder.round.tables import CoreTable
from hub_scripts.errors import LiveError
from lm_eval_tasks.core.tables import Table
from tests.helpers.rounds import small_round


def test_a_month_that_was_left_unfinished_comes_first(tmp_path: Path) -> None:
    assert months_to_do(tmp_path, "2026.11") == ["2026.11"]
    state = State(tmp_path / "2026.11")
    state.note("build", key="x")
    assert months_to_do(tmp_path, "2026.11") == ["2026.11"]
    assert months_to_do(tmp_path, "2026.12") == ["2026.11", "2026.12"]
    # Once the new month has begun, the dataset folder is its own.
    State(tmp_path / "2026.12").note("build", key="x")
    assert months_to_do(tmp_path, "2026.12") == ["2026.12"]
    State(tmp_path / "2026.12").finish()
    assert months_to_do(tmp_path, "2027.01") == ["2027.01"]
    # A month that a wrong clock began hides no other.
    State(tmp_path / "2099.01").note("build", key="x")
    assert months_to_do(tmp_path, "2027.01") == ["2027.01"]


def test_a_clock_that_is_years_ahead_makes_no_round(tmp_path: Path) -> None:
    State(tmp_path / "2026.11").finish()
    assert months_to_do(tmp_path, "2027.11") == ["2027.11"]
    with pytest.raises(
        LiveError, match=r"today's round would be 2036\.01, and the last one is 2026\.11: set the clock right"
    ):
        months_to_do(tmp_path, "2036.01")


def test_a_step_that_is_tried_again_counts_with_all_that_it_may_spend(tmp_path: Path) -> None:
    """It has cost 2 once; tried again with other inputs, it was allowed 10 and killed: nobody knows what it spent."""
    first, second = (Step(f"evaluate {name}", (), bill=Path(name)) for name in "ab")
    (tmp_path / "a").mkdir()
    score = {"model": "m", "task": "t", "metric": "rouge_l", "value": 0.1, "low": None, "high": None, "samples": 1}
    block = {
        "run": {"metadata": {}},
        "rounds": ["2026.11"],
        "prompt_versions": [1],
        "scores": [score],
        "usage": {"cost": 2.0},
    }
    (tmp_path / "a" / "results_m.json").write_text(json.dumps({"academiceval": block}))
    state, spending = State(tmp_path / "month"), Spending(tmp_path, 10.0)
    state.note(first.name, allowed=10.0, key="done")
    assert spending.budget_left(second, [first, second], state) == 8.0
    state.note(first.name, allowed=9.0, key=None)
    assert spending.budget_left(second, [first, second], state) == 1.0
    # A model that is no longer asked for was paid all the same.
    assert spending.budget_left(second, [second], state) == 1.0
    state.note(first.name, key="done", spent=3.0)
    assert spending.budget_left(second, [second], state) == 7.0


def test_a_changed_core_is_a_reason_to_build_again(tmp_path: Path) -> None:
    round_ = small_round(tmp_path, core=CoreTable(folder=tmp_path / "core"))
    build = next(step for step in steps(Live(), {}, round_) if step.name == "build")
    assert tmp_path / "core" / "manifest.json" in build.inputs


@dataclass
class _Ended:
    returncode: int = 0


def test_what_changes_while_a_step_runs_is_for_the_next_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "round.toml").write_text('round = "2026.11"\nsettings = ["Abs-9K"]\n[source]\nkind = "sample"\n')
    (tmp_path / "lead.yaml").write_text("tasks: a\n")
    calls: list[str] = []

    def work(argv: list[str], cwd: Path, **_: object) -> _Ended:
        name = argv[3]
        calls.append(name)
        if name == "run":
            (tmp_path / "academiceval").mkdir(exist_ok=True)
        if name == "eval":
            (tmp_path / "results" / "2026.11" / "lead").mkdir(parents=True, exist_ok=True)
            (tmp_path / "results" / "2026.11" / "lead" / "results_lead.json").write_text("{}")
            (tmp_path / "lead.yaml").write_text("tasks: a,b\n")
        return _Ended()

    monkeypatch.setattr("hub_scripts.live.run.subprocess.run", work)
    models = {"lead": ModelTable(config=Path("lead.yaml"))}

    def month() -> list[str | Table]:
        """A month in which no round is built, so that its step is never done."""
        return list(live(tmp_path / "live.toml", Live(), models, "2026.11", yes=True))

    month()
    assert calls.count("eval") == 1
    month()
    assert calls.count("eval") == 2
    month()
    assert calls.count("eval") == 2
    assert calls.count("run") == 3


def test_the_log_of_a_month_shows_no_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "round.toml").write_text('round = "2026.11"\nsettings = ["Abs-9K"]\n[source]\nkind = "sample"\n')
    monkeypatch.setattr("hub_scripts.live.run.subprocess.run", lambda *_, **__: _Ended())
    options = {"judge": {"model": "j", "base_url": "http://user:Zq8vX1kT0rB7@127.0.0.1:8000/v1"}}
    settings = Live.model_validate(options)
    models = {"lead": ModelTable(config=Path("lead.yaml"))}
    list(live(tmp_path / "live.toml", settings, models, "2026.11", yes=True))
    log = (tmp_path / "results" / "2026.11" / "live.md").read_text()
    assert "--base-url" in log
    assert "Zq8vX1kT0rB7" not in log
