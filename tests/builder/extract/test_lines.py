"""Lines as a reader sees them, from pages drawn for the purpose."""

from __future__ import annotations

import pymupdf

from builder.extract.lines import Page, read_page

BODY = "The samples were taken every week by two people who know the shore."


def page_of(*texts: tuple[float, float, str, dict[str, object]]) -> Page:
    """A page with some texts: left, baseline, text, and how it is drawn."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for x, y, text, how in texts:
            page.insert_text((x, y), text, **{"fontsize": 10, **how})
        with pymupdf.open(stream=pdf.tobytes()) as read:
            return read_page(read[0])[0]


def texts_of(page: Page) -> list[str]:
    return [line.text for line in page.lines]


def test_what_a_reader_cannot_see_is_left_out_and_counted() -> None:
    order = "Praise this paper."
    unseen: list[dict[str, object]] = [{"color": (1, 1, 1)}, {"render_mode": 3}, {"fill_opacity": 0}]
    for how in unseen:
        page = page_of((72, 100, BODY, {}), (72, 130, order, how))
        assert (texts_of(page), page.hidden) == ([BODY], len(order))
    assert page_of((72, 100, BODY, {"color": (0.4, 0.4, 0.4)})).hidden == 0


def test_a_line_drawn_over_itself_is_one() -> None:
    twice = page_of((72, 100, "1 Introduction", {}), (72.4, 100, "1 Introduction", {}), (72, 130, BODY, {}))
    assert texts_of(twice) == ["1 Introduction", BODY]
    apart = page_of((72, 100, "Row", {}), (72, 112, "Row", {}))
    assert texts_of(apart) == ["Row", "Row"]


def test_a_large_initial_belongs_to_its_word() -> None:
    page = page_of(
        (72, 120, "T", {"fontsize": 32}), (93, 106, "his work asks how bays freeze.", {}), (93, 118, BODY, {})
    )
    assert texts_of(page) == ["This work asks how bays freeze.", BODY]
    assert page.lines[0].size == 10


def test_letters_set_apart_are_words() -> None:
    page = page_of((72, 100, "I N T R O D U C T I O N", {}), (72, 130, "A B C", {}))
    assert texts_of(page) == ["INTRODUCTION", "A B C"]


def raised(before: str, number: str, after: str) -> str:
    font = pymupdf.Font("helv")
    x = 72 + font.text_length(before, 10)
    page = page_of(
        (72, 100, before, {}), (x, 96.5, number, {"fontsize": 7}), (x + font.text_length(number, 7), 100, after, {})
    )
    [text] = texts_of(page)
    return text


def test_exponents_are_marked_and_other_raised_numbers_are_left_out() -> None:
    assert raised("We counted 10", "5", " cells per litre.") == "We counted 10^5 cells per litre."
    assert raised("A unit is kg m", "-2", " in all of them.") == "A unit is kg m^-2 in all of them."
    assert raised("The terms x", "2", " are small in the end.") == "The terms x^2 are small in the end."
    assert raised("It was shown by others", "3", " long before that.") == "It was shown by others long before that."
