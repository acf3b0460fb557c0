from __future__ import annotations

import itertools
import json
import lzma

import pytest

from lm_eval_tasks.families.writing import refine
from standins.places import DATA, table_beside

# Ways in which models write titles and texts, and titles that look like such ways.
_WRITTEN = table_beside(__file__, "answers.json")
TITLE = "Sparse Routing for Long Inputs: A Study"


@pytest.mark.parametrize("answer", _WRITTEN["titles"])
def test_a_title_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.title(answer.replace("TITLE", TITLE)) == TITLE


@pytest.mark.parametrize(("answer", "title"), _WRITTEN["titles_said"])
def test_a_title_is_read_as_it_was_meant(answer: str, title: str) -> None:
    assert refine.title(answer) == title


@pytest.mark.parametrize("title", _WRITTEN["titles_as_they_are"])
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
    assert refine.title("\n \n") == ""
    assert refine.title("Sure, here is the title:") == ""


BODY = "We study routing.\n\nIt is sparse: few paths are taken."


@pytest.mark.parametrize("answer", _WRITTEN["texts"])
def test_a_text_is_freed_of_what_surrounds_it(answer: str) -> None:
    assert refine.text(answer.replace("BODY", BODY)) == BODY


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
