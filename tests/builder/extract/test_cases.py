"""Small inputs after public reports of tools that read papers: what each must give."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from builder.extract import quality
from builder.extract.html import read_html
from builder.extract.jats import read_jats
from builder.extract.pdf import read_pdf
from builder.families.writing.prepare import has_debris, is_unreadable
from builder.records import Document, Drop, Paper
from builder.round.tables import QualityTable
from builder.sources.jats.front import paper_of
from builder.sources.jats.markup import read_article
from standins.places import DATA

pytestmark = [pytest.mark.data]
CASES = DATA / "cases"


def introduction(document: Document) -> str:
    return "\n".join(section.text for section in document.sections if section.role == "introduction")


@pytest.mark.parametrize("name", ["02_h_section_sign", "11_h_zero"])
def test_numbers_in_other_forms_are_numbers(name: str) -> None:
    document = read_pdf(CASES / "pdf" / f"{name}.pdf").document
    assert document.abstract
    roles = [section.role for section in document.sections]
    assert roles[:2] == ["introduction", "related_work"]
    assert roles[-1] == "references"


def test_text_behind_an_abstract_is_an_introduction() -> None:
    document = read_pdf(CASES / "pdf" / "21_no_intro_heading.pdf").document
    assert 30 < len(document.abstract.split()) < 100
    assert document.sections[0].role == "introduction"
    assert len(introduction(document).split()) > 150


@pytest.mark.parametrize("name", ["01_white", "03_mode3", "43_white_between_lines"])
def test_what_nobody_sees_is_not_read(name: str) -> None:
    read = read_pdf(CASES / "pdf" / f"{name}.pdf")
    assert read.hidden > 30
    assert "instructions" not in str(read.document).casefold()


def test_a_target_in_a_font_without_a_map_is_left_out() -> None:
    document = read_pdf(CASES / "pdf" / "23_intro_shifted.pdf").document
    assert is_unreadable(introduction(document))
    assert not is_unreadable(introduction(read_pdf(CASES / "pdf" / "00_plain.pdf").document))


@pytest.mark.parametrize("name", ["01_undef_placeholders", "21_raw_latex_shown"])
def test_a_target_with_what_tex_left_is_left_out(name: str) -> None:
    assert has_debris(introduction(read_html(CASES / "html" / f"{name}.html").document))


def test_citations_and_labels_that_tex_could_not_resolve_are_debris() -> None:
    for bad in ("[undefab, undefd]", "[doe2019ice, roe2020]", "As Fig. ? shows", "[11, ?]", "\\addbibresource{x.bib}"):
        assert has_debris(f"This is so {bad} here."), bad
    for bad in (
        "(doe2019ice)",
        "[devlin-etal-2019-bert]",
        "[DoeEtAl2019]",
        "(author?) [12]",
        "Error! Bookmark not defined.",
        "LABEL:sec:one",
        "(undefa, undefb)",
        "[e.g., undefb]",
        "[doe:2019:ice]",
        "\\pgfplotsset{}",
    ):
        assert has_debris(f"This is so {bad} here."), bad
    for good in ("Is it in the Table? Yes.", "[Vaswani2017]", "[Doe2019; Roe2020]", "[11, 12]", "Why Figure 3?"):
        assert not has_debris(f"This is so {good} here."), good


def test_an_abstract_that_is_a_section_is_no_content() -> None:
    document = read_html(CASES / "html" / "14_no_abstract_class.html").document
    assert document.abstract
    assert "Abstract" not in [section.heading for section in document.sections]


@pytest.mark.parametrize(("name", "tex"), [("01_tex_only", "\\"), ("03_tex_only_in_abstract", "\\alpha")])
def test_formulas_of_tex_alone_are_read(name: str, tex: str) -> None:
    document = read_jats(CASES / "jats" / f"{name}.xml").document
    assert tex in document.abstract + introduction(document)
    assert "\ufffc" not in document.abstract


def test_a_retracted_article_is_no_paper() -> None:
    found = paper_of(read_article(CASES / "jats" / "07_retracted_in_title.xml"))
    assert isinstance(found, Drop)
    assert found.reason == "withdrawn"


def test_a_month_may_be_a_word() -> None:
    paper = paper_of(read_article(CASES / "jats" / "04_month_as_word.xml"))
    assert isinstance(paper, Paper)
    assert paper.published == date(2026, 4, 3)


def test_parts_that_outweigh_the_rest_are_doubtful() -> None:
    read = read_pdf(CASES / "pdf" / "00_plain.pdf")
    measured = quality.measure(read)
    assert quality.fault(measured, QualityTable()) is None
    for limits, reason in (
        (QualityTable(max_abstract_words=measured.abstract_words - 1), "long_abstract"),
        (QualityTable(max_introduction=measured.introduction - 0.01), "long_introduction"),
    ):
        assert quality.fault(measured, limits) == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "abstract"), [("2511.16478", "Music Recommender Systems"), ("2603.00069", "In this research, we analyze")]
)
def test_abstracts_of_new_papers_without_a_heading(name: str, abstract: str) -> None:
    [file] = (DATA / "new" / "pdf").glob(f"{name}*.pdf")
    assert read_pdf(Path(file)).document.abstract.startswith(abstract)


@pytest.mark.slow
def test_lines_that_repeat_near_an_edge_take_no_others_with_them() -> None:
    [file] = (DATA / "new" / "pdf").glob("2511.07671*.pdf")
    document = read_pdf(file).document
    assert len(document.references) > 60
    assert "references" in [section.role for section in document.sections]
