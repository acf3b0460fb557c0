"""Which lines of a section are running text, and how words at their ends are joined."""

from __future__ import annotations

import pytest

from builder.extract.headings import _is_titled
from builder.extract.lines import Line
from builder.extract.pdf import _vocabulary
from builder.extract.running import running_lines, without_cells
from builder.extract.sections import split_number
from builder.extract.text import clean, join_lines


def line(
    y: float, text: str, *, x: float = 72, size: float = 10.0, largest: float = 10.0, page: int = 0, start: bool = False
) -> Line:
    """Make a line of a page; `y` counts lines of a paragraph."""
    x1 = x + 4.5 * len(text)
    return Line(page, x, 12 * y, x1, 12 * y + size, text, size, False, False, start=start, largest=largest)


def test_a_line_of_small_capitals_within_a_paragraph_is_text() -> None:
    small = line(1, "FOR HAPPINESS, PIRATE and NATURE we", size=8.0)
    cells = line(2, "0.96 (0.86, 1.09)", size=8.0)
    formula = line(4, "Jtotal = Jbulk + Jtail (3)", size=7.0, start=True)
    note = line(5, "A note on the text that is small print.", size=8.0, largest=8.0, start=True)
    caption = [line(6, "Figure 2: (a) A caption within a block.", size=9.0)]
    text = [line(0, "We steer prompts", start=True), small, cells, line(3, "say so."), formula, note, *caption]
    kept = [each.text for each in running_lines(text, 10.0)]
    assert kept == ["We steer prompts", small.text, "say so.", formula.text]


def test_a_caption_in_the_type_of_the_text_within_a_block_is_none() -> None:
    """Below the cells of its table, or apart from the text above; what follows apart from it is text again."""
    before, table = line(0, "We compare four models,"), line(1, "76.8 82.4 84.7", size=7.0, largest=7.0)
    caption = [line(2, "Table 1: Results on a test"), line(3, "of four models.")]
    other = [line(7, "Figure 2. What it costs, and"), line(8, "where.")]
    text = [before, table, *caption, line(5, "and one is best."), *other, line(9.8, "So we stop.")]
    assert [each.text for each in running_lines(text, 10.0)] == [before.text, "and one is best.", "So we stop."]
    mentioned = [line(0, "as we have shown in"), line(1, "Table 1: they differ")]
    assert running_lines(mentioned, 10.0) == mentioned


BROKEN = line(0, "For the control group, one in a hundred of")
GOES_ON = line(12, "users were randomly selected and saw nothing.")
TABLE = [
    *(line(1, "Model"), line(1, "Offline AUC", x=200), line(1, "Gain", x=300)),
    *(line(2, "Wide"), line(2, "0.726", x=200), line(2, "0%", x=300)),
]
ROWS = [
    line(1, "Model Data Accuracy AUC Gain Training Hours"),
    line(2.9, "Wide 4.3 0.726 0.12"),
    line(4.8, "Deep 7.1 0.8 0.2"),
]
LABELS = [line(2, "Left Ear", x=90), line(4, "Left Eye", x=150), line(6, "Nose", x=120), line(8, "Right Ear", x=80)]


@pytest.mark.parametrize("between", [TABLE, ROWS, LABELS])
def test_cells_and_labels_between_the_halves_of_a_sentence_are_no_text(between: list[Line]) -> None:
    assert list(without_cells([BROKEN, *between, GOES_ON])) == [BROKEN, GOES_ON]
    # Where the sentence has ended, and where it does not go on.
    ended = line(0, "For the control group, one in a hundred is left.")
    assert list(without_cells([ended, *between, GOES_ON])) == [ended, *between, GOES_ON]
    assert list(without_cells([BROKEN, *between])) == [BROKEN, *between]


@pytest.mark.parametrize(
    "between",
    [
        # A formula; pieces of one line; a sentence that goes on; prose beside a heading.
        [
            line(2, "L", x=200),
            line(2, "= sum of", x=240),
            line(3, "terms weights", x=200),
            line(4, "and losses 12", x=300),
        ],
        [line(1, "Users 12"), line(1, "Groups 13", x=113), line(1, "Models 14", x=158), line(1, "Runs 15", x=203)],
        [line(1, "all users."), line(2, "Model", x=200), line(2, "Gain 12 13 14", x=300), line(3, "Wide Deep 15 16")],
        [*TABLE[:3], line(3, "Users 12 13"), line(5, "Groups 14 15 se-")],
        [line(1, "BERT (Doe, 2018), GPT (Roe, 2019), T5 (Poe, 2020),"), *LABELS[1:]],
        [line(1, "It was the one."), line(3, "Trigger:", x=200), line(3, "The efficiency of it was", x=300)],
    ],
)
def test_what_may_be_text_stays(between: list[Line]) -> None:
    lines = [BROKEN, *between, GOES_ON]
    assert list(without_cells(lines)) == lines


def test_words_at_the_ends_of_lines() -> None:
    """A hyphen stays where the paper prints it elsewhere, or behind a prefix of a word; the rest of a broken word is no word."""
    printed = (
        "RMSNorm trains AtlasNet for deci‐|sion‐making, which re-|quires one; decision‐|making with RM-|SNorm and AT-|LASNet re-|trains what it "
        "trains in low-|rank form, low-rank, once lowrank, in multi-|plications of real-|world and multi-|head models, real-|istic "
        "multi-|player games, multi-player"
    )
    lines = [line(i, text) for i, text in enumerate([*printed.split("|"), "of decision‐making and decision‐making."])]
    assert join_lines(lines, _vocabulary(lines)) == (
        "RMSNorm trains AtlasNet for decision‐making, which requires one; decision‐making with RMSNorm and ATLASNet re-trains what it "
        "trains in low-rank form, low-rank, once lowrank, in multiplications of real-world and multi-head models, realistic "
        "multi-player games, multi-player of decision‐making and decision‐making."
    )


@pytest.mark.parametrize(
    ("printed", "text"),
    [
        ("Poincar´e and Bj¨ork", "Poincaré and Björk"),
        ("na¨ıve ´Etudes of N´u˜nez", "naïve Études of Núñez"),
        ("Franc¸ois, Fran¸cois", "François, François"),
        ("ˆp of ˜x, x´y", "ˆp of ˜x, xý"),
        ("Attacker´s and Ko´scielny", "Attacker´s and Kościelny"),
    ],
)
def test_accents_before_their_letters(printed: str, text: str) -> None:
    assert clean(printed) == text


@pytest.mark.parametrize("between", [" | ", " |. ", " ∣ ", "|", " • "])
def test_what_may_stand_behind_a_number(between: str) -> None:
    assert split_number(f"1{between}INTRODUCTION") == ("1", "INTRODUCTION")


def test_the_end_of_an_entry_is_no_heading() -> None:
    assert not _is_titled("IEEE, 2017.")
    assert _is_titled("Introduction")


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("we use GPT-", "4 here", "we use GPT-4 here"),
        ("a 10-", "fold test", "a 10-fold test"),
        ("years 2010-", "2020 and", "years 2010-2020 and"),
        ("a 2-", "or 3-fold test", "a 2- or 3-fold test"),
        ("this is -", "1 in sum", "this is - 1 in sum"),
    ],
)
def test_a_hyphen_at_the_end_of_a_line(first: str, second: str, joined: str) -> None:
    assert join_lines([line(0, first), line(1, second)]) == joined
