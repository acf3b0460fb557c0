"""Texts that would keep a careless regular expression busy for hours; each is read in one pass, or the test times out."""

from __future__ import annotations

import pytest
from lm_eval_tasks.metrics.grounding import Shown, support_of_numbers

from builder.scalar.importers.questions import _split_prompt
from lm_eval_tasks.core.redaction import redact
from lm_eval_tasks.core.word_runs import longest_common_run, run_words
from lm_eval_tasks.llm.thoughts import take_apart
from lm_eval_tasks.metrics import names, rouge
from lm_eval_tasks.metrics.answer_index import answer_of
from lm_eval_tasks.metrics.citation_mentions import mentions
from lm_eval_tasks.prompts.scalar import slots_of
from lm_eval_tasks.samples import refine

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
    assert mentions("A" * N, ["A work"]).others == 0
    assert mentions("A-" * N, ["A work"]).others == 0
    assert redact("a." * N) == "a." * N
    assert redact("api" * N) == "api" * N
    redact("-eyJaaaaaaaaaaaa" * (N // 8))
    assert take_apart("<think></think>" * (N // 10)).answer == ""
    assert take_apart("</think>" * (N // 4)).answer == ""


@pytest.mark.slow
def test_answers_of_a_model_in_a_loop() -> None:
    loop, paper = "The gain is 3.5 s, as we show. " * 2000, "It takes 3.5 ms in each of them. " * 2000
    assert support_of_numbers(loop, Shown(paper)).share == 0
    assert support_of_numbers(loop, Shown(loop)).share == 1
    assert names.names("A" * N + "@") == names.names("A" + "1" * N + "@") == []
    assert longest_common_run(run_words("two words " * 20_000), run_words("two words " * 15_000)) == 30_000
    varied = " ".join(f"Word{i} of the results that we show in {i}." for i in range(150))
    assert 0 < rouge.rouge_lsum(varied, "The results that we show. " * 4000) < 1


def test_questions_of_strangers() -> None:
    with pytest.raises(ValueError, match="no paper and references"):
        _split_prompt("<Paper>\n\n" * N)
    with pytest.raises(ValueError, match="no paper and references"):
        _split_prompt("<Paper>\n\nx</Paper>\n\n<References>\n" + "<Candidate>Candidate [1]:\n" * N)
    for content in ("<Abstract>Abstract: " * N, "<Content>\n" * N):
        row = {"question": "Q", "candidate_text": "full", "candidates": [{"title": "T", "content": content}]}
        assert content in "".join(slot.text for slot in slots_of(row))
