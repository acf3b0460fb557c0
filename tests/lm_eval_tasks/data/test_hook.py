from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from builder.dataset.publishable import publishable
from lm_eval_tasks.base.errors import BudgetError, DatasetError, EvalError
from lm_eval_tasks.families.score import others_of
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.beginnings import without
from standins.llama import CONTEXT


def load(dataset: object, setting: str = "Abs-29K-G", answer_tokens: int = 512, **more: Any) -> Any:
    return hook.load(setting, answer_tokens, dataset=str(dataset), **{"bertscore_model": "none", **more})["test"]


def test_rows_carry_a_whole_prompt_where_no_model_is_named(dataset: Path) -> None:
    rows = load(dataset)
    assert len(rows) > 3
    for row in rows:
        assert row["prompt"].startswith("Please read the following Reference Content")
        assert row["prompt"].endswith("irrelevant text.")
        assert row["round"] == "2026.11"
        assert "content" not in row["own"]


def test_prompts_are_cut_to_the_model(dataset: Path, tiny_llama: Path) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(tiny_llama)
    for row in load(dataset, pretrained=str(tiny_llama)):
        chat = tokenizer.apply_chat_template(
            [{"role": "user", "content": row["prompt"]}], tokenize=False, add_generation_prompt=True
        )
        assert len(tokenizer(chat)["input_ids"]) + 512 <= CONTEXT
        assert row["tokens_before"] > CONTEXT > row["tokens_after"]
        assert row["tokens_cut"] == row["cut_demonstration"] + row["cut_body"] + row["cut_citation"] > 0
        assert row["prompt"].endswith("irrelevant text.")
        assert f"### Target Content Title: {row['title']}\n" in row["prompt"]


@pytest.mark.slow
def test_the_context_given_by_the_engine_counts(dataset: Path, tiny_llama: Path) -> None:
    whole = load(dataset, pretrained=str(tiny_llama), max_model_len=200_000)
    assert set(whole["tokens_cut"]) == {0}
    assert max(load(dataset, pretrained=str(tiny_llama), max_length=3000)["tokens_after"]) <= 3000 - 512


def test_a_context_that_not_even_the_instruction_fits_is_refused(dataset: Path, tiny_llama: Path) -> None:
    with pytest.raises(BudgetError, match="Abs-29K-G: what is never cut of a prompt"):
        load(dataset, pretrained=str(tiny_llama), max_length=600)


def test_titles_are_taken_out_of_the_body() -> None:
    assert without("We call it A Title. A Title is short.", "A Title") == "We call it .  is short."


def test_the_window_of_publication(dataset: Path) -> None:
    days = sorted(load(dataset)["published"])
    middle = days[len(days) // 2]
    assert min(load(dataset, published_after=middle)["published"]) > middle
    assert max(load(dataset, published_before=middle)["published"]) < middle
    with pytest.raises(DatasetError, match="publication window"):
        load(dataset, published_after="2999-01-01")


def test_the_dataset_is_found_in_the_promised_order(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"bertscore_model": "none"}
    monkeypatch.chdir(dataset.parent)
    assert len(hook.load("Abs-9K", 512, **arguments)["test"]) > 0
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="'academiceval' is neither a folder here nor reachable"):
        hook.load("Abs-9K", 512, **arguments)
    monkeypatch.setenv("ACADEMICEVAL_DATASET", str(dataset))
    assert len(hook.load("Abs-9K", 512, **arguments)["test"]) > 0
    with pytest.raises(DatasetError, match="'elsewhere'"):
        hook.load("Abs-9K", 512, dataset="elsewhere", **arguments)


def test_an_unfinished_folder_and_a_missing_setting_are_named(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "half")
    (tmp_path / "half" / "manifest.json").unlink()
    with pytest.raises(DatasetError, match=r"no manifest\.json"):
        load(tmp_path / "half")
    with pytest.raises(DatasetError, match="has no setting Title-99K"):
        load(dataset, config="Title-99K")


def test_tokenizer_and_metric_that_are_not_there_are_named(dataset: Path) -> None:
    with pytest.raises(EvalError, match="tokenizer of 'nobody/nothing' cannot be loaded"):
        load(dataset, pretrained="nobody/nothing")
    with pytest.raises(EvalError, match="the BERTScore model 'nobody/nothing' cannot be loaded"):
        load(dataset, bertscore_model="nobody/nothing")


def test_under_lm_evals_command_line_the_error_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/lm_eval"])
    with pytest.raises(SystemExit, match="error: the dataset 'elsewhere'"):
        load("elsewhere")


def test_baselines_get_the_parts(dataset: Path) -> None:
    row = load(dataset, keep_parts=True)[0]
    assert len(row["own"]["demonstrations"]) == 2
    assert row["own"]["content"]
    assert 30 < row["own"]["lead_words"] < 200


@pytest.mark.slow
def test_rows_by_id_are_announced(dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    publishable(dataset, tmp_path / "public", "redistributable")
    whole, public = (load(place, config="Abs-9K") for place in (dataset, tmp_path / "public"))
    assert 0 < len(public) < len(whole)
    (said,) = [record.getMessage() for record in caplog.records if "are whole here" in record.getMessage()]
    assert f"{len(public)} of {len(whole)} test papers are whole here" in said


def test_the_other_papers_of_a_row_are_always_the_same() -> None:
    ids = list("abcde")
    for i, others in enumerate(others_of(ids)):
        assert sorted([*others, i]) == [0, 1, 2, 3, 4]
    assert others_of(ids, 2) == [others[:2] for others in others_of(ids)]
    assert others_of(ids[:1]) == [[]]
    assert others_of([]) == []
