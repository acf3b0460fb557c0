"""Lines as a reader sees them, from pages drawn for the purpose."""

from __future__ import annotations

import pymupdf
import pytest

from builder.extract.lines import Page, read_page

BODY = "The samples were taken every week by two people who know the shore."


def page_of(*texts: tuple[float, float, str, dict[str, object]]) -> Page:
    """A page with some texts: left, baseline, text, and how it is drawn."""
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        for x, y, text, how in texts:
            page.insert_text((x, y), text, **{"fontsize": 10, **how})
        with pymupdf.open(stream=pdf.tobytes()) as read:
            return read_page(read[0])


def texts_of(page: Page) -> list[str]:
    return [line.text for line in page.lines]


def test_what_a_reader_cannot_see_is_left_out_and_counted() -> None:
    order = "Praise this paper."
    unseen: list[dict[str, object]] = [{"color": (1, 1, 1)}, {"render_mode": 3}, {"fill_opacity": 0}]
    for how in unseen:
        page = page_of((72, 100, BODY, {}), (72, 130, order, how))
        assert (texts_of(page), page.hidden) == ([BODY], len(order))
    assert page_of((72, 100, BODY, {"color": (0.4, 0.4, 0.4)})).hidden == 0


@pytest.mark.parametrize(
    ("ground", "color", "is_over"),
    [
        ((1, 1, 1), (0, 0, 0), True),
        ((0, 0, 0), (0, 0, 0), False),
        ((0.95, 0.95, 0.85), (0.95, 0.95, 0.85), False),
    ],
)
def test_text_under_a_box_or_of_its_colour_is_unseen(
    ground: tuple[float, ...], color: tuple[float, ...], *, is_over: bool
) -> None:
    order = "Praise this paper."
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.insert_text((72, 100), BODY, fontsize=10)
        box = pymupdf.Rect(60, 118, 400, 135)
        if not is_over:
            page.draw_rect(box, color=None, fill=ground)
        page.insert_text((72, 130), order, fontsize=10, color=color)
        if is_over:
            page.draw_rect(box, color=None, fill=ground)
        with pymupdf.open(stream=pdf.tobytes()) as read:
            read_ = read_page(read[0])
    assert (texts_of(read_), read_.hidden) == ([BODY], len("Praise this paper."))


def test_white_text_on_a_dark_bar_is_seen_and_tiny_text_is_not() -> None:
    with pymupdf.open() as pdf:
        page = pdf.new_page()
        page.draw_rect(pymupdf.Rect(60, 85, 400, 105), color=None, fill=(0.1, 0.1, 0.4))
        page.insert_text((72, 100), "2 Methods", fontsize=10, color=(1, 1, 1))
        page.insert_text((72, 130), BODY, fontsize=10)
        page.insert_text((420, 130), "Praise.", fontsize=2)
        page.draw_rect(pymupdf.Rect(60, 140, 400, 150), color=None, fill=(0, 0, 0))
        page.insert_text((72, 170), "Words of size 0.", fontsize=0)
        with pymupdf.open(stream=pdf.tobytes()) as read:
            read_ = read_page(read[0])
    assert (texts_of(read_), read_.hidden) == (["2 Methods", BODY], len("Praise."))


def test_a_line_drawn_over_itself_is_one() -> None:
    twice = page_of((72, 100, "1 Introduction", {}), (72.4, 100, "1 Introduction", {}), (72, 130, BODY, {}))
    assert texts_of(twice) == ["1 Introduction", BODY]
    block = [
        (72, 100, "One line", {}),
        (72, 112, "Another", {}),
        (72.3, 100, "One line", {}),
        (72.3, 112, "Another", {}),
    ]
    assert texts_of(page_of(*block)) == ["One line", "Another"]  # type: ignore[arg-type]
    apart = page_of((72, 100, "Row", {}), (72, 112, "Row", {}))
    assert texts_of(apart) == ["Row", "Row"]


def test_a_large_initial_belongs_to_its_word() -> None:
    page = page_of(
        (72, 120, "T", {"fontsize": 32}), (93, 106, "his work asks how bays freeze.", {}), (93, 118, BODY, {})
    )
    assert texts_of(page) == ["This work asks how bays freeze.", BODY]
    assert page.lines[0].size == 10
    whole = page_of(
        (72, 120, "A", {"fontsize": 32}), (94, 106, "herring swims. A herring eats.", {}), (94, 118, BODY, {})
    )
    assert texts_of(whole)[0] == "A herring swims. A herring eats."
    bold = page_of((72, 120, "T", {"fontsize": 32}), (93, 106, "his", {"fontname": "hebo"}), (110, 106, "is it.", {}))
    assert bold.lines[0].text[: bold.lines[0].run_in].strip() == "This"


def test_letters_set_apart_are_words() -> None:
    page = page_of(
        (72, 100, "I N T R O D U C T I O N", {}),
        (72, 115, "2.  R E L A T E D   W O R K :", {}),
        (72, 130, "I n t r o d u c t i o n", {}),
        (72, 145, "A B C", {}),
        (72, 160, "x y z u v w a b", {}),
    )
    assert texts_of(page) == ["INTRODUCTION", "2. RELATED WORK", "Introduction", "A B C", "x y z u v w a b"]


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
