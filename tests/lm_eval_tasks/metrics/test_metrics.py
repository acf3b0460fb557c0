from __future__ import annotations

import pytest

from lm_eval_tasks.families import registry, score
from lm_eval_tasks.metrics import bertscore
from lm_eval_tasks.samples.answers import Generated, ScoredAnswer
from tests.helpers.samples import sample

DOC = sample("2601.00001v1", "A. Ek", {}).row.to_doc() | {
    "target": "A study of sparse routing",
    "tokens_before": 10,
    "prompt": "Write a title.",
    "bertscore_model": "none",
    "metrics": "headline",
}


def scored(texts: list[str]) -> list[dict[str, float]]:
    return [ScoredAnswer.from_text(text).scores for text in texts]


def scores(answers: list[list[str]], docs: list[dict[str, object]]) -> list[dict[str, float]]:
    return scored(score.score(answers, docs))


def test_an_empty_answer_is_zero_and_said_to_be_empty() -> None:
    [row] = scores([[""]], [{**DOC, "bertscore_model": "minilm"}])
    assert (row["rouge_l"], row["bertscore"], row["empty"]) == (0.0, 0.0, 1.0)


def test_punctuation_alone_scores_zero() -> None:
    [row] = scores([["?!"]], [DOC])
    assert (row["rouge_l"], row["empty"]) == (0.0, 0.0)


def test_only_titles_are_refined() -> None:
    answers = [["Sure, here is the title: A study of sparse routing"]]
    assert scored(score.score(answers, [{**DOC, "prompt_name": "title_short"}]))[0]["rouge_l"] == 1.0
    assert scores(answers, [DOC])[0]["rouge_l"] < 1.0


def test_a_title_is_complete_where_the_model_writes_on_behind_it() -> None:
    title = {**DOC, "prompt_name": "title_short"}
    goes_on = Generated.of("**A study of sparse routing**\n\nThis title says that the study is", "length")
    [row] = scored(score.score([[goes_on]], [title]))
    assert row["capped"] == 0.0
    [row] = scored(score.score([[Generated.of("A study of sparse", "length")]], [title]))
    assert row["capped"] == 1.0
    [row] = scored(score.score([[goes_on]], [DOC]))
    assert row["capped"] == 1.0


def test_unfinished_reasoning_is_flagged() -> None:
    [row] = scores([["<think>A study of sparse routing"]], [DOC])
    assert (row["rouge_l"], row["empty"], row["unfinished"]) == (0.0, 1.0, 1.0)


def test_cut_prompts_are_counted() -> None:
    assert [row["truncated"] for row in scores([["a"], ["a"]], [DOC, {**DOC, "tokens_cut": 5}])] == [0.0, 1.0]


def test_headline_metrics_are_printed_and_all_of_them_on_request() -> None:
    [text] = score.score([["a"]], [DOC])
    every = ScoredAnswer.from_text(text).scores
    assert set(score.unpack(DOC, [text])) == {"rouge_l_content", "rouge_l", "rougeL", "truncated"}
    printed = score.unpack({**DOC, "metrics": "all"}, [text])
    assert {name: printed[name] for name in every} == every
    # By the names that lm-eval's own tasks use, too.
    usual = {"rougeL": "rouge_l", "rouge1": "rouge_1", "rouge2": "rouge_2", "rougeLsum": "rouge_lsum"}
    assert {name: printed[name] for name in printed.keys() - every.keys()} == {
        new: every[old] for new, old in usual.items()
    }
    assert {"rouge_1", "empty", "length_ratio"} <= every.keys() <= {one.name for one in registry.METRICS}


def test_of_headline_metrics_one_direction_is_better() -> None:
    """The results page sorts by them from the best down and its figures name the best."""
    assert {one.name for one in registry.METRICS if one.headline and one.best != "higher"} == {
        "bits_per_byte",
        "span_bits",
        "text_bits",
    }
    assert registry.is_lower_better("bits_per_byte")


def test_bertscore_of_a_text_with_itself_and_of_long_texts() -> None:
    long = "A study of sparse routing in long inputs. " * 200
    same, other, longer = bertscore.bertscore(
        [DOC["target"], DOC["target"], long],
        [DOC["target"], "Cooking rice in a small pot", long],
        bertscore.check_model("minilm"),
    )
    assert same == pytest.approx(1.0, abs=1e-5)
    assert other < 0.7
    assert longer == pytest.approx(1.0, abs=1e-5)
