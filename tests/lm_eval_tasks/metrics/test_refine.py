from __future__ import annotations

import itertools
import json
import lzma

import pytest

from lm_eval_tasks.families.writing import refine
from standins.places import DATA

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
        f'Certainly! Based on the content, a fitting title could be:\n\n**"{TITLE}"**',
        f'The title of the paper is "{TITLE}".',
        f'A suitable title for this paper would be: "{TITLE}"',
        f'I would suggest the title "{TITLE}".',
        f'How about "{TITLE}"?',
        f'"{TITLE}" would be a good title for this paper.',
        f'"{TITLE}" - This title reflects the work.',
        f"{TITLE} (Alternative: Another Title)",
        f"## Title\n\n{TITLE}",
        f"1. {TITLE}\n2. Another Title",
        f'1. "{TITLE}"',
        f"Here are a few title options:\n\n1. {TITLE}\n2. Another\n3. A third",
        f"Option 1: {TITLE}\nOption 2: Another Title",
        f"<title>{TITLE}</title>",
        f"\\title{{{TITLE}}}",
        f'{{"title": "{TITLE}"}}',
        f"[{TITLE}]",
        f"Title of the paper: {TITLE}",
        f"### Target Content Title: {TITLE}",
        f"**Answer:** {TITLE}",
        f'Title = "{TITLE}"',
        f"{TITLE}<|im_end|>",
        f"{TITLE}<end_of_turn>",
        f"---\n\n**{TITLE}**",
        f'```json\n{{\n  "title": "{TITLE}"\n}}\n```',
        f"<title>\n{TITLE}\n</title>",
        f"### Output\n{TITLE}",
        f"### Target Output: {TITLE}",
        f"**Title:** *{TITLE}*",
        f"**{TITLE}** - This title captures the essence of the paper.",
    ],
)
def test_a_title_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.title(answer) == TITLE


@pytest.mark.parametrize(
    "title",
    [
        "Here Be Dragons: Mapping Failure Modes",
        "Sure Independence Screening",
        "Titles and Abstracts",
        "Is Attention All You Need?",
        "A",
        "“Because” and Other Reasons",
        "Here Is What Models Know",
        "Okay Google: Voice Assistants at Home",
        "C# for Physicists",
        "This Is Not a Dataset: A Large Study of Negation",
        "Anytime Search with A*",
        "*-Free Grammars",
        "`Quoted': A Part of It",
        '"This" and "That"',
        "Title-Based Retrieval",
        "A Title-Based Approach",
        "*Foo* and *Bar*",
        "**Foo** vs **Bar**",
        "`Foo` and `Bar`",
        "Yes! We Can",
        "#MeToo on the Web",
        "> 90% Accuracy",
        "This Is the Answer: Models",
        "-1 Is Not a Number",
        "1. Introduction to Graphs",
        "A Good Title Would Be Short: Evidence from Journals",
        "Suggested Titles: A Corpus",
        '"Why Should I Trust You?": Explaining Predictions',
        "[Re] Attention in Practice",
        "Option Pricing with Networks",
        "<Mask> Tokens in Models",
        "How About That? Questions in Dialogue",
        "**Bold** Claims: *Italics*",
        "Output Feedback: A Study",
    ],
)
def test_a_title_stays_what_it_is(title: str) -> None:
    assert refine.title(title) == title


def test_what_the_target_has_itself_is_not_taken_off() -> None:
    for own in ('"Quoted as a Whole"', "Title: A Study of Labels", "Sure! Here's a title: Chatbots"):
        assert refine.title(own, own) == own
        assert refine.title(f"Here is the title:\n\n**{own}**\n\nIt says much.", own) == own
        assert refine.title(own, "Another Title") != own


@pytest.mark.data
@pytest.mark.slow
def test_no_real_title_changes() -> None:
    """A right answer stays right, however it is presented; and few titles depend on their target for that."""
    with lzma.open(DATA / "arxiv_meta.jsonl.xz", "rt") as lines:
        titles = [" ".join(json.loads(line)["title"].split()) for line in itertools.islice(lines, 0, None, 5)]
    lead = "Sure! Here is the title:\n\n"
    assert len(titles) > 30_000
    assert not [one for one in titles if refine.title(one, one) != one or refine.title(f"{lead}**{one}**", one) != one]
    # A few that are quoted as a whole, or hold one quote alone, depend on their target.
    assert sum(refine.title(one) != one for one in titles) <= 1
    assert sum(refine.title(f'{lead}"{one}"', one) != one for one in titles) <= 1


def test_nothing_is_nothing() -> None:
    assert refine.title("") == ""
    assert refine.title("\n \n") == ""
    assert refine.title("Sure, here is the title:") == ""


BODY = "We study routing.\n\nIt is sparse: few paths are taken."


@pytest.mark.parametrize(
    "answer",
    [
        BODY,
        f"### Abstract\n\n{BODY}",
        f"**Abstract**\n{BODY}",
        f"Abstract: {BODY}",
        f"# 1. Introduction\n\n{BODY}",
        f"2 Related Works\n{BODY}",
        f"### Abstract: {TITLE}\n\n{BODY}",
        f"Sure! Here is an abstract for the paper:\n\n### Abstract\n\n{BODY}",
        f"```markdown\n{BODY}\n```",
        f"{BODY}\n\nI hope this helps! Tell me if you need more.",
        f"{BODY}\n\n---\nLet me know if it is too long.",
        f"{BODY}<|im_end|>",
    ],
)
def test_a_text_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.text(answer) == BODY


@pytest.mark.parametrize(
    "text",
    [
        "Abstract interpretation is old.",
        "Introduction of species is common.\nIt harms.",
        "Here is what models know: much.",
        "Related work is scarce.",
        "The following holds: all graphs are sparse.\n\nI hope that this is read.",
    ],
)
def test_a_text_keeps_its_words(text: str) -> None:
    assert refine.text(text, text) == text
    assert text.endswith("read.") or refine.text(text) == text


def test_what_a_target_begins_with_stays() -> None:
    own = "Abstract: We study labels."
    assert (refine.text(own, own), refine.text(own, "Another")) == (own, "We study labels.")


@pytest.mark.parametrize(
    "answer",
    [
        "Certainly! Below is a draft introduction for the paper:\n\n---\n\n### Introduction\n\n{}",
        "---\n\n{}",
        "**Title:** A Name\n\n**Abstract:** {}",
        "{}\n\n**Word count:** 198",
        "{}\n\nWould you like me to adjust the length?",
    ],
)
def test_a_text_is_freed_of_rules_titles_and_offers(answer: str) -> None:
    own = "We study routing. It works well."
    assert refine.text(answer.format(own)) == own
