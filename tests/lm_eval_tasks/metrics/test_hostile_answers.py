"""Texts that would keep a careless regular expression busy for hours; each is read in one pass, or the test times out."""

from __future__ import annotations

import pytest

from builder.imports.scalar import _split_prompt
from lm_eval_tasks.base import rouge
from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.families.scalar.answering import answer_of
from lm_eval_tasks.families.scalar.prompt import slots_of
from lm_eval_tasks.families.writing import refine
from lm_eval_tasks.llm.thoughts import in_marks, take_apart
from tests.helpers.typed_rows import scalar_row

N = 200_000


@pytest.mark.slow
def test_answers() -> None:
    assert answer_of("<answer>" * N, 4) is None
    assert answer_of("<answer>" * N + "2</answer>", 4) == 2
    assert answer_of("<answer>1</answer> no, <answer>3</answer> and <answer>", 4) == 3
    assert answer_of("</answer>" * N + "<ANSWER>1</Answer>", 4) == 1
    assert refine.title("A" + " " * N + "title") == "A" + " " * N + "title"
    assert refine.title("*" * N + "A title" + "*" * N) == "A title"
    assert refine.title("title" + " " * N + "x") == "title" + " " * N + "x"
    for mark in ("- ", "# ", "> ", "* ", "sure! ", "Title: ", "title:", "“", "``"):
        refine.title(mark * (N // len(mark)), "My Own Title")
    assert take_apart("<think>" * N).unfinished
    assert redact("a." * N) == "a." * N
    assert redact("api" * N) == "api" * N
    redact("-eyJaaaaaaaaaaaa" * (N // 8))
    assert take_apart("<think></think>" * (N // 10)).answer == ""
    assert take_apart("</think>" * (N // 4)).answer == ""
    # Reasoning that a server hands over apart does not end where it speaks of such marks.
    assert take_apart(in_marks("It ends with </think>, after <think>.") + "An answer.").answer == "An answer."


def test_questions_of_strangers() -> None:
    with pytest.raises(ValueError, match="no paper and references"):
        _split_prompt("<Paper>\n\n" * N)
    with pytest.raises(ValueError, match="no paper and references"):
        _split_prompt("<Paper>\n\nx</Paper>\n\n<References>\n" + "<Candidate>Candidate [1]:\n" * N)
    for content in ("<Abstract>Abstract: " * N, "<Content>\n" * N):
        row = {"question": MASK, "candidate_text": "full", "candidates": [{"title": "T", "content": content}]}
        assert content in "".join(slot.text for slot in slots_of(scalar_row(**row)))


@pytest.mark.long
def test_scoring_an_answer_of_a_million_words_ends() -> None:
    """Within the memory and the time of a small machine: both once grew with the square of the words."""
    target = ". ".join(" ".join(f"w{i}" for i in range(20 * j, 20 * j + 20)) for j in range(10))
    many, once = " ".join(f"w{i}" for i in range(1_000_000)), "w1 " * 1_000_000
    for score in (rouge.rouge_l, rouge.rouge_lsum):
        assert 0 < score(target, many) < 0.01
        assert 0 < score(target, once) < 0.01
