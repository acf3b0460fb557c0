from __future__ import annotations

import pytest

from lm_eval_tasks.metrics import refine

TITLE = "Sparse Routing for Long Inputs: A Study"


@pytest.mark.parametrize(
    "answer",
    [
        TITLE,
        f"  {TITLE}\n",
        f'"{TITLE}"',
        f"“{TITLE}”",
        f"**{TITLE}**",
        f"# {TITLE}",
        f"Title: {TITLE}",
        f"**Title:** {TITLE}",
        f'Title: "{TITLE}"',
        f"Sure, here is the title: {TITLE}",
        f"Sure! Here is the title:\n\n{TITLE}",
        f"Here is a title for the paper:\n**{TITLE}**",
        f"Here's a possible title: {TITLE}",
        f'Certainly! Here is the title:\n"{TITLE}"\n\nThis title captures the essence of the paper.',
        f"{TITLE}\n\nExplanation: it highlights the core theme.",
        f"The title is: {TITLE}",
        f"Suggested Title: {TITLE}",
    ],
)
def test_a_title_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.title(answer) == TITLE


@pytest.mark.parametrize(
    "title",
    [
        "Here Be Dragons: Mapping Failure Modes", "Sure Independence Screening", "Titles and Abstracts", "Is Attention All You Need?",
        "A", "“Because” and Other Reasons", "Here Is What Models Know", "Okay Google: Voice Assistants at Home", "C# for Physicists",
    ],
)  # fmt: skip
def test_a_title_stays_what_it_is(title: str) -> None:
    assert refine.title(title) == title


def test_nothing_is_nothing() -> None:
    assert refine.title("") == ""
    assert refine.title("\n \n") == ""
    assert refine.title("Sure, here is the title:") == ""


def test_reasoning_is_taken_off() -> None:
    assert refine.strip_reasoning("<think>first\nthen</think>\n\nAnswer") == ("Answer", False)
    assert refine.strip_reasoning("no opening</think> Answer") == ("Answer", False)
    assert refine.strip_reasoning("Answer") == ("Answer", False)


def test_unfinished_reasoning_is_an_empty_answer() -> None:
    assert refine.strip_reasoning("<think>and so on and") == ("", True)
    assert refine.strip_reasoning("<think>a</think> x <think>again") == ("", True)
