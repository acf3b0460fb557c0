from __future__ import annotations

import json
import lzma

import pytest
from lm_eval.api.instance import Instance

from lm_eval_tasks.metrics import refine
from lm_eval_tasks.runs import models
from tests.conftest import DATA

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
        f"**Title**: {TITLE}",
        f"**Here is the title:** {TITLE}",
        f"- {TITLE}",
        f"Here is: {TITLE}",
        f"``{TITLE}''",
        f'**"{TITLE}"**',
        f"## **Title: {TITLE}**",
        f"```text\n{TITLE}\n```",
        f"Title - {TITLE}",
        f'Sure! "{TITLE}"',
        f"> {TITLE}",
    ],
)
def test_a_title_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.title(answer) == TITLE


@pytest.mark.parametrize(
    "title",
    [
        "Here Be Dragons: Mapping Failure Modes", "Sure Independence Screening", "Titles and Abstracts", "Is Attention All You Need?",
        "A", "“Because” and Other Reasons", "Here Is What Models Know", "Okay Google: Voice Assistants at Home", "C# for Physicists",
        "This Is Not a Dataset: A Large Study of Negation", "Anytime Search with A*", "*-Free Grammars", "`Quoted': A Part of It",
        '"This" and "That"', "Title-Based Retrieval", "A Title-Based Approach", "*Foo* and *Bar*", "**Foo** vs **Bar**",
        "`Foo` and `Bar`", "Yes! We Can", "#MeToo on the Web", "> 90% Accuracy", "This Is the Answer: Models", "-1 Is Not a Number",
    ],
)  # fmt: skip
def test_a_title_stays_what_it_is(title: str) -> None:
    assert refine.title(title) == title


def test_what_the_target_has_itself_is_not_taken_off() -> None:
    for own in ('"Quoted as a Whole"', "Title: A Study of Labels", "Sure! Here's a title: Chatbots"):
        assert refine.title(own, own) == own
        assert refine.title(f"Here is the title:\n\n**{own}**\n\nIt says much.", own) == own
        assert refine.title(own, "Another Title") != own


@pytest.mark.data
def test_no_real_title_changes() -> None:
    """A right answer stays right, however it is presented; and few titles depend on their target for that."""
    with lzma.open(DATA / "arxiv_meta.jsonl.xz", "rt") as lines:
        titles = [" ".join(json.loads(line)["title"].split()) for line in lines]
    lead = "Sure! Here is the title:\n\n"
    assert len(titles) > 150_000
    assert not [one for one in titles if refine.title(one, one) != one or refine.title(f"{lead}**{one}**", one) != one]
    # A few that are quoted as a whole, or hold one quote alone, depend on their target.
    assert sum(refine.title(one) != one for one in titles) <= 5
    assert sum(refine.title(f'{lead}"{one}"', one) != one for one in titles) <= 5


def test_nothing_is_nothing() -> None:
    assert refine.title("") == ""
    assert refine.title("\n \n") == ""
    assert refine.title("Sure, here is the title:") == ""


def test_reasoning_is_taken_off() -> None:
    assert refine.strip_reasoning("<think>first\nthen</think>\n\nAnswer") == ("Answer", False)
    assert refine.strip_reasoning("no opening</think> Answer") == ("Answer", False)
    assert refine.strip_reasoning("Answer") == ("Answer", False)


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("<think>", "</think>"), ("<thinking>", "</thinking>"), ("<reasoning>", "</reasoning>"), ("[THINK]", "[/THINK]"),
        ("◁think▷", "◁/think▷"), ("<seed:think>", "</seed:think>"), ("analysis", "assistantfinal"),
        ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ],
)  # fmt: skip
def test_the_marks_of_reasoning_that_models_use(before: str, behind: str) -> None:
    thoughts = "We need a title.\n\nPerhaps this one?"
    assert refine.strip_reasoning(f"{before}{thoughts}{behind}The Answer") == ("The Answer", False)
    assert refine.strip_reasoning(f"{before}{thoughts}{behind}The Answer<|return|>") in (
        ("The Answer", False), ("The Answer<|return|>", False),
    )  # fmt: skip
    assert refine.strip_reasoning(f"{before}{thoughts}") == ("", True)


@pytest.mark.parametrize(
    "text", ["analysis of variance is a method", "analysis", "Analysis: final", "A final analysis"]
)
def test_plain_words_are_no_marks(text: str) -> None:
    assert refine.strip_reasoning(text) == (text, False)


def test_unfinished_reasoning_is_an_empty_answer() -> None:
    assert refine.strip_reasoning("<think>and so on and") == ("", True)
    assert refine.strip_reasoning("<think>a</think> x <think>again") == ("", True)


@pytest.mark.parametrize("mark", ["<think>", "[THINK]", "◁think▷", "<seed:think>"])
def test_a_mark_that_the_template_has_written_is_seen(mark: str) -> None:
    assert refine.opened(f"<|user|>A title?<|assistant|>\n{mark}\n") == mark
    assert refine.opened(f"{mark} in the middle") == ""
    assert refine.opened("") == ""


@pytest.mark.parametrize(
    ("prompt", "answer", "expected"),
    [
        ("Title?<|assistant|>\n<think>\n", "Okay, so the user wants", ("", True)),
        ("Title?<|assistant|>\n<think>\n", "I see.</think>\nThe Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n<think>\n", "<think>I see.</think>The Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n", "The Answer", ("The Answer", False)),
        ("Title?<|assistant|>\n<think>\n", "", ("", False)),
    ],
)
def test_an_answer_begins_where_the_template_has_begun_it(prompt: str, answer: str, expected: tuple[str, bool]) -> None:
    request = Instance("generate_until", {}, (prompt, {}), 0)
    assert refine.strip_reasoning(models._from_its_beginning(request, answer)) == expected
