"""Answers to reading questions: how they are read, leniently and strictly, and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lm_eval_tasks.families import labels
from lm_eval_tasks.families.reading import answering
from lm_eval_tasks.families.scalar.choice import answer_of
from lm_eval_tasks.families.score import score
from lm_eval_tasks.families.walk.places import papers_by_place
from lm_eval_tasks.prompts import filled, named_lines
from lm_eval_tasks.samples.answers import ScoredAnswer
from tests.helpers.samples import own
from tests.helpers.typed_rows import reading_answering, reading_row


@pytest.mark.parametrize(
    ("text", "lenient", "strict"),
    [
        ('["Paper 3", "Paper 8"]', (3, 8), (3, 8)),
        ('I think so.\n```json\n["Paper 8", "Paper 3"]\n```', (3, 8), (3, 8)),
        ("[]", (), ()),
        ("The answer is [P3, p8].", (3, 8), None),
        ("[3, 8]", (3, 8), None),
        ("['paper 3', **Paper 8**]", (3, 8), None),
        ('["Paper 3"], because Paper 3 cites it as [12].', (3,), None),
        ('first ["Paper 1"], no: ["Paper 2"]', (2,), (2,)),
        ('["Paper 2", "Paper 2"]', (2,), None),
        ("- [ ] Paper 1\nFinal answer: [3, 8]", (3, 8), None),
        ('["Paper 1"], no: []', (), ()),
        ("[“Paper 3”, Papers #8]", (3, 8), None),
        ("none", (), None),
        ('"None"', (), None),
        ("- None", (), None),
        ('{"papers": ["None"]}', (), None),
        ('{"Paper 1": {"cites": false}, "Paper 2": {"cites": true}}', (2,), None),
        ('{"papers": [{"Paper 1": false}, {"Paper 2": true}]}', (2,), None),
        ('[{"Paper 1": false}, {"Paper 2": true}]', (2,), None),
        ('{"results": {"Paper 1": false, "Paper 2": true}, "note": "x"}', (2,), None),
        ('{"Paper 1": "No", "Paper 2": "Yes, in Section 4", "Paper 3": null}', (2,), None),
        ("| Paper | Cites |\n|---|---|\n| 1 | 1 |\n| 2 | 0 |\n| 3 | 1 |", (1, 3), None),
        ("| Paper | Cites |\n|---|---|\n| 1 | No |\n| 2 | No |", (), None),
        ("I looked at both.\nPaper 1: no\nPaper 2: no", (), None),
        ("Only Paper 4 cites it.\n\nPaper 1: no\nPaper 2: no", None, None),
        ("None of the papers except Paper 4 cite it.", None, None),
        ("- Paper 1: No Free Lunch Theorems\n- Paper 4: Attention", (1, 4), None),
        ("Paper 1, Paper 2, and Paper 5", (1, 2, 5), None),
        ('In experiments: ["Paper 2"]\nIn introduction but not in experiments: ["Paper 1"]', (1,), (1,)),
        ('["Paper 1", "Paper 3"]\n\nPaper 3 was excluded.\n\n["Paper 1"]', (1,), (1,)),
        ('["Paper 1", "Paper 3"]\nPapers left, false positives removed\n["Paper 1"]', (1,), (1,)),
        ('{"papers": [{"paper": "Paper 1", "cites": true}, {"paper": "Paper 2", "cites": false}]}', (1,), None),
        (
            '{"Paper 1": {"reason": "No, but", "cites": true}, "Paper 2": {"reason": "1 place", "cites": false}}',
            (1,),
            None,
        ),
        ("The answer is <|begin_of_box|>Paper 2<|end_of_box|>", (2,), None),
        ("The answer is $\\boxed{Paper 2, Paper 3}$.", (2, 3), None),
        *(
            (f'["Paper 1"]\n{said}\n\n["Paper 3"]', (1,), (3,))
            for said in ("### Rejected", "Ruled out:", "These are rejected.")
        ),
        ("Paper 1 does not.\n<answer>null</answer>", (), None),
        ('```json\n{"papers": null}\n```', (), None),
        ("\\boxed{\\text{None}}", (), None),
        ("| Paper | Cites |\n|---|---|\n| 1 | yes |\n| 2 | no |\n| 3 | yes |", (1, 3), None),
        ('<answer>none</answer> was my first thought.\nFinal answer: ["Paper 2"]', (2,), (2,)),
        ("<answer>None of the papers cite it.</answer>", (), None),
        ("| # | Year |\n|---|---|\n| 1 | 2020 |", None, None),
        ("", None, None),
        ("[" * 5000, None, None),
        ('["Paper 99999999"]', (0,), None),
        ('["Paper 1", "unknown"]', (0, 1), None),
        ('["Paper 1", "N/A", null]', (-1, 0, 1), None),
        ("[none]", (), None),
        ("No paper cites it, as I read them.\n\nFinal answer: None", (), None),
        ('Paper 1 does not cite it.\n\n{"papers": null, "reason": "none does"}', (), None),
        ('["Paper 1", "Paper 3"]\n\nNone of the others fit.', (1, 3), None),
        ("<answer><|begin_of_box|>Paper 2<|end_of_box|></answer>", (2,), None),
        ('{"papers": {"Paper 1": false, "Paper 2": true}}', (2,), None),
        ('{"Paper 1": 0, "Paper 2": 1, "reason": "it says so"}', (2,), None),
        ('["No. 2", "No. 5"]', (2, 5), None),
        (
            "| Paper | Cited? |\n|:--|:-:|\n| Paper 1 | Yes (Table 2) |\n| Paper 2 | No (only related work) |",
            (1,),
            None,
        ),
        ("| Paper | Cited? |\n|---|---|\n| Paper 1 | No, only related work |\n| Paper 2 | Yes, Table 3 |", (2,), None),
        ("| Paper | Cited? |\n|---|---|\n| Paper 1 | Y |\n| Paper 2 | N |\n\nOnly Paper 1 cites it.", (1,), None),
        ("| Paper | Cited? |\n|---|---|\n| Paper 1 | — |\n| Paper 2 | Yes |", (2,), None),
        ("- **Paper 1**: No, only in related work.\n- **Paper 2**: Yes, in Table 3.", (2,), None),
        ("- Paper 1: No Free Lunch\n- Paper 2: Yes We Can", (1, 2), None),
        ('{"Paper 1": "No (only related work)", "Paper 2": "Yes - Table 3"}', (2,), None),
        ("None\n\nExplanation: Paper 3 cites it only in related work.", (), None),
        ("After checking each paper, the answer is: None.", (), None),
        ("No paper in the list cites this work.", (), None),
        ('{"papers": [null]}', (), None),
        ("<answer>2, 5</answer>", (2, 5), None),
        ("| # | Paper |\n|---|---|\n| 1 | Paper 3 |\n| 2 | Paper 7 |", (3, 7), None),
        ('```json\n["Paper 2"]\n```\nDiscarded:\n```json\n["Paper 9"]\n```', (2,), (9,)),
        ("Paper 1 is not one; so: [].", (), None),
        ('["Paper 1"]\n\nNote: I left out ["Paper 2"] because it is old.', (1,), None),
        ('["Paper 1"]\n\nI left "Paper 2" out, see [3].', (1,), None),
        ('Considering ["Paper 1", "Paper 2"].\n\n[2]', (2,), None),
        ('【"Paper 1"，"Paper ４"】', (1, 4), None),
        ('["Paper 2: A "quoted", long title", "Paper 3 (B)"]', (2, 3), None),
        ('[{"paper": "Paper 2", "title": "X, Y"}, {"paper": "Paper 5", "reason": "cites Paper 9"}]', (2, 5), None),
        ('{"paper": "Paper 2"}\n{"paper": "Paper 4"}', (2, 4), None),
        ('{"papers": ["Paper 1", "Paper 3"]}', (1, 3), None),
        ('{"Paper 1": true, "Paper 2": false}', (1,), None),
        ('[\\"Paper 1\\", \\"Paper 2\\"]', (1, 2), None),
        ('\\boxed{["Paper 2"]}', (2,), None),
        ("[[3] A title, [5] Another]", (3, 5), None),
        ("Paper 1\nPaper 3", (1, 3), None),
        ("The papers are:\n1. Paper 2: Some title\n2. Paper 5: Another", (2, 5), None),
        ("Answer: Paper 1, Paper 4", (1, 4), None),
        ('["Paper 1 and Paper 3"]', (1, 3), None),
        ('["Paper 1 or Paper 2", "Papers 4-6"]', (-1, 0), None),
        ('["Paper 1", "Paper 2', (1, 2), None),
        ("I am not sure about Paper 3.", None, None),
    ],
)
def test_sets(text: str, lenient: tuple[int, ...] | None, strict: tuple[int, ...] | None) -> None:
    assert (labels.set_of(text), answering.strict_set_of(text)) == (lenient, strict)


@pytest.mark.parametrize(
    ("text", "lenient", "strict"),
    [
        ('{"Passage 1": "Passage 4", "Passage 2": "Passage 3"}', {1: 4, 2: 3}, {1: 4, 2: 3}),
        ('{"Mask 1": "Paper 4"}', {1: 4}, {1: 4}),
        ("{1: 4, 2: 3}", {1: 4, 2: 3}, None),
        ("{'P1' -> 'P4'}", {1: 4}, None),
        ('{"Passage 1": "Passage 4"} is my answer', {1: 4}, None),
        ('{"Passage 1": "Passage 4"} or {"Passage 1": "Passage 5"}', {1: 5}, {1: 5}),
        ('{"Passage 1": "Passage 4", "Passage 1": "Passage 5"}', {1: 5}, {1: 5}),
        ('{"Mask 1": "Paper 4", "Mask 2": null}', {1: 4, 2: 0}, None),
        ('{"Passage 1": "unknown", "Passage 2": "Passage 3"}', {1: 0, 2: 3}, None),
        ('{"Passage 1": "Passage 4"}\n{"Passage 2": "Passage 7"}', {1: 4, 2: 7}, {2: 7}),
        ('[{"mask": 1, "paper": 4}, {"mask": 2, "paper": "Paper 3"}]', {1: 4, 2: 3}, None),
        ('{"Passage 1": ["Passage 3", "Passage 4"], "Passage 2": ["Passage 9"]}', {1: 0, 2: 9}, None),
        ('{"Mask 1": "Paper 4: A title, with comma", "Mask 2": "[5] Title"}', {1: 4, 2: 5}, None),
        ('{"answers": {"Mask 1": "Paper 4"}}', {1: 4}, None),
        ('The pairs are:\n\nPassage 12 -> Passage 40\nPassage 7: "Passage 13"', {12: 40, 7: 13}, None),
        ("Passage 1\nPassage 2", None, None),
        ("{}", None, {}),
        ("{" * 5000, None, None),
        (",", None, None),
        ("Passage 3\n,", None, None),
    ],
)
def test_pairs(text: str, lenient: dict[int, int] | None, strict: dict[int, int] | None) -> None:
    assert (labels.pairs_of(text), answering.strict_pairs_of(text)) == (lenient, strict)


# Ways in which models write answers, and what each says: a set, pairs, an index of four candidates.
_WRITTEN = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "answer"), _WRITTEN["sets"])
def test_written_sets(text: str, answer: list[int] | None) -> None:
    assert labels.set_of(text) == (None if answer is None else tuple(answer))


@pytest.mark.parametrize(("text", "answer"), _WRITTEN["pairs"])
def test_written_pairs(text: str, answer: list[list[int]] | None) -> None:
    assert labels.pairs_of(text) == (None if answer is None else dict(answer))


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
