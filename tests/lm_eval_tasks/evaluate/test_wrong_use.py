"""What is typed or answered wrongly, in one sentence that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.base.contract import CAPPED
from lm_eval_tasks.llm.usage import finish_of
from lm_eval_tasks.samples.sample import read
from standins.openai_server import Reply, serve
from standins.places import BIN
from standins.runs import evaluated
from tests.helpers.served import TITLE, Command, metadata, run_on

PAGE: Reply = (200, {"Content-Type": "text/html"}, "<html><script>x()</script><body>Please&nbsp;sign in</body></html>")


@pytest.mark.slow
def test_a_device_among_the_models_arguments(command: Command, dataset: Path, tiny_llama: Path, tmp_path: Path) -> None:
    asked = ("--tasks", "academiceval_title_10k", "--limit", "1", "--gen_kwargs", "max_gen_toks=4")
    model = ("--model", "hf", "--model_args", f"pretrained={tiny_llama},device=cpu")
    code, _, err = command("eval", *model, *asked, "--metadata", metadata(dataset), "--output", tmp_path / "out")
    assert code == 0, err


@pytest.mark.slow
def test_a_page_in_place_of_an_answer_is_shown_by_its_words(
    command: Command, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    replies: list[Reply] = [PAGE]

    def answer(body: dict[str, Any]) -> Reply:
        return replies[0]

    with serve(answer) as server:
        code, _, err = run_on(server.url, command, dataset, tmp_path / "a", "--limit", "1")
        assert (code, "Please sign in" in err, err.count("\n")) == (1, True, 1), err
        replies[0] = TITLE
        assert run_on(server.url, command, dataset, tmp_path / "a", "--limit", "1")[0] == 0
        replies[0] = PAGE
        code, _, err = command("judge", tmp_path / "a", "--model", "m", "--base-url", server.url, "--output", tmp_path)
        assert (code, "Please sign in" in err, err.count("\n")) == (1, True, 1), err


@pytest.mark.parametrize("word", ["length", "MAX_TOKENS", "max_tokens", "model_length", "max_output_tokens"])
def test_an_answer_at_its_cap_is_capped_in_any_servers_words(word: str) -> None:
    assert finish_of(word) == CAPPED
    assert finish_of("stop") == "stop"


@pytest.mark.slow
def test_an_unfinished_run_is_neither_compared_nor_shown(command: Command, dataset: Path, tmp_path: Path) -> None:
    whole = evaluated(command, dataset, tmp_path / "a")
    _, killed = (shutil.copytree(whole, tmp_path / "b" / f"2026-11-0{day}T00-00-00") for day in (1, 2))
    for file in [*killed.glob("results_*"), *killed.glob("samples_*")]:
        file.unlink()
    (killed / "journal.jsonl").write_text((whole / "journal.jsonl").read_text().splitlines()[0] + "\n")
    code, _, err = command("compare", whole, killed)
    assert (code, "has not ended" in err, err.count("\n")) == (1, True, 1), err
    assert "has not ended" in command("show", killed.parent)[2]
    assert len(read([killed.parent])) == 1


@pytest.mark.slow
@pytest.mark.parametrize("name", ["builder", "lm_eval_tasks"])
def test_a_folder_in_the_way_is_named(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [BIN / "academiceval", "--help"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, str(tmp_path / name) in done.stderr, done.stderr.count("\n")) == (1, True, 1), done.stderr
