"""Reasoning taken off answers, whatever marks a model uses."""

from __future__ import annotations

import jinja2
import pytest

from lm_eval_tasks.llm.thoughts import Reply, in_marks, marks_of, opening_mark, take_apart
from standins.places import table_beside

_MARKS = table_beside(__file__, "marks.json")


def parts(text: str, opens: str = "", closing: str = "") -> tuple[str, bool]:
    reply = take_apart(text, opens, closing)
    return reply.answer, reply.unfinished


def test_reasoning_is_taken_off() -> None:
    assert parts("Answer\n<details>Why</details>") == ("Answer\n<details>Why</details>", False)
    assert parts("<think>first\nthen</think>\n\nAnswer") == ("Answer", False)
    assert parts("no opening</think> Answer") == ("Answer", False)
    assert parts("Answer") == ("Answer", False)


@pytest.mark.parametrize(("before", "behind"), _MARKS["reasoning"])
def test_the_marks_of_reasoning_that_models_use(before: str, behind: str) -> None:
    thoughts = "We need a title.\n\nPerhaps this one?"
    assert parts(f"{before}{thoughts}{behind}The Answer") == ("The Answer", False)
    assert parts(f"{before}{thoughts}{behind}The Answer<|return|>") in (
        ("The Answer", False),
        ("The Answer<|return|>", False),
    )
    assert parts(f"{before}{thoughts}") == ("", True)


@pytest.mark.parametrize(
    "text", ["analysis of variance is a method", "analysis", "Analysis: final", "A final analysis"]
)
def test_plain_words_are_no_marks(text: str) -> None:
    assert parts(text) == (text, False)


def test_unfinished_reasoning_is_an_empty_answer() -> None:
    assert parts("<think>and so on and") == ("", True)
    assert parts("<think>a</think> x\n<think>again") == ("", True)


@pytest.mark.parametrize("mark", ["<think>", "[THINK]", "◁think▷", "<seed:think>"])
def test_a_mark_that_the_template_has_written_is_seen(mark: str) -> None:
    assert opening_mark(f"<|user|>A title?<|assistant|>\n{mark}\n") == mark
    assert opening_mark(f"{mark} in the middle") == ""
    assert opening_mark("") == ""


@pytest.mark.parametrize(
    ("template", "answer", "expected"),
    [
        ("Title?<|assistant|>\n<think>\n", "Okay, so the user wants", ("", True)),
        ("Title?<|assistant|>\n<think>\n", "I see.</think>\nThe Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n<think>\n", "<think>I see.</think>The Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n", "The Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n<think>\n", "", ("", False)),
    ],
)
def test_an_answer_begins_where_the_template_has_begun_it(
    template: str, answer: str, expected: tuple[str, bool]
) -> None:
    assert parts(answer, opening_mark(template)) == expected


def test_a_model_may_have_a_closing_mark_of_its_own() -> None:
    assert parts("so it is <done>The Answer", "", "<done>") == ("The Answer", False)
    assert parts("so it is", "<think>", "<done>") == ("", True)


def test_the_reasoning_is_kept_apart() -> None:
    assert take_apart("<think>hm</think> The Answer") == Reply("The Answer", "<think>hm</think>")
    for behind in ("<think>maybe The Other</think>", "\n<think>b</think>"):
        assert take_apart(f"<think>hm</think>The Answer{behind}") == Reply("The Answer", "<think>hm</think>")
    assert take_apart("<think>hm") == Reply("", "<think>hm", unfinished=True)
    assert take_apart("analysisHm. assistantfinalThe Answer") == Reply("The Answer", "analysisHm. assistantfinal")
    assert take_apart(in_marks("hm") + "The Answer").answer == "The Answer"
    assert in_marks("") == ""


@pytest.mark.parametrize(
    "text",
    [
        "We show that models emitting <think> tokens reason better.",
        "We study the </think> token of R1 models.",
        "analysis of variance",
        "analysis",
    ],
)
def test_marks_inside_an_answer_are_its_words(text: str) -> None:
    assert parts(text) == (text, False)
    assert parts(f"<think>hm</think>{text}") == (text, False)


@pytest.mark.parametrize(
    "begin", ["analysisthe user", "analysis We need", "analysis\nWe need", 'analysis"A title"', "\nanalysisWe need"]
)
def test_channels_without_special_tokens(begin: str) -> None:
    assert parts(f"{begin} something") == ("", True)
    assert parts(f"{begin} something.assistantfinalThe Answer") == ("The Answer", False)


def test_reasoning_apart_that_was_cut_off_is_unfinished() -> None:
    assert parts(in_marks("hm", closed=False)) == ("", True)


ANSWERED = "{% if m.role == 'assistant' %}BEFORE{{ m.content }}{% else %}{{ m.content }}{% endif %}"


@pytest.mark.parametrize(("before", "prompt", "marks", "opened"), _MARKS["templates"])
def test_a_template_says_how_its_model_thinks(before: str, prompt: str, marks: list[str], opened: str) -> None:
    each = "{% for m in messages %}<|{{ m.role }}|>" + ANSWERED.replace("BEFORE", before) + "{% endfor %}"
    template = jinja2.Template(each + "{% if add_generation_prompt %}<|assistant|>" + prompt + "{% endif %}")
    question = [{"role": "user", "content": "A title?"}]
    asked = template.render(messages=question, add_generation_prompt=True)
    assert marks_of(lambda answer: template.render(messages=[*question, answer]), asked) == tuple(marks)
    assert opening_mark(asked, marks[0]) == opened
    if marks[0]:
        assert take_apart(f"{'' if opened else marks[0]}Hm.", opened, marks[1], marks[0]).unfinished
        answer = take_apart(f"{'' if opened else marks[0]}Hm.{marks[1]}The Answer", opened, marks[1], marks[0])
        assert (answer.answer, answer.unfinished) == ("The Answer", False)


@pytest.mark.parametrize(
    "text",
    [
        "Sure.\n<think>hm</think>\nA",
        "assistant\n<think>hm</think>A",
        "<think>hm</think>\n\nFirst.\n\n<think>hm</think>\n\nA",
        "B\n<think>\nLet me check</think>\nA",
    ],
)
def test_thoughts_may_begin_on_a_line_of_their_own(text: str) -> None:
    assert parts(text) == ("A", False)
