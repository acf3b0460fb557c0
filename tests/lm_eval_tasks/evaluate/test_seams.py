"""What belongs to something else: another server's answers, somebody's file, another split, another round."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from urllib3.exceptions import ProtocolError

from lm_eval_tasks.llm import addresses
from standins.openai_server import Server, serve
from standins.runs import evaluated, rewrite
from tests.helpers.served import TITLE, Command, metadata, run_on

pytestmark = pytest.mark.slow
TASK = "academiceval_title_10k"


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Server]]:
    """Two servers with a model each, which a run may call as it likes."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with ExitStack() as stack:
        both = [stack.enter_context(serve(lambda body: TITLE)) for _ in range(2)]
        both[0].models, both[1].models = ("one.gguf", "ours"), ("two.gguf",)
        yield both


def test_answers_of_one_server_are_not_another_ones(
    servers: list[Server], command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only the judge needs the package.
    monkeypatch.setitem(sys.modules, "openai", None)
    line = (command, dataset, tmp_path / "run", "--limit", "2")
    servers[0].answer = lambda body: TITLE if len(servers[0].requests) == 1 else (400, {}, "{}")
    for models in ((), ("one.gguf", "ours")):  # none while it starts
        servers[0].models = models
        assert run_on(servers[0].url, *line, args=",max_retries=1")[0] == 1
    code, _, err = run_on(servers[1].url, *line)
    assert (code, "two.gguf" in err, "one.gguf" in err, err.count("\n")) == (1, True, True, 1), err
    assert not servers[1].requests
    servers[0].answer = lambda body: TITLE
    assert run_on(servers[0].url, *line)[0] == 0
    servers[1].models = ("one.gguf",)
    assert run_on(servers[1].url, *line)[0] == 0
    assert not servers[1].requests
    # The server was started again, with another model.
    servers[0].models, asked = ("three.gguf",), len(servers[0].requests)
    code, _, err = run_on(servers[0].url, *line[:-1], "4")
    assert (code, "three.gguf" in err, len(servers[0].requests)) == (1, True, asked), err


def test_a_server_that_breaks_off_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can tell what it serves, and its run goes on."""
    get = MagicMock()
    get.return_value.__enter__.return_value.raw.read.side_effect = ProtocolError("the connection broke off")
    monkeypatch.setattr(addresses.requests, "get", get)
    for url in ("http://127.0.0.1:9/v1/", "http://127.0.0.1:9/v1/chat/completions"):
        assert addresses._models(url) == frozenset()
        assert get.call_args.args == ("http://127.0.0.1:9/v1/models",)


def test_exporting_again_loses_no_answer(command: Command, dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "prompts.jsonl"
    switched = ("--metadata", "fits_only=false")
    line = ("export", dataset, "--setting", "Title-10K", "--output", file, *switched)
    assert command(*line)[0] == command(*line)[0] == 0
    lines = [json.loads(each) for each in file.read_text().splitlines()]
    answered = "".join(json.dumps({**each, "answer": "A \ud800 title"}) + "\n" for each in lines)
    file.write_text(answered)
    code, _, err = command(*line)
    assert (code, "has answers" in err, file.read_text() == answered) == (1, True, True), err
    # Half of a character is no reason to score nothing.
    scoring = ("--name", "m", "--dataset", dataset, "--bertscore", "none", *switched, "--output")
    assert command("score", file, *scoring, tmp_path / "scored")[0] == 0
    easy = [{"role": "user", "content": "EASY"}]
    file.write_text("".join(json.dumps({**each, "answer": "A", "messages": easy}) + "\n" for each in lines))
    code, _, err = command("score", file, *scoring, tmp_path / "easy")
    assert (code, "other messages" in err, err.count("\n")) == (1, True, 1), err
    file.write_text("hi\n")
    code, _, err = command(*line)
    assert (code, "is no file of exported prompts" in err, file.read_text()) == (1, True, "hi\n"), err


def test_another_split_is_named_beside_the_scores(command: Command, dataset: Path, tmp_path: Path) -> None:
    line = ("eval", "--tasks", TASK, "--metadata", metadata(dataset, split="validation"), "--output")
    for model in ("lead", "random-sentence"):
        code, out, err = command(*line, tmp_path / model / "2026-11-01T00-00-00", "--model", model)
        assert (code, "validation" in out) == (0, True), err
    assert "validation" in command("show", tmp_path / "lead")[1]
    assert "validation" in command("compare", tmp_path / "lead", tmp_path / "random-sentence")[1]
    code, _, err = command("push-results", tmp_path / "lead", "--repo", "org/results", "--subset")
    assert (code, "validation" in err) == (1, True), err


def test_nothing_is_written_into_what_is_somebody_elses(command: Command, dataset: Path, tmp_path: Path) -> None:
    line = ("eval", "--model", "lead", "--tasks", TASK, "--dataset", dataset, "--bertscore", "none", "--output")
    alien = tmp_path / "alien.txt"
    for make in ("symlink_to", "hardlink_to"):
        alien.write_text("precious\n")
        (tmp_path / make).mkdir()
        getattr(tmp_path / make / "journal.jsonl", make)(alien)
        code, _, err = command(*line, tmp_path / make)
        assert (code, alien.read_text(), err.count("\n")) == (1, "precious\n", 1), err
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "journal.jsonl").write_text("[]\n")
    code, _, err = command(*line, tmp_path / "theirs")
    assert (code, (tmp_path / "theirs" / "journal.jsonl").read_text()) == (1, "[]\n"), err
    code, _, err = command(*line, dataset)
    assert (code, "is a dataset folder" in err) == (1, True), err


@pytest.mark.parametrize("change", [{"round": "2027.01"}, {"of": 4}])
def test_a_round_that_is_given_says_what_a_run_is_of(
    change: dict[str, Any], command: Command, dataset: Path, tmp_path: Path
) -> None:
    run = evaluated(command, dataset, tmp_path / "run")

    def changed(line: dict[str, Any]) -> dict[str, Any]:
        line["doc"] |= change
        return line

    rewrite(run, changed)
    code, _, err = command("report", run, dataset, "-o", tmp_path / "site")
    assert (code, str(run) in err, err.count("\n")) == (1, True, 1), err
    code, _, err = command("push-results", run, "--repo", "org/results")
    assert (code, str(run) in err, err.count("\n")) == (1, True, 1), err
