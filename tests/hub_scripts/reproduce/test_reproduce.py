"""The published tables again, with a baseline in the models' place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.dataset.manifest import read_manifest
from hub_scripts.report.board import published_scores
from hub_scripts.reproduce import run as runs
from hub_scripts.reproduce.matrix import RETRIEVERS, ReproduceError, runs_of
from hub_scripts.reproduce.run import weights_of
from lm_eval_tasks.judge.verdict import DIMENSIONS, OVERALL
from lm_eval_tasks.tasks.derived import task_names
from tests.helpers import openai_server

Command = Callable[..., tuple[int, str, str]]
LLAMA = "LLaMA-3 Chat 70B"


def reproduce(command: Command, dataset: Path, output: Path, *more: str) -> tuple[int, str, str]:
    return command(
        "reproduce",
        "academiceval",
        "--dataset",
        dataset,
        "--output",
        output,
        "--metadata",
        '{"bertscore_model": "none"}',
        *more,
    )


def test_every_published_score_belongs_to_a_run_and_every_run_to_a_task() -> None:
    tasks = set(task_names())
    for paper in ("academiceval", "scalar"):
        every = {run.name: run for run in runs_of(paper)}
        for run in every.values():
            assert set(run.tasks) <= tasks
            assert len(set(run.tasks)) == len(run.settings)
    academic, scalar = runs_of("academiceval"), runs_of("scalar")
    assert len(academic) == 5 + 2 * len(RETRIEVERS)
    assert len(scalar) == 8
    contriever = next(run for run in academic if run.name == f"{LLAMA} + contriever")
    assert len(contriever.tasks) == 12
    assert next(run for run in academic if run.name == f"{LLAMA} + tfidf").tasks == ("academiceval_ralm_abs_9k",)
    assert len(next(run for run in scalar if run.name == "GPT 4o Mini").tasks) == 11
    assert {one.source.partition(",")[0] for one in published_scores()} == {"AcademicEval", "SCALAR"}


def test_weights_are_named_for_models_of_the_tables() -> None:
    run = next(run for run in runs_of("academiceval", {LLAMA: "/models/llama"}) if run.name == LLAMA)
    assert (run.model.weights, run.model.context) == ("/models/llama", 8192)
    assert weights_of(["A B=c=d"]) == {"A B": "c=d"}
    for given in ("A", "=x", "A="):
        with pytest.raises(ReproduceError, match="is not MODEL=WEIGHTS"):
            weights_of([given])


def test_a_dry_run_lists_runs_prompts_and_tokens(dataset: Path, command: Command, tmp_path: Path) -> None:
    code, out, _ = reproduce(command, dataset, tmp_path / "out", "--model", "lead", "--dry-run")
    assert code == 0
    assert not (tmp_path / "out").exists()
    test = {one.name: one.statistics("test") for one in read_manifest(dataset).configurations}
    gemma = next(run for run in runs_of("academiceval") if run.name == "Gemma Instruct 7B")
    prompts = sum(test[name].samples for name in gemma.settings)
    tokens = sum(test[name].samples * (test[name].input_tokens // test[name].samples) for name in gemma.settings)
    assert f"| Gemma Instruct 7B | google/gemma-7b-it | 8192 | 4 | {prompts} | {tokens} |" in out
    assert "academiceval judge" in out
    code, _, err = command("reproduce", "scalar", "--dataset", dataset, "--dry-run")
    assert code == 1
    assert "has test samples of none of the tables' settings; name another --dataset" in err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").touch()
    code, _, err = reproduce(command, dataset, tmp_path / "mine")
    assert code == 1
    assert "mine contains something else; name another --output" in err


@pytest.mark.long
def test_ours_stand_beside_the_published_and_nothing_is_done_twice(
    dataset: Path, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    chosen = ("--model", "lead", "--only", LLAMA, "--only", f"{LLAMA} + tfidf", "--only", f"{LLAMA} + dpr")
    code, out, err = reproduce(command, dataset, output, *chosen)
    assert code == 0, err
    assert (
        f"left out: {LLAMA} + dpr: the retriever's model 'facebook/dpr-question_encoder-single-nq-base' cannot be"
        in out
    )
    assert "AcademicEval, table 4: 4 of 62 scores measured" in out
    assert "AcademicEval, table 6: 1 of 4 scores measured" in out
    rows = json.loads((output / "reproduced.json").read_text())
    ours = {(row["model"], row["setting"], row["metric"]): row for row in rows if "ours" in row}
    (results,) = (output / "LLaMA-3-Chat-70B").glob("lead-*/results_lead.json")
    scores = json.loads(results.read_text())["academiceval"]["scores"]
    score = next(one for one in scores if (one["task"], one["metric"]) == ("academiceval_title_10k", "rouge_l"))
    row = ours[LLAMA, "Title-10K", "rouge_l"]
    assert (row["ours"], row["low"], row["high"]) == (score["value"], score["low"], score["high"])
    page = (output / "index.html").read_text()
    assert f"{100 * row['ours']:.1f}" in page
    assert "round 2026.11, other papers than those of the published tables" in page
    assert "<td>differs</td>" in page
    assert "<td>not measured</td>" in page
    assert "figure_3.svg" in page
    assert "tfidf" in (output / "plots" / "figure_3.csv").read_text()
    evaluated = runs.evaluate
    monkeypatch.setattr(runs, "evaluate", lambda *arguments: pytest.fail("done already"))
    assert reproduce(command, dataset, output, *chosen)[0] == 0
    for more in (("--limit", "3"), ("--model", "random-sentence"), ("--model_args", "x=1")):
        with pytest.raises(pytest.fail.Exception, match="done already"):
            reproduce(command, dataset, output, *chosen, *more)
    monkeypatch.setattr(runs, "evaluate", evaluated)
    # Another model in the same place: its scores, and the first one's are kept.
    assert reproduce(command, dataset, output, *chosen, "--model", "random-sentence")[0] == 0
    assert len(list((output / "LLaMA-3-Chat-70B").iterdir())) == 2
    newer = {
        (row["model"], row["setting"], row["metric"]): row
        for row in json.loads((output / "reproduced.json").read_text())
    }
    assert newer[LLAMA, "Title-10K", "rouge_l"]["ours"] != row["ours"]
    # Asked for again, the first model's are shown, though they are older.
    assert reproduce(command, dataset, output, *chosen)[0] == 0
    again = [row for row in json.loads((output / "reproduced.json").read_text()) if "ours" in row]
    assert again == [row for row in rows if "ours" in row]


def first_wins(_body: object) -> str:
    return json.dumps({name: {"Winner": "Answer 1", "Brief Explanation": "-"} for name in (*DIMENSIONS, OVERALL)})


def test_win_rates_are_of_the_order_that_the_paper_asked_in(dataset: Path, command: Command, tmp_path: Path) -> None:
    """A judge that always prefers the first text: 1 with ours first, and 0.5 over both orders."""
    asked = ("--model", "lead", "--only", "Gemma Instruct 7B", "--limit", "2")
    assert reproduce(command, dataset, tmp_path / "out", *asked)[0] == 0
    (folder,) = (tmp_path / "out" / "Gemma-Instruct-7B").glob("lead-*")
    with openai_server.serve(first_wins) as server:
        code, _, err = command("judge", folder, "--model", "m", "--base-url", server.url, "--output", folder)
    assert code == 0, err
    assert reproduce(command, dataset, tmp_path / "out", *asked)[0] == 0
    rows = json.loads((tmp_path / "out" / "reproduced.json").read_text())
    assert {row["ours"] for row in rows if row["metric"] == "win_rate" and "ours" in row} == {1.0}


def test_what_the_tables_do_not_have_is_named(dataset: Path, command: Command, tmp_path: Path) -> None:
    for more, told in (
        (("--only", "GPT 5"), "the tables have no run 'GPT 5': they have Gemma Instruct 7B"),
        (("--weights", "GPT 5=x"), "the tables have no model 'GPT 5'"),
        (("--metadata", "[]"), "--metadata must be a JSON object"),
        (("--metadata", '{"dataset": "x"}'), "--metadata must not contain 'dataset'"),
    ):
        code, _, err = reproduce(command, dataset, tmp_path / "out", *more)
        assert code == 1
        assert told in err


@pytest.mark.slow
def test_empty_answers_are_asked_for_again(dataset: Path, command: Command, tmp_path: Path) -> None:
    """A server that fails answers nothing: such a run is not finished, and the same command asks for the rest."""
    silent = [True]
    with openai_server.serve(lambda body: "" if silent[0] else "We study how readers read.") as server:
        asked = (
            *(
                "--model",
                "local-chat-completions",
                "--only",
                "Gemma Instruct 7B",
                "--limit",
                "1",
                "--weights",
                "Gemma Instruct 7B=gemma",
            ),
            *("--model_args", f"base_url={server.url}/chat/completions"),
        )
        code, _, err = reproduce(command, dataset, tmp_path / "out", *asked)
        assert code == 0, err
        first = len(server.requests)
        silent[0] = False
        assert reproduce(command, dataset, tmp_path / "out", *asked)[0] == 0
        assert len(server.requests) == 2 * first
        assert reproduce(command, dataset, tmp_path / "out", *asked)[0] == 0
        assert len(server.requests) == 2 * first
