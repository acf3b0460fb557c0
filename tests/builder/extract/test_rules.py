"""One drawn page or two for each layout rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pymupdf
import pytest

from builder.errors import ExtractError
from builder.extract.front import title_of
from builder.extract.lines import Line, Page, _line, read_page
from builder.extract.pdf import read_pdf
from builder.extract.quality import fault, measure
from builder.extract.text import clean, text_lines
from builder.records import Document
from builder.round.tables import QualityTable
from standins.places import table_beside
from tests.helpers.drawing import BOLD, FILLER, ITALIC, ROMAN, Text, draw, stack, wrapped


def read(tmp_path: Path, *pages: list[Text], toc: list[list[object]] | None = None) -> Document:
    return read_pdf(draw(tmp_path / "paper.pdf", pages, toc or [])).document


def roles(document: Document) -> list[tuple[str, str, int]]:
    return [(section.heading, section.role, section.level) for section in document.sections]


def text_of(document: Document, heading: str) -> str:
    return next(section.text for section in document.sections if section.heading == heading)


def sections(*headings: str) -> list[tuple[str, str] | str]:
    """Headings with a paragraph below each; `h2:` and `h3:` begin those of lower levels."""
    items: list[tuple[str, str] | str] = []
    for heading in headings:
        style, is_lower, text = heading.partition(":")
        items += [(style, text) if is_lower else ("h1", heading), FILLER]
    return items


def headed(*headings: str, y: float = 80.0) -> list[Text]:
    return stack(*sections(*headings), y=y)


FRONT = [("title", "A Title of Some Length"), "Ann Author, Bob Author", ("h1", "Abstract"), FILLER]
BACK = [("h1", "References"), "[1] A. Ek. A cited title of note. Journal of Tests, 2020."]
PAPER = [
    *FRONT,
    ("h1", "1  Introduction"),
    FILLER + " FIRST",
    ("h1", "2  Related Work"),
    FILLER + " SECOND",
    ("h1", "3  Method"),
    FILLER,
    ("h2", "3.1  Setup"),
    FILLER + " SETUP",
    ("h1", "4  Conclusion"),
    FILLER + " LAST",
    *BACK,
]


def test_numbered_sections_get_number_role_and_level_and_title_and_abstract_are_none(tmp_path: Path) -> None:
    document = read(tmp_path, stack(*PAPER))
    assert roles(document) == [
        ("1 Introduction", "introduction", 1),
        ("2 Related Work", "related_work", 1),
        ("3 Method", "body", 1),
        ("3.1 Setup", "body", 2),
        ("4 Conclusion", "conclusion", 1),
        ("References", "references", 1),
    ]
    assert text_of(document, "1 Introduction").endswith("FIRST")
    assert text_of(document, "3.1 Setup").endswith("SETUP")
    assert document.title == "A Title of Some Length"
    assert document.abstract.startswith("The quick survey")


def test_unnumbered_sections(tmp_path: Path) -> None:
    document = read(tmp_path, headed("Introduction", "Our Way of Doing It", "Prior Work", "References"))
    assert roles(document) == [
        ("Introduction", "introduction", 1),
        ("Our Way of Doing It", "body", 1),
        ("Prior Work", "related_work", 1),
        ("References", "references", 1),
    ]


def test_roman_numbers_with_lettered_subsections(tmp_path: Path) -> None:
    document = read(
        tmp_path, headed("I.  INTRODUCTION", "II.  THE METHOD", "h3:A.  First Part", "III.  CONCLUSIONS", "REFERENCES")
    )
    assert roles(document) == [
        ("I INTRODUCTION", "introduction", 1),
        ("II THE METHOD", "body", 1),
        ("A First Part", "body", 2),
        ("III CONCLUSIONS", "conclusion", 1),
        ("REFERENCES", "references", 1),
    ]


def test_a_heading_over_two_lines_is_one(tmp_path: Path) -> None:
    texts = stack(("h1", "1  Introduction"), FILLER)
    texts += [Text(["2  A Long Heading that Goes on", "over a Second Line"], 72, 200, 12, BOLD)]
    texts += stack(FILLER, ("h1", "3  Conclusion"), FILLER, y=245)
    assert roles(read(tmp_path, texts))[1] == ("2 A Long Heading that Goes on over a Second Line", "body", 1)


def test_numbered_list_items_are_no_headings(tmp_path: Path) -> None:
    texts = stack(("h1", "1  Introduction"), FILLER)
    texts += [Text(["1. Take the first item of the list", "2. Take the second item of the list"], 90, 180)]
    texts += stack(FILLER, ("h1", "2  Method"), FILLER, ("h1", "3  Conclusion"), FILLER, y=230)
    assert [heading for heading, *_ in roles(read(tmp_path, texts))] == ["1 Introduction", "2 Method", "3 Conclusion"]


def test_bold_words_in_a_table_do_not_break_the_count(tmp_path: Path) -> None:
    texts = headed("1  Introduction", "2  Method", "7  Rows", "3  Conclusion")
    assert [heading for heading, *_ in roles(read(tmp_path, texts))] == ["1 Introduction", "2 Method", "3 Conclusion"]


def test_running_heads_and_page_numbers_are_not_text(tmp_path: Path) -> None:
    def page(number: int, *items: tuple[str, str] | str) -> list[Text]:
        head = "A Running Head of This Paper" if number % 2 else "Author et al."
        return [Text([head], 72, 40, 8), Text([str(number)], 300, 760, 9), *stack(*items)]

    pages = [page(1, ("h1", "1  Introduction"), FILLER)]
    pages += [
        page(n, f"{word} " * 30, FILLER)
        for n, word in enumerate("alpha beta gamma delta epsilon zeta eta".split(), start=2)
    ]
    text = text_of(read(tmp_path, *pages), "1 Introduction")
    assert "Running Head" not in text
    assert "et al" not in text
    assert not any(character.isdigit() for character in text)


def test_captions_and_small_print_are_not_text(tmp_path: Path) -> None:
    texts = stack(
        ("h1", "1  Introduction"),
        FILLER,
        "Figure 1: A caption in the size of the body that nobody should read.",
        FILLER,
        "Table 2. Another caption that nobody should read.",
        FILLER,
        ("small", "1 A footnote that nobody should read."),
    )
    texts += stack(("h1", "2  Conclusion"), FILLER, y=500)
    text = text_of(read(tmp_path, texts), "1 Introduction")
    assert "nobody should read" not in text
    assert text.count("The quick survey") == 3


def test_a_sentence_about_a_figure_is_text(tmp_path: Path) -> None:
    texts = stack(
        ("h1", "1  Introduction"),
        "Figure 1 shows what every reader should read.",
        FILLER,
        ("h1", "2  Conclusion"),
        FILLER,
    )
    assert "every reader should read" in text_of(read(tmp_path, texts), "1 Introduction")


def test_columns_written_row_by_row_are_sorted(tmp_path: Path) -> None:
    filler = wrapped(FILLER * 5, 44)
    left, right = (
        ["ALPHA words to begin the left column with", *filler, "OMEGA"],
        ["BETA words to begin the right one", *filler],
    )
    rows: list[Text] = [Text(["1  Introduction"], 72, 70, 12, BOLD)]
    for i, (a, b) in enumerate(zip(left, right, strict=False)):
        rows += [Text([a], 72, 100 + 12 * i), Text([b], 330, 100 + 12 * i)]
    rows.append(Text(["OMEGA at the end of the left column."], 72, 100 + 12 * len(right)))
    text = text_of(read(tmp_path, rows), "1 Introduction")
    assert text.index("ALPHA") < text.index("OMEGA") < text.index("BETA")


def test_words_broken_at_line_ends_are_joined_and_compounds_kept(tmp_path: Path) -> None:
    lines = [
        "This shows the sig-",
        "nificant gain of a well-",
        "known and state-of-the-",
        "art approach, and it is much",
        "too long for one line of the text.",
    ]
    document = read(
        tmp_path,
        [
            Text(["1  Introduction"], 72, 80, 12, BOLD),
            Text(lines, 72, 110),
            *stack(FILLER, ("h1", "2  Conclusion"), FILLER, y=190),
        ],
    )
    text = text_of(document, "1 Introduction")
    assert "the significant gain of a well-known and state-of-the-art approach" in text


def test_ligatures_are_resolved(tmp_path: Path) -> None:
    texts = stack(
        ("h1", "1  Introduction"),
        FILLER.replace("results", "e\ufb03cient \ufb01ndings"),
        ("h1", "2  Conclusion"),
        FILLER,
    )
    for text in texts:
        object.__setattr__(text, "font", "helv" if text.font == "tiro" else text.font)
    text = text_of(read(tmp_path, texts), "1 Introduction")
    assert "\ufb03" not in text
    assert "\ufb01" not in text


def test_line_numbers_of_review_versions_are_not_text(tmp_path: Path) -> None:
    body = wrapped(FILLER * 8, 80)
    numbers = [Text([f"{i:03d}"], 40, 102 + 12 * i, 7) for i in range(len(body))]
    lines = [Text([line], 72, 102 + 12 * i) for i, line in enumerate(body)]
    text = text_of(read(tmp_path, [Text(["1  Introduction"], 72, 80, 12, BOLD), *lines, *numbers]), "1 Introduction")
    assert not any(character.isdigit() for character in text)


def run_in(words: str, y: float) -> list[Text]:
    first, *rest = wrapped(FILLER * 3, 70)
    x = 77 + pymupdf.get_text_length(words, fontname=BOLD, fontsize=10)
    return [Text([words], 72, y, 10, BOLD), Text([first], x, y), Text(rest, 72, y + 12)]


def test_a_run_in_heading_of_related_work_in_the_introduction(tmp_path: Path) -> None:
    texts = stack(("h1", "1  Introduction"), FILLER)
    texts += run_in("Related work.", 180) + run_in("Our approach.", 320)
    texts += headed("2  Method", "3  Conclusion", y=460)
    document = read(tmp_path, texts)
    assert roles(document)[:3] == [
        ("1 Introduction", "introduction", 1),
        ("Related work", "related_work", 4),
        ("Our approach", "body", 4),
    ]
    assert text_of(document, "Related work").startswith("The quick survey")
    assert text_of(document, "Related work").count("The quick survey") == 3


def test_acknowledgements_that_run_in_behind_the_conclusion(tmp_path: Path) -> None:
    texts = stack(
        ("h1", "1  Introduction"), FILLER, ("h1", "2  Conclusion"), FILLER, "Acknowledgments. We thank all. " + FILLER
    )
    document = read(tmp_path, [*texts, *stack(("h1", "References"), "[1] A. Ek. A title. Tests, 2020.", y=400)])
    assert roles(document) == [
        ("1 Introduction", "introduction", 1),
        ("2 Conclusion", "conclusion", 1),
        ("Acknowledgements", "acknowledgements", 4),
        ("References", "references", 1),
    ]
    assert text_of(document, "Acknowledgements").startswith("We thank all.")
    assert "thank" not in text_of(document, "2 Conclusion")


def test_a_run_in_heading_elsewhere_is_text(tmp_path: Path) -> None:
    texts = headed("1  Introduction", "2  Method")
    texts += run_in("Related work.", 260) + stack(("h1", "3  Conclusion"), FILLER, y=420)
    assert [role for _, role, _ in roles(read(tmp_path, texts))] == ["introduction", "body", "conclusion"]


def test_an_appendix_before_the_references_ends_the_body(tmp_path: Path) -> None:
    document = read(tmp_path, headed("1  Introduction", "2  Conclusion", "Appendix", "References"))
    assert [role for _, role, _ in roles(document)] == ["introduction", "conclusion", "appendix", "references"]


def test_a_printed_table_of_contents_is_skipped(tmp_path: Path) -> None:
    contents = [*FRONT, ("h1", "Contents"), ("h1", "1  Introduction"), ("h1", "2  Conclusion")]
    paper = stack(("h1", "1  Introduction"), FILLER + " REAL", ("h1", "2  Conclusion"), FILLER)
    document = read(tmp_path, stack(*contents), paper)
    assert [heading for heading, *_ in roles(document)] == ["1 Introduction", "2 Conclusion"]
    assert text_of(document, "1 Introduction").endswith("REAL")


def test_the_outline_of_the_file_makes_headings_of_plain_lines(tmp_path: Path) -> None:
    texts = stack(("h1", "1  Introduction"), FILLER)
    texts += [Text(["2  An Unusual Way of Setting Headings"], 72, 190, 10.5, ITALIC)]
    texts += stack(FILLER, ("h1", "3  Conclusion"), FILLER, y=215)
    toc: list[list[object]] = [
        [1, "Introduction", 1],
        [1, "An Unusual Way of Setting Headings", 1],
        [1, "Conclusion", 1],
    ]
    assert ("2 An Unusual Way of Setting Headings", "body", 1) in roles(read(tmp_path, texts, toc=toc))


def test_notices_of_publishers_are_not_text(tmp_path: Path) -> None:
    notice = Text(
        ["Please cite this article as: A. Author, A Title of Some Length,", "Journal of Tests (2020)."], 72, 742, 10
    )
    texts = [*headed("1  Introduction", "2  Conclusion"), notice]
    assert "cite this article" not in "".join(section.text for section in read(tmp_path, texts).sections)


def test_heads_far_inside_the_page_go_when_they_repeat(tmp_path: Path) -> None:
    def page(word: str, *items: tuple[str, str] | str) -> list[Text]:
        return [Text(["A Title of Some Length"], 200, 118, 10), *stack(*items, f"{word} " * 40, FILLER, y=150)]

    pages = [
        page("alpha", ("h1", "1  Introduction")),
        *(page(w) for w in "beta gamma delta epsilon zeta".split()),
        page("eta", ("h1", "2  Conclusion")),
    ]
    assert "A Title" not in "".join(section.text for section in read(tmp_path, *pages).sections)


def test_a_box_called_summary_is_no_conclusion(tmp_path: Path) -> None:
    document = read(tmp_path, headed("1  Introduction", "Summary", "2  Method", "3  Conclusion"))
    assert [s.heading for s in document.sections if s.role == "conclusion"] == ["3 Conclusion"]


def test_labels_on_axes_do_not_say_how_sections_are_numbered(tmp_path: Path) -> None:
    """A page of charts: a known word without a number, as often as there are axes."""
    charts = [Text(["Model"], x, y, 12.0, BOLD) for x in (80.0, 250.0, 420.0) for y in (100.0, 300.0, 500.0, 700.0)]
    first = [*FRONT, *sections("1  Introduction", "2  How It Is Built")]
    last = [*sections("h2:2.1  The Parts", "3  What Came of It"), *BACK]
    document = read(tmp_path, stack(*first), charts, stack(*last))
    found = [heading for heading, _, _ in roles(document) if heading[:1].isdigit()]
    assert found == ["1 Introduction", "2 How It Is Built", "2.1 The Parts", "3 What Came of It"]
    assert roles(document)[-1] == ("References", "references", 1)


def test_numbers_that_count_up_outweigh_an_unnumbered_introduction(tmp_path: Path) -> None:
    paper = [*FRONT, *sections("Introduction", "1  Power", "2  Transport", "3  Buildings", "4  Farms"), *BACK]
    found = roles(read(tmp_path, stack(*paper)))
    numbered = [heading for heading, _, level in found if level == 1 and heading[:1].isdigit()]
    assert numbered == ["1 Power", "2 Transport", "3 Buildings", "4 Farms"]


def test_a_section_that_is_set_otherwise_is_found_by_its_subsections(tmp_path: Path) -> None:
    odd = [Text(["3  Buildings of Our Cities"], 72.0, 80.0, 11.0, ITALIC)]
    pages = [
        stack(*PAPER[:8]),
        odd + stack(FILLER, ("h2", "3.1  Setup"), FILLER, ("h2", "3.2  Parts"), FILLER, y=110.0),
        stack(("h1", "4  Conclusion"), FILLER, *BACK),
    ]
    reading = read_pdf(draw(tmp_path / "paper.pdf", pages))
    assert ("3 Buildings of Our Cities", "body", 1) in roles(reading.document)
    assert reading.headings_agree


def test_subsections_without_their_section_are_noticed(tmp_path: Path) -> None:
    pages = [
        stack(*PAPER[:8]),
        stack(FILLER, ("h2", "3.1  Setup"), FILLER, ("h2", "3.2  Parts"), FILLER),
        stack(("h1", "4  Conclusion"), FILLER, *BACK),
    ]
    reading = read_pdf(draw(tmp_path / "paper.pdf", pages))
    assert not reading.headings_agree
    assert fault(measure(reading), QualityTable(min_words=0, min_coverage=0)) == "headings_disagree"


def test_marks_of_footnotes_are_not_text(tmp_path: Path) -> None:
    def raised(before: str, mark: str, after: str, y: float) -> list[Text]:
        width = pymupdf.get_text_length(before, ROMAN, 10.0)
        small = pymupdf.get_text_length(mark, ROMAN, 6.0)
        return [
            Text([before], 72.0, y),
            Text([mark], 72.0 + width, y - 4.0, 6.0),
            Text([after], 72.0 + width + small, y),
        ]

    note = [Text(["2"], 72.0, 697.0, 5.0), Text(["A remark that is set in small print at the end."], 75.0, 700.0, 8.0)]
    page = [
        *stack(*PAPER[:5], FILLER),
        *raised("It was seen in two labs.", "2", " We say that x", 500.0),
        *raised("It grows as the sum of y", "2", " and of other terms, and", 515.0),
        *raised("as many as ten", "9", " more did.", 530.0),
        *note,
    ]
    text = text_of(read(tmp_path, page), "1 Introduction")
    assert "It was seen in two labs. We say that x" in text
    assert "sum of y^2 and" in text
    assert "as ten more" in text


def test_weak_names_count_where_no_other_heading_names_the_role(tmp_path: Path) -> None:
    weak = ["1  Introduction", "2  Existing Approaches", "3  Method", "4  Summary"]
    assert [role for _, role, _ in roles(read(tmp_path, headed(*weak)))] == [
        "introduction",
        "related_work",
        "body",
        "conclusion",
    ]
    plain = [*weak, "5  Related Work", "6  Conclusion"]
    assert [role for _, role, _ in roles(read(tmp_path, headed(*plain)))] == [
        "introduction",
        *["body"] * 3,
        "related_work",
        "conclusion",
    ]


def test_a_reference_list_without_a_heading(tmp_path: Path) -> None:
    entries = Text([f"[{i}] A. Ek, Phys. Rev. {i}, 10 (2001)." for i in range(1, 8)], 72, 420)
    document = read(
        tmp_path,
        [*stack(("h1", "I.  INTRODUCTION"), FILLER, ("h1", "II.  CONCLUSIONS"), FILLER, "We thank all."), entries],
    )
    assert roles(document)[-1] == ("References", "references", 1)
    assert [entry.label for entry in document.references] == list("1234567")
    assert "Phys. Rev." not in text_of(document, "II CONCLUSIONS")


def test_an_abstract_that_runs_in(tmp_path: Path) -> None:
    texts = [
        Text(["Abstract. A short account of what", "this paper does.", "Index Terms: tests, drawing"], 72, 120, 9, BOLD)
    ]
    document = read(tmp_path, [*texts, *headed("I.  INTRODUCTION", "II.  CONCLUSION", y=200)])
    assert document.abstract == "A short account of what this paper does."


def test_links_of_the_file_count_for_the_entries_they_lie_on(tmp_path: Path) -> None:
    entries = Text([f"[{i}] A. Ek. The title number {i} of a list. Tests, 2020." for i in range(1, 5)], 72, 420)
    path = draw(
        tmp_path / "paper.pdf", [[*stack(("h1", "1  Introduction"), FILLER, ("h1", "References"), y=300), entries]]
    )
    with pymupdf.open(path) as pdf:
        box = pdf[0].search_for("number 3")[0]
        pdf[0].insert_link({"kind": pymupdf.LINK_URI, "from": box, "uri": "https://arxiv.org/abs/2001.01234"})
        pdf.xref_set_key(pdf[0].annot_xrefs()[0][0], "A/URI", f"<efbbbf{b'https://arxiv.org/abs/2001.01234#'.hex()}ff>")
        pdf.save(tmp_path / "linked.pdf")
    found = [(entry.arxiv_id, entry.url) for entry in read_pdf(tmp_path / "linked.pdf").document.references]
    assert found == [(None, None)] * 2 + [("2001.01234", "https://arxiv.org/abs/2001.01234#\ufffd"), (None, None)]


def test_the_stamp_gives_the_id_and_is_not_text(tmp_path: Path) -> None:
    path = draw(tmp_path / "paper.pdf", [stack(*PAPER)])
    with pymupdf.open(path) as pdf:
        pdf[0].insert_text((30, 500), "arXiv:2601.01234v2  [cs.CL]  5 Jan 2026", fontsize=20, rotate=90)
        pdf.save(tmp_path / "stamped.pdf")
    document = read_pdf(tmp_path / "stamped.pdf").document
    assert document.stamped_id == "2601.01234v2"
    assert all("arXiv" not in section.text for section in document.sections)


def test_annotations_never_count_as_text(tmp_path: Path) -> None:
    path = draw(tmp_path / "paper.pdf", [stack(*PAPER)])
    with pymupdf.open(path) as pdf:
        pdf[0].add_freetext_annot(pymupdf.Rect(72, 300, 300, 340), "A READER WROTE THIS")
        pdf[0].add_text_annot((90, 320), "A READER WROTE THIS TOO")
        pdf.save(tmp_path / "annotated.pdf")
    assert "READER" not in "".join(section.text for section in read_pdf(tmp_path / "annotated.pdf").document.sections)


@pytest.mark.parametrize("content", [b"", b"<html><body>no</body></html>", b"%PDF-1.7\n" + b"junk " * 50])
def test_what_is_no_pdf_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(content)
    with pytest.raises(ExtractError) as caught:
        read_pdf(path)
    assert caught.value.reason in ("not_a_pdf", "no_pages")


def test_an_encrypted_file_and_one_without_text(tmp_path: Path) -> None:
    draw(tmp_path / "paper.pdf", [stack(*PAPER)])
    with pymupdf.open(tmp_path / "paper.pdf") as pdf:
        pdf.save(tmp_path / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    with pymupdf.open() as pdf:
        pdf.new_page()
        pdf.save(tmp_path / "empty.pdf")
    for name, reason in (("locked.pdf", "encrypted"), ("empty.pdf", "no_text_layer")):
        with pytest.raises(ExtractError) as caught:
            read_pdf(tmp_path / name)
        assert caught.value.reason == reason


def test_errors_pickle() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(ExtractError("crashed", "why")))
    assert (error.reason, error.detail, str(error)) == ("crashed", "why", "crashed: why")


def test_the_last_line_of_a_page_is_text_though_a_notice_ended_the_page_before(tmp_path: Path) -> None:
    notice = Text(["Preprint. Under review."], 72, 742, 10)
    second = Text([*wrapped(FILLER * 2), "and serves as the evidence."], 72, 655, 10)
    document = read(tmp_path, [*stack(("h1", "1  Introduction"), FILLER), notice], [second])
    assert text_of(document, "1 Introduction").endswith("evidence.")
    assert "Under review" not in text_of(document, "1 Introduction")


def test_a_label_in_a_figure_parts_no_sentence(tmp_path: Path) -> None:
    halves = (
        "The survey of the earlier results shows that the system",
        "is of use to the people who work with it. " + FILLER,
    )
    document = read(
        tmp_path,
        stack(("h1", "1  Introduction"), halves[0], ("h1", "Pattern Store"), halves[1], ("h1", "2  Method"), FILLER),
    )
    assert text_of(document, "1 Introduction").startswith(" ".join(halves))
    assert [section.heading for section in document.sections] == ["1 Introduction", "2 Method"]


def test_a_letter_without_sections_has_a_title_and_an_abstract(tmp_path: Path) -> None:
    letter = [
        *stack(("h1", "A Title of a Letter"), "Ann Author", ("small", FILLER), y=72),
        Text(wrapped(("Body of the letter. " + FILLER) * 6), 72, 200, 10),
        *stack(("h1", "References"), "[1] A. Ek. A cited title of note. Journal of Tests, 2020.", y=600),
    ]
    document = read(tmp_path, letter)
    assert (document.title, document.abstract) == ("A Title of a Letter", FILLER)
    assert [(section.heading, section.role) for section in document.sections] == [
        ("", "body"),
        ("References", "references"),
    ]
    assert document.sections[0].text.startswith("Body of the letter.")


def test_a_goal_opens_a_paper_that_has_no_introduction(tmp_path: Path) -> None:
    document = read(tmp_path, headed("Abstract", "1  Goal", "2  Motivation"))
    assert [role for _, role, _ in roles(document)] == ["introduction", "body"]


@pytest.mark.parametrize(("lines", "title"), table_beside(__file__, "front_titles.json"))
def test_titles_end_where_the_authors_begin(lines: list[tuple[float, int, str]], title: str) -> None:
    front = [
        Line(0, 72, 20.0 * i, 500, 20.0 * i + size, text, size, set_in == 1, italic=False, small_caps=set_in == 2)
        for i, (size, set_in, text) in enumerate(lines)
    ]
    assert title_of(front, 10) == title


def test_a_heading_says_that_it_is_a_section(tmp_path: Path) -> None:
    paper = (("h1", "Section 1: Introduction"), FILLER, ("h1", "SECTION 2. Method"), FILLER)
    assert roles(read(tmp_path, stack(*paper))) == [("1 Introduction", "introduction", 1), ("2 Method", "body", 1)]


def test_a_number_drawn_after_its_words(tmp_path: Path) -> None:
    words = [Text([word], 90, y, 12, BOLD) for word, y in (("Introduction", 80), ("Method", 200), ("Conclusion", 320))]
    numbers = [Text([str(i)], 72, y, 12, BOLD) for i, y in ((1, 80), (2, 200), (3, 320))]
    text = [Text(wrapped(FILLER), 72, y + 20, 10) for y in (80, 200, 320)]
    document = read(tmp_path, [*words, *numbers, *text])
    assert [section.heading for section in document.sections] == ["1 Introduction", "2 Method", "3 Conclusion"]


def test_a_tables_column_called_references_is_no_list(tmp_path: Path) -> None:
    table = [("h1", "References"), "A first cell", "Another cell"]
    entries = [f"[{i}] A. Ek. A cited title of note. Journal of Tests, 2020." for i in range(1, 5)]
    paper = [*sections("1  Introduction"), *table, FILLER * 4, *sections("2  Conclusion"), ("h1", "References")]
    document = read(tmp_path, stack(*paper, *entries))
    assert [section.role for section in document.sections] == ["introduction", "conclusion", "references"]
    assert len(document.references) == 4


def test_a_column_with_years_between_sections_is_no_list(tmp_path: Path) -> None:
    table = [("h1", "References"), "Ek, 2019", "Alm, 2020"]
    entries = [f"[{i}] A. Ek. A cited title of note. Journal of Tests, 2020." for i in range(1, 5)]
    behind = [("h1", "A  Overview"), FILLER, ("h2", "References"), "Ek, 2019"]
    paper = [("h1", "1  Introduction"), FILLER, ("h1", "2  Method"), *table, FILLER, ("h1", "3  Conclusion"), FILLER]
    document = read(tmp_path, stack(*paper, ("h1", "References"), *entries, *behind))
    assert [section.role for section in document.sections][:4] == ["introduction", "body", "conclusion", "references"]
    assert (len(document.references), roles(document)[-1]) == (4, ("A Overview", "appendix", 1))


def test_sections_of_the_body_may_be_called_like_those_of_its_end(tmp_path: Path) -> None:
    names = (
        "1  Introduction",
        "2  Checklist for Snow Studies",
        "3  Appendix Detection in Images",
        "4  Funding for Lakes",
    )
    document = read(tmp_path, stack(*sections(*names, "5  Conclusion"), *BACK))
    assert [section.role for section in document.sections] == [
        "introduction",
        *["body"] * 3,
        "conclusion",
        "references",
    ]


@pytest.mark.parametrize("line", ["Prior work on small lakes", "The proposed method", "Existing approaches mostly"])
def test_a_line_that_begins_a_sentence_is_no_heading(tmp_path: Path, line: str) -> None:
    text = [Text([line, "goes on in the next line and says more of it.", *wrapped(FILLER)], 72, 300, 10)]
    paper = [*stack(("h1", "1  Introduction"), FILLER), *text, *stack(("h1", "2  Conclusion"), FILLER, y=560)]
    document = read(tmp_path, paper)
    assert [section.heading for section in document.sections] == ["1 Introduction", "2 Conclusion"]
    assert f"{line} goes on in the next line" in document.sections[0].text


def test_bare_numbers_that_count_with_the_pages_are_no_text() -> None:
    def page(number: int) -> Page:
        texts = ["Text of a page that goes on.", str(number + 7), "40"]
        lines = (
            Line(number, 72, y, 500, y + 10, text, 10, False, False)
            for y, text in zip((300, 560, 400), texts, strict=True)
        )
        # A row of a table.
        row = (Line(number, x, 450, x + 10, 460, "0", 10, False, False) for x in (100, 200, 300) if number == 1)
        return Page(600, 800, (*lines, *row))

    kept = [line.text for line in text_lines([page(i) for i in range(4)])]
    often = ["Text of a page that goes on.", "40"]
    assert kept == [*often * 2, "0", "0", "0", *often * 2]


def test_a_heading_in_small_capitals_may_have_a_formula() -> None:
    pieces = [
        ("2.1 G", 10, 4, "Roman"),
        ("ROUNDING MUSIC DATA", 8, 4, "Roman"),
        (", ", 10, 4, "Roman"),
        ("x", 10, 6, "CMMI10"),
    ]
    spans = [{"text": text, "size": size, "flags": flags, "font": font} for text, size, flags, font in pieces]
    line = _line(0, (72, 300, 400, 310), [*spans, {**spans[-1], "text": "music", "size": 7}], True)
    assert line is not None and (line.small_caps, line.size, line.italic) == (True, 10, False)


def test_a_run_in_heading_may_follow_blanks() -> None:
    fonts = {"  ": "Roman", " Related work. ": "Roman-Bold", "Others counted fish.": "Roman"}
    spans = [{"text": text, "size": 10.0, "flags": 0, "font": font} for text, font in fonts.items()]
    line = _line(0, (72, 300, 400, 310), spans, True)
    assert line is not None and line.text[: line.run_in] == "Related work. "


@pytest.mark.parametrize("text", ["We see", "We see the text of the section on the same line,"])
@pytest.mark.parametrize("number", ["3.1", "3.1.2"])
def test_a_run_in_heading_ends_where_its_type_ends(tmp_path: Path, number: str, text: str) -> None:
    lead = "Measures of Success."
    x = 105 + pymupdf.get_text_length(lead, fontname=BOLD, fontsize=10)
    first = [Text([number], 72, 300), Text([lead], 100, 300, 10, BOLD), Text([text], x, 300)]
    method = [*stack(("h1", "3  Method"), FILLER), *first, Text(wrapped(FILLER), 72, 312)]
    document = read(tmp_path, [*method, *stack(("h1", "4  Conclusion"), FILLER, y=560)])
    assert text_of(document, f"{number} Measures of Success").startswith(f"{text} The quick survey")


def test_a_paragraph_below_a_heading_is_no_part_of_it(tmp_path: Path) -> None:
    x = 77 + pymupdf.get_text_length("Implementation", fontname=BOLD, fontsize=10)
    first = [Text(["4.1  Setup"], 72, 300, 10, BOLD), Text(["Implementation"], 72, 317, 10, BOLD)]
    first += [Text(["Our way is"], x, 317), Text(wrapped(FILLER), 72, 329)]
    method = [*stack(("h1", "4  Method"), FILLER), *first]
    document = read(tmp_path, [*method, *stack(("h1", "5  Conclusion"), FILLER, y=560)])
    assert text_of(document, "4.1 Setup").startswith("Implementation Our way is The quick survey")


def test_appendices_count_beyond_roman_letters_and_have_subsections(tmp_path: Path) -> None:
    named = [f"{letter}  More on {letter}" for letter in "ABCDEFGHIJK"]
    named.insert(9, "h2:I.1  Proofs")
    pages = [stack(*PAPER), headed(*named[:4]), headed(*named[4:8]), headed(*named[8:])]
    found = [(heading, role) for heading, role, _ in roles(read(tmp_path, *pages))][6:]
    assert [heading[0] for heading, _ in found] == [*"ABCDEFGHIIJK"] and {role for _, role in found} == {"appendix"}


def test_appendices_may_be_counted_from_one_again(tmp_path: Path) -> None:
    again = headed("1  More Proofs", "h2:1.1  A Lemma", "2  More Data")
    found = roles(read(tmp_path, stack(*PAPER), again))[6:]
    assert found == [("1 More Proofs", "appendix", 1), ("1.1 A Lemma", "appendix", 2), ("2 More Data", "appendix", 1)]


@pytest.mark.parametrize("ends", [True, False])
def test_subsections_in_the_type_of_the_text_are_told_by_their_numbers(tmp_path: Path, ends: bool) -> None:
    heading = "3.1.1  Rivers in the News." if ends else "3.1.1  Rivers in the News"
    below = [f"{heading} Here we go on", *wrapped(FILLER)] if ends else wrapped(FILLER)
    text = [Text([heading], 72, 300, 10), Text(below, 72, 324, 10)][ends:]
    method = [*stack(("h1", "3  Method"), FILLER, ("h2", "3.1  Setup"), "We begin."), *text]
    document = read(tmp_path, [*method, *stack(("h1", "4  Conclusion"), FILLER, y=560)])
    assert text_of(document, "3.1.1 Rivers in the News").startswith("Here we go on" if ends else "The quick survey")


def test_a_row_of_a_table_named_like_a_section_is_no_heading(tmp_path: Path) -> None:
    rows = [Text(["BitNet"], 72, y, 10, BOLD) for y in (300, 340, 380)]
    pages = [*stack(("h1", "1  Introduction"), FILLER), *rows, *stack(("h1", "2  BitNet"), FILLER, y=420)]
    last = stack(("h1", "3  Conclusion"), FILLER)
    toc: list[list[object]] = [[1, "Introduction", 1], [1, "BitNet", 1], [1, "Conclusion", 2]]
    found = roles(read(tmp_path, pages, last, toc=toc))
    assert [name for name, *_ in found] == ["1 Introduction", "2 BitNet", "3 Conclusion"]


def test_lines_of_an_algorithm_are_no_headings(tmp_path: Path) -> None:
    printed = ("Rivers", "end for", "Lakes", "else", "Ponds")
    lines = [Text([text], 72, 300 + 24 * i, 10, BOLD) for i, text in enumerate(printed)]
    pages = [*stack(("h1", "Introduction"), FILLER), *lines, *stack(FILLER, ("h1", "Conclusion"), FILLER, y=440)]
    names = [name for name, *_ in roles(read(tmp_path, pages))]
    assert "Lakes" in names and not {"end for", "else"} & set(names)


def test_a_heading_joins_a_word_that_its_line_divides(tmp_path: Path) -> None:
    heading = Text(["4  Training as a Dynamical Sys-", "tem"], 72, 320, 12, BOLD)
    pages = [*stack(("h1", "1  Introduction"), FILLER), heading, *stack(FILLER, ("h1", "5  Conclusion"), FILLER, y=380)]
    assert "4 Training as a Dynamical System" in [each for each, *_ in roles(read(tmp_path, pages))]


def test_large_symbols_of_tex_have_their_meaning(tmp_path: Path) -> None:
    path = draw(tmp_path / "paper.pdf", [[*stack(*PAPER), Text(["X"], 72, 700, 10, "cour"), Text(["a"], 80, 700)]])
    with pymupdf.open(path) as pdf:
        font = next(xref for xref in range(1, pdf.xref_length()) if pdf.xref_get_key(xref, "BaseFont")[1] == "/Courier")
        pdf.xref_set_key(font, "BaseFont", "/CMEX10")
        pdf.saveIncr()
    with pymupdf.open(path) as pdf:
        assert any("∑" in line.text for line in read_page(pdf[0]).lines)
    assert clean("f(\x14x\x15) \uf8f1 \ue123a\x8f") == "f(x) ⎧ a"


def test_a_paper_without_headings_is_none(tmp_path: Path) -> None:
    assert not read(tmp_path, *[[Text(wrapped(FILLER * 12), 72, 80, 10)] for _ in range(4)]).sections


def test_a_first_heading_below_a_larger_title_stays(tmp_path: Path) -> None:
    paper = [*FRONT[:2], *sections("Rivers in the News"), ("h1", "References"), "[1] A."]
    assert roles(read(tmp_path, stack(*paper)))[0] == ("Rivers in the News", "body", 1)


@pytest.mark.parametrize(
    "cover", ["box", "strips", "tiles", "stroke", "frame", "image", "image on a turned page", "image below"]
)
def test_text_below_boxes_a_thick_line_or_an_image_is_hidden(tmp_path: Path, cover: str) -> None:
    path = draw(tmp_path / "paper.pdf", [[*stack(*PAPER), Text(["What was first said here."], 72, 700, 10)]])
    with pymupdf.open(path) as pdf:
        white = dict[str, Any](color=(1, 1, 1), fill=(1, 1, 1), width=0, overlay=True)
        for i in range({"strips": 4, "tiles": 20}.get(cover, 0)):
            box = (60, 688 + 4 * i, 400, 692 + 4 * i) if cover == "strips" else (60 + 15 * i, 688, 75 + 15 * i, 706)
            pdf[0].draw_rect(box, **white)
        if cover == "box":
            pdf[0].draw_rect((60, 685, 400, 706), color=None, fill=(1, 1, 1), overlay=True)
        if cover == "stroke":
            pdf[0].draw_line((60, 697), (400, 697), color=(1, 1, 1), width=20, overlay=True)
        if cover == "frame":
            pdf[0].draw_rect((60, 685, 400, 706), color=(1, 1, 1), width=1, overlay=True)
        if cover.startswith("image"):
            picture = pymupdf.Pixmap(pymupdf.csRGB, (0, 0, 34, 2), False)
            picture.clear_with(255)
            place = pymupdf.Rect(60, 685, 400, 706)
            pdf[0].insert_image(place, pixmap=picture, keep_proportion=False, overlay=cover != "image below")
        if cover == "box":
            pdf[0].insert_text((72, 700), "What is said in its place.", fontname=ROMAN, fontsize=10)
        pdf[0].set_rotation(90 if "turned" in cover else 0)
        pdf.saveIncr()
    text = "".join(section.text for section in read_pdf(path).document.sections)
    assert ("first said" in text) == (cover in ("frame", "image below"))
    assert ("in its place" in text) == (cover == "box")
