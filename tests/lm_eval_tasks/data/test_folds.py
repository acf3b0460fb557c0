"""Sections as folds: each is left out once and asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from lm_eval_tasks.base.row_format import paper_of
from lm_eval_tasks.evaluate.run import evaluate
from lm_eval_tasks.families.score import others_of
from lm_eval_tasks.families.writing import hook
from lm_eval_tasks.families.writing.folds import by_fold, folds_of
from lm_eval_tasks.samples.sample import read
from tests.helpers.typed_rows import writing_row

WORDS = " ".join(f"word{i}" for i in range(60))
BODY = "\n\n".join(
    [
        f"1 Introduction\n{WORDS} intro",
        "2 Method",
        f"2.1 Setup\n{WORDS} setup",
        f"2.2 Parts\n{WORDS} parts",
        f"10 Results\n{WORDS} results",
        "11 Remarks\nToo short.",
    ]
)


def test_a_section_holds_its_subsections() -> None:
    folds = folds_of(BODY)
    assert [fold.heading for fold in folds] == ["1 Introduction", "2 Method", "10 Results", "11 Remarks"]
    assert folds[1].text == f"2.1 Setup\n{WORDS} setup\n\n2.2 Parts\n{WORDS} parts"
    assert "\n\n".join(fold.printed for fold in folds) == BODY


@pytest.mark.parametrize(
    ("headings", "sections"),
    [
        (["I. START", "A. Setup", "B. Parts", "II. END"], ["I. START", "II. END"]),
        (["Start", "Setup of It", "End"], ["Start", "Setup of It", "End"]),
        (["3 Start", "3.1 Setup", "3.1.1 Deep", "4 End"], ["3 Start", "4 End"]),
        (["A First Look", "Beyond"], ["A First Look", "Beyond"]),
    ],
)
def test_numbers_say_what_is_below(headings: list[str], sections: list[str]) -> None:
    assert [fold.heading for fold in folds_of("\n\n".join(f"{one}\nText." for one in headings))] == sections


def test_each_section_is_asked_for_from_the_others() -> None:
    rows = list(by_fold([writing_row(id="2601.00001v1", title="T", content=BODY, target="T")]))
    assert [row.heading for row in rows] == ["1 Introduction", "2 Method", "10 Results"]
    assert [row.id for row in rows] == ["2601.00001v1#1", "2601.00001v1#2", "2601.00001v1#3"]
    assert {paper_of(row.id) for row in rows} == {"2601.00001v1"}
    for row in rows:
        assert row.target not in row.content
        assert row.heading not in row.content
        assert "Too short." in row.content
    assert list(by_fold([writing_row(id="x", content=f"1 Alone\n{WORDS}", target="")])) == []


def test_the_other_paper_of_a_fold_is_another_paper() -> None:
    ids = [f"{paper}#{i}" for paper in "abc" for i in range(5)] + ["d"]
    for i, others in enumerate(others_of(ids)):
        assert sorted(paper_of(ids[other]) for other in others) == sorted({*"abcd"} - {paper_of(ids[i])})
    assert others_of(ids, 2) == [others[:2] for others in others_of(ids)]
    assert others_of(["a#1", "a#2"]) == [[], []]
    assert others_of([]) == []


@pytest.mark.slow
def test_the_task_asks_for_every_section(dataset: Path, tmp_path: Path) -> None:
    options = {"dataset": str(dataset), "bertscore_model": "none"}
    rows = hook.load("Title-10K", 2048, "section", keep_parts=True, **options)["test"]
    whole = {row["id"]: row for row in hook.load("Title-10K", 64, keep_parts=True, **options)["test"]}
    assert {paper_of(id_) for id_ in rows["id"]} == set(whole)
    assert len(rows) > 2 * len(whole)
    for row in rows:
        assert f"### Heading of the Section: {row['heading']}\n" in row["prompt"]
        assert row["target"] not in row["prompt"]
        assert row["target"] in whole[paper_of(row["id"])]["content"]
        assert (row["prompt_name"], row["setting"]) == ("section_short", "Title-10K")
    scores = evaluate("lead", "", ["academiceval_sections"], options, None, tmp_path / "out")
    samples = read(list((tmp_path / "out").glob("samples_academiceval_sections_*")))
    assert {sample.id for sample in samples} == set(rows["id"])
    assert any(score.metric == "rouge_l" and score.samples == len(rows) for score in scores)
