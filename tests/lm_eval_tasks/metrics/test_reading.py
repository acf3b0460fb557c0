"""Answers to reading questions: how they are read, leniently and strictly, and scored."""

from __future__ import annotations

from typing import Any

import pytest

from lm_eval_tasks.families import labels
from lm_eval_tasks.families.reading import answering
from lm_eval_tasks.families.scalar.answering import answer_of
from lm_eval_tasks.families.score import score
from lm_eval_tasks.families.walk.programs import papers_by_place
from lm_eval_tasks.prompts import filled, named_lines
from lm_eval_tasks.samples.answers import ScoredAnswer
from standins.places import table_beside
from tests.helpers.samples import own
from tests.helpers.typed_rows import reading_answering, reading_row

# Ways in which models write answers, and what each says: a set, pairs, an index of four candidates; then what it says read strictly.
_WRITTEN = table_beside(__file__, "answers.json")


def _of_text(case: list[Any]) -> str:
    return str(case[0])[:60]


@pytest.mark.parametrize("case", _WRITTEN["sets"], ids=_of_text)
def test_written_sets(case: list[Any]) -> None:
    text, *said = case
    for answer, read in zip(said, (labels.set_of, answering.strict_set_of), strict=False):
        assert read(text) == (None if answer is None else tuple(answer))


@pytest.mark.parametrize("case", _WRITTEN["pairs"], ids=_of_text)
def test_written_pairs(case: list[Any]) -> None:
    text, *said = case
    for answer, read in zip(said, (labels.pairs_of, answering.strict_pairs_of), strict=False):
        assert read(text) == (None if answer is None else dict(answer))


@pytest.mark.parametrize(("text", "answer"), _WRITTEN["indices"])
def test_written_indices(text: str, answer: int | None) -> None:
    assert answer_of(text, 4) == answer


def test_reading_an_answer_takes_no_longer_than_writing_it() -> None:
    tags = ("<answer>" * 40_000, f"<answer>{' ' * 200_000}3x", "boxed{" * 40_000, "=> " * 70_000, "answer " * 40_000)
    for text in ("\n" * 200_000 + "x", "[" * 200_000, "[1," * 70_000, '{"a":' * 40_000, '"' * 200_001, *tags):
        for read in (labels.set_of, answering.strict_set_of, labels.pairs_of, answering.strict_pairs_of):
            assert not read(text) or max(read(text) or (0,)) <= 1
        assert answer_of(text, 4) is None


def doc(prompt_name: str, **more: Any) -> dict[str, Any]:
    usual = {"setting": "S", "prompt_version": 1, "first_author": "A", "published": "2026-05-01", "round": "2026.11"}
    return {"id": "1", **usual, "prompt_name": prompt_name, "target": "", "own": own(prompt_name, **more)}


def scores(answer: str, row: dict[str, Any]) -> ScoredAnswer:
    return ScoredAnswer.from_text(score([[answer]], [row])[0])


def test_a_set_is_scored() -> None:
    row = doc("walk", answer=[2, 5], shortcut=[2], best_constant=1)
    scored = scores('so ["Paper 5", "Paper 2"]', row)
    assert scored.answer == '["Paper 2", "Paper 5"]'
    assert scored.scores["exact"] == scored.scores["exact_strict"] == 1.0
    assert scored.scores["exact_title_search"] == scored.scores["exact_blind"] == 0.0
    assert scored.scores["set_f1_title_search"] == pytest.approx(2 / 3)
    assert scored.scores["set_f1_blind"] == pytest.approx(4 / 12)
    placed = scores('["Paper 2"]', doc("walk", answer=[2, 5], by_place=[2, 5]))
    assert (placed.scores["exact_places"], placed.scores["set_f1_places"], placed.scores["exact"]) == (1.0, 1.0, 0.0)
    nothing = scores("I cannot tell", doc("walk", answer=[], shortcut=[2], best_constant=0))
    assert (nothing.scores["exact"], nothing.scores["no_answer"], nothing.scores["exact_blind"]) == (0.0, 1.0, 1.0)
    beyond = scores('["Paper 11", "Paper 2"]', row)
    assert (beyond.scores["outside"], beyond.scores["exact"], beyond.scores["set_f1"]) == (1.0, 0.0, 0.5)
    unknown = scores('["Paper 2", "unknown", "Paper 5"]', row)
    assert (unknown.scores["unreadable"], unknown.scores["outside"]) == (1.0, 0.0)
    assert (unknown.scores["exact"], unknown.scores["set_f1"]) == (0.0, 0.8)
    assert unknown.answer == '["?", "Paper 2", "Paper 5"]'


def test_pairs_are_scored() -> None:
    row = doc("next", asked=[1, 2], answer=[4, 6], shortcut=[4, 3], chance=0.1)
    scored = scores("{P1: P4, P2: P4}", row)
    assert scored.scores["share_right"] == scored.scores["share_right_bm25"] == 0.5
    assert (scored.scores["share_right_strict"], scored.scores["share_right_random"]) == (0.0, 0.1)
    assert scores("?", row).scores["no_answer"] == 1.0
    half = scores('{"Passage 1": "N/A", "Passage 2": "Passage 6"}', row)
    assert (half.answer, half.scores["share_right"]) == ('{"Passage 1": "?", "Passage 2": "Passage 6"}', 0.5)


def test_what_a_card_says_of_a_row() -> None:
    walk, row = reading_answering("walk"), reading_row(answer=[2], shortcut=[2], labels=8)
    assert (walk.shortcut_score(row), walk.blind_score(row)) == (1.0, 0.0)
    assert walk.blind_score(reading_row(labels=8)) == 1.0
    row = reading_row(asked=[1, 2], answer=[3, 4], shortcut=[3, 1], labels=11)
    assert (reading_answering("next").shortcut_score(row), reading_answering("next").blind_score(row)) == (0.5, 0.1)
    assert reading_answering("match").blind_score(reading_row(labels=10)) == 0.1


@pytest.mark.parametrize(
    ("kind", "cited", "named"),
    [
        ("introduction", ("see [2]. {text}", "{text} see [2].", "{text}"), [1]),
        ("related_work", ("see [1]. {text}", "{text} see [1-2].", "{text} see [2]."), [2, 3]),
        ("cites_first_only", ("see [2]. {text}", "see [1], [2]. {text}", "see [1]. {text}"), [1]),
        ("same_paragraph", ("see [1]; [2]. {text}", "see [1]. {text} [2]", "{text}"), [1]),
        ("introduction", ("see Roeder (2020). {text}", "{text} Roeder (2020).", "see Ek (2020)."), [1]),
    ],
)
def test_the_program_places_reads_no_heading(kind: str, cited: tuple[str, ...], named: list[int]) -> None:
    entries = "Ek, A. Ponds of Note. 2020.\nRoeder, B. Rivers of Note. 2020."
    shown = [f"A Title\n\n{body.format(text='Words. ' * 400)}\n## References\n{entries}\n" for body in cited]
    papers = "".join(f"=== Paper {i} ===\n{text}\n" for i, text in enumerate(shown, 1))
    titles = {"FIRST": "Rivers of Note", "SECOND": "Ponds of Note"}
    question = filled(named_lines("walk_questions")[kind], titles)
    assert papers_by_place(kind, f"{papers}=== Question ===\n{question}\n") == named
