"""Tasks asked with less to read: what the prompts show, and one run in several contexts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.base.errors import BudgetError, EvalError, OptionError
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.run_plan import SampleSelection
from lm_eval_tasks.evaluate.shorter import contexts_of, in_contexts, of_round
from lm_eval_tasks.families.scalar.shortcuts import shortened
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.run_folder import only_result
from lm_eval_tasks.samples.sample import by_task, read
from lm_eval_tasks.stats.columns import gains_of
from lm_eval_tasks.stats.opened import open_run
from standins.openai_server import serve
from tests.helpers.evaluating import evaluate
from tests.helpers.manifests import write_manifest
from tests.helpers.samples import sample
from tests.helpers.served import Command, results

pytestmark = pytest.mark.slow


def rows(dataset: Path, setting: str, **options: Any) -> list[dict[str, Any]]:
    return list(hook.load(setting, 512, dataset=str(dataset), bertscore_model="none", **options)["test"])


def asking(url: str) -> Callable[..., list[Score]]:
    """What evaluates a model on a server: of tasks, by options, perhaps a selection, an output and contexts."""
    chat = Generation(apply_chat_template=True)
    return partial(evaluate, "local-chat-completions", f"model=tiny,base_url={url}/chat/completions", generation=chat)


def test_each_context_shows_less(dataset: Path) -> None:
    full, none, start = (rows(dataset, "Abs-29K-G", context=name) for name in ("full", "none", "start"))
    assert [row["prompt"] for row in full] == [row["prompt"] for row in rows(dataset, "Abs-29K-G")]
    parts = rows(dataset, "Abs-29K-G", keep_parts=True)
    for whole, title_only, begun, row in zip(full, none, start, parts, strict=True):
        assert (whole.get("shown", ""), title_only["shown"], begun["shown"]) == ("", "none", "start")
        assert len(title_only["prompt"]) < 1200
        assert row["title"] in title_only["prompt"]
        words = row["own"]["content"].split()
        assert " ".join(words[:1500]) in " ".join(begun["prompt"].split())
        if len(words) > 1510:
            assert " ".join(words[1495:1510]) not in " ".join(begun["prompt"].split())
        # No demonstration is shown.
        assert whole["prompt"].count("### ") > begun["prompt"].count("### ")


def test_named_tasks_are_contexts_of_their_settings(dataset: Path) -> None:
    by_name = rows(dataset, "Abs-9K", shown="none")
    by_option = rows(dataset, "Abs-9K", context="none")
    assert by_name == by_option


def test_contexts_that_a_task_lacks_are_refused(dataset: Path, command: Command) -> None:
    for options, told in (
        ({"context": "none"}, "Title-10K is not asked with context='none'; choose other, 500w, start, "),
        ({"context": "nothing"}, "context cannot be 'nothing'"),
    ):
        with pytest.raises(OptionError, match=told):
            rows(dataset, "Title-10K", **options)
    with pytest.raises(OptionError, match="--contexts cannot be 'ful'"):
        contexts_of("none,ful")
    with pytest.raises(OptionError, match="is a way of its own"):
        in_contexts(["academiceval_ralm_abs_9k"], ["none"])
    with pytest.raises(OptionError, match="no task in --tasks is asked with --contexts local"):
        in_contexts(["academiceval_abs"], ["local"])
    line = ("eval", "--model", "lead", "--tasks", "academiceval_abs_9k", "--contexts", "half", "--dataset", dataset)
    code, _, err = command(*line)
    assert (code, err.count("\n")) == (1, 1)
    # A group is asked as far as its tasks have the contexts.
    names = [task.name for task in in_contexts(["academiceval_title", "academiceval_abs"], ["none", "start"])]
    assert "academiceval_abs_9k_none" in names
    assert "academiceval_title_10k_start" in names
    assert "academiceval_title_10k_none" not in names


def test_one_run_asks_several_contexts_and_pays_each_answer_once(dataset: Path, tmp_path: Path) -> None:
    contexts = contexts_of("none,start,retrieved,full")
    with serve(lambda body: str(len(body["messages"][-1]["content"]))) as server:
        ask = asking(server.url)
        options = {"dataset": str(dataset), "bertscore_model": "none"}
        for _ in range(2):
            ask(["academiceval_intro_8k"], options, SampleSelection(4), tmp_path / "out", contexts=contexts)
        asked = [body["messages"][-1]["content"] for body in server.requests]
        own = {"academiceval_ralm_abs_9k", "academiceval_abs_9k_title_only"}
        ask(sorted(own), options, SampleSelection(1), tmp_path / "own")
    assert open_run(only_result(tmp_path / "own")).keys() == own
    assert len(asked) == len(set(asked)) == 16
    samples = read([tmp_path / "out"])
    assert {one.task for one in samples} == {"Intro-8K", "Intro-8K none", "Intro-8K start", "Intro-8K retrieved bm25"}
    by_model = {gain.shortcut for gain in gains_of(samples) if gain.by == "model"}
    assert by_model == {"none", "start", "retrieved bm25"}
    tasks = {score["task"] for score in results(tmp_path / "out")["scores"]}
    assert tasks >= {"academiceval_intro_8k_none", "academiceval_intro_8k"}


def test_prompts_that_do_not_fit_are_left_out_and_counted(
    dataset: Path, tiny_llama: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"tokenizer": str(tiny_llama), "max_length": 1_000_000}
    lengths = sorted(row["tokens_before"] for row in rows(dataset, "Abs-9K", **options))
    middle = lengths[len(lengths) // 2]
    fitting = rows(dataset, "Abs-9K", **{**options, "max_length": middle + 512 + 8}, fits_only=True)
    assert 0 < len(fitting) < len(lengths)
    assert all(not row["tokens_cut"] for row in fitting)
    assert f"{len(lengths) - len(fitting)} of {len(lengths)} prompts do not fit" in caplog.text
    with pytest.raises(BudgetError, match="none of the"):
        rows(dataset, "Abs-9K", **{**options, "max_length": 600}, fits_only=True)
    # Of those that are cut instead, the median one is told.
    every = rows(dataset, "Abs-9K", **{**options, "max_length": middle + 512 + 8})
    share = median(row["tokens_cut"] / row["tokens_before"] for row in every if row["tokens_cut"])
    assert f"has room for, the median one by {100 * share:.0f} %" in caplog.text


def test_a_task_of_which_nothing_fits_is_left_out_with_the_others_asked(
    dataset: Path, tiny_llama: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"tokenizer": str(tiny_llama), "max_length": 1_000_000}
    # An introduction needs room for 2,048 tokens, a title for 64.
    shortest = min(row["tokens_before"] for row in rows(dataset, "Intro-8K", **options))
    assert shortest + 1900 > min(row["tokens_before"] for row in rows(dataset, "Title-10K", **options))
    metadata = {**options, "dataset": str(dataset), "bertscore_model": "none", "fits_only": True}
    metadata["max_length"] = shortest + 2000
    with serve(lambda body: "A title") as server:
        ask = asking(server.url)
        tasks = ["academiceval_intro_8k", "academiceval_title_10k"]
        assert {score.task for score in ask(tasks, metadata)} == {"academiceval_title_10k"}
        assert "Intro-8K: none of the" in caplog.text
        with pytest.raises(BudgetError, match="longer context"):
            ask(tasks[:1], metadata)


def test_what_is_asked_with_less_is_never_called_full(dataset: Path, tmp_path: Path) -> None:
    options, task = {"dataset": str(dataset), "bertscore_model": "none"}, ["academiceval_abs_9k"]
    with serve(lambda body: "A title") as server:
        ask = asking(server.url)
        with pytest.raises(EvalError, match="both say how much is shown"):
            ask(task, {**options, "context": "none"}, SampleSelection(2), contexts=("none", "full"))
        # The option alone makes it a task of its own name, and places are those of the task.
        places = SampleSelection(samples={"academiceval_abs_9k": [0, 1]})
        scores = ask(task, {**options, "context": "none"}, places, tmp_path / "a")
        assert {score.task for score in scores} == {"academiceval_abs_9k_none"}
        ask(task, options, places, tmp_path / "b", contexts=("none", "full"))
        counts = {task: len(of_task) for task, of_task in by_task(read([tmp_path / "b"])).items()}
        assert counts == {"Abs-9K": 2, "Abs-9K none": 2}
        for more, part in (({"shard": "1/2"}, SampleSelection()), ({}, places), ({}, SampleSelection(2))):
            with pytest.raises(EvalError, match="chooses the samples itself"):
                ask(task, {**options, "fits_only": True, **more}, part)
    with pytest.raises(EvalError, match="lead does not read the prompt"):
        evaluate("lead", "", task, options, SampleSelection(2), None, contexts=("none",))
    with pytest.raises(OptionError, match="cannot tell which prompts fit"):
        rows(dataset, "Abs-9K", fits_only=True)


def test_scalars_words_around_the_mask_leave_out_the_title() -> None:
    question = f"A Title\nFirst words {MASK} last words.\nA paragraph about words."
    assert shortened(question, "local") == f"\nFirst words {MASK} last words. A paragraph about words."
    assert "A Title" not in shortened(question, "retrieved")
    assert shortened(question, "none") == MASK


def test_a_row_was_asked_with_a_context_that_exists() -> None:
    with pytest.raises(ValueError, match="shown"):
        sample("p", "a", {}, shown="half")


def test_the_group_of_the_core_is_the_rounds(tmp_path: Path) -> None:
    write_manifest(tmp_path, ["Abs-29K-G", "Match-128K"], core=["Abs-29K-G", "Match-128K"])
    assert of_round(["academiceval_core_tiny", "academiceval_abs_9k"], {"dataset": str(tmp_path)}) == [
        "academiceval_core_tiny_abs_29k_g",
        "academiceval_core_tiny_match_128k",
        "academiceval_abs_9k",
    ]
    assert of_round(["academiceval_core"], {"dataset": str(tmp_path / "nowhere")}) == ["academiceval_core"]


def test_the_core_of_a_dataset_on_the_hub_is_what_its_manifest_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_manifest(tmp_path, ["Abs-29K-G"], core=["Abs-29K-G"])

    def download(dataset: str, name: str, *, repo_type: str, revision: str | None) -> str:
        assert (dataset, name, repo_type, revision) == ("org/academiceval", "manifest.json", "dataset", "2026.11")
        return str(tmp_path / name)

    monkeypatch.setattr("lm_eval_tasks.data.round_folder.hf_hub_download", download)
    metadata = {"dataset": "org/academiceval", "dataset_revision": "2026.11"}
    assert of_round(["academiceval_core"], metadata) == ["academiceval_core_abs_29k_g"]


def test_a_group_asks_what_the_round_has(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_manifest(tmp_path, ["Walk-128K", "Next-128K", "Title-10K"], empty=["Match-128K"])
    metadata = {"dataset": str(tmp_path)}
    assert of_round(["academiceval_reading"], metadata) == ["academiceval_walk_128k", "academiceval_next_128k"]
    assert "this round does not have it: Walk-256K" in caplog.text
    # A group of which it has nothing is refused by name when it is loaded.
    assert of_round(["academiceval_abs", "academiceval_title_30k"], metadata) == [
        "academiceval_abs",
        "academiceval_title_30k",
    ]
