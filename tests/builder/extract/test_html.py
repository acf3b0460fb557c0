from __future__ import annotations

import lzma
import re
from collections import Counter
from pathlib import Path

import pytest

from builder.errors import ExtractError
from builder.extract.html import read_html
from builder.extract.sections import role_span
from builder.records import Document, Role
from builder.sources.sample import draw, page
from builder.sources.sample.world import make_world
from standins.places import DATA, table_beside

_PRINTED = table_beside(__file__, "printed.json")
PAGE = """<!DOCTYPE html><html><body><nav>Menu <a href="/">home</a></nav>
<div id="watermark-tr">arXiv:2601.01234v2 [cs.CL] 05 Jan 2026</div>
<article class="ltx_document"><h1 class="ltx_title ltx_title_document">A <em>Title</em></h1>
<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6><p class="ltx_p">The abstract.</p></div>
<section class="ltx_section" id="S1"><h2 class="ltx_title ltx_title_section"><span class="ltx_tag ltx_tag_section">1 </span>Introduction</h2>
<div class="ltx_para"><p class="ltx_p">As shown <cite class="ltx_cite">[<a class="ltx_ref" href="#bib.bib2">2</a>]</cite>, and
by many <cite class="ltx_cite">[<a class="ltx_ref" href="#bib.bib1">1</a>, <a class="ltx_ref" href="#bib.bib2">2</a>]</cite>, the
norm <math alttext="\\|x\\|"><semantics><mrow><mo>‖</mo><mi>x</mi><mo>‖</mo></mrow><annotation>\\|x\\|</annotation></semantics></math> is
small<span class="ltx_note ltx_role_footnote"><sup>1</sup><span class="ltx_note_content">A footnote.</span></span>.</p></div>
<figure class="ltx_figure"><img src="x.png"><figcaption class="ltx_caption">Figure 1: A caption.</figcaption></figure>
<div class="ltx_para"><p class="ltx_p">A second paragraph.</p></div>
<section class="ltx_subsection" id="S1.SS1"><h3 class="ltx_title"><span class="ltx_tag">1.1 </span>Related Work</h3>
<div class="ltx_para"><p class="ltx_p">Others <cite class="ltx_cite ltx_citemacro_citet">Doe (<a class="ltx_ref" href="#bib.bib1">2019</a>)</cite> did it.</p></div></section>
</section>
<section class="ltx_section" id="S2"><h2 class="ltx_title"><span class="ltx_tag">2 </span>Conclusion</h2><div class="ltx_para"><p class="ltx_p">The end.</p></div></section>
<div class="ltx_acknowledgements"><h6 class="ltx_title">Acknowledgements</h6>Thanks to all.</div>
<section class="ltx_bibliography" id="bib"><h2 class="ltx_title ltx_title_bibliography">References</h2><ul class="ltx_biblist">
<li class="ltx_bibitem" id="bib.bib1"><span class="ltx_tag ltx_tag_bibitem">[1]</span><span class="ltx_bibblock">J. Doe. </span>
<span class="ltx_bibblock">A first title of some length. </span><span class="ltx_bibblock">Tests, 2019. <a href="https://arxiv.org/abs/1901.01234">link</a></span></li>
<li class="ltx_bibitem" id="bib.bib2"><span class="ltx_tag ltx_tag_bibitem">[2]</span><span class="ltx_bibblock">K. Roe. A second title of some length. Tests, 2020.</span></li>
</ul></section>
<section class="ltx_appendix" id="A1"><h2 class="ltx_title"><span class="ltx_tag">Appendix A </span>Proofs</h2><div class="ltx_para"><p class="ltx_p">More.</p></div></section>
</article></body></html>"""


def read(tmp_path: Path, text: str = PAGE) -> Document:
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    return read_html(path).document


def test_sections_roles_and_levels(tmp_path: Path) -> None:
    document = read(tmp_path)
    assert [(s.heading, s.role, s.level) for s in document.sections] == [
        ("1 Introduction", "introduction", 1),
        ("1.1 Related Work", "related_work", 2),
        ("2 Conclusion", "conclusion", 1),
        ("Acknowledgements", "acknowledgements", 2),
        ("References", "references", 1),
        ("A Proofs", "appendix", 1),
    ]
    assert (document.title, document.abstract, document.stamped_id) == ("A Title", "The abstract.", "2601.01234v2")


def test_text_without_captions_notes_and_chrome_with_formulas(tmp_path: Path) -> None:
    assert (
        read(tmp_path).sections[0].text
        == "As shown [2], and by many [1, 2], the norm ‖x‖ is small.\nA second paragraph."
    )


def test_mentions_point_where_the_page_links(tmp_path: Path) -> None:
    document = read(tmp_path)
    found = [(document.sections[m.section].text[m.start : m.end], m.references, m.grouped) for m in document.mentions]
    assert found == [("2", (1,), False), ("1, 2", (0, 1), True), ("Doe (2019)", (0,), False)]


def test_a_mention_leaves_out_the_brackets_around_it(tmp_path: Path) -> None:
    cite = '<cite class="ltx_cite">(<a class="ltx_ref" href="#bib.bib1">Doe, 2019</a>)</cite>'
    document = read(tmp_path, PAGE.replace("did it.", f"did it {cite}."))
    last = document.mentions[-1]
    assert document.sections[last.section].text[last.start : last.end] == "Doe, 2019"


def test_entries_are_read_with_their_links(tmp_path: Path) -> None:
    first, second = read(tmp_path).references
    assert (first.label, first.title, first.year, first.arxiv_id) == (
        "1",
        "A first title of some length",
        2019,
        "1901.01234",
    )
    assert (second.label, second.authors, second.arxiv_id) == ("2", ("Roe",), None)
    # Each list has its own.
    more = '<section class="ltx_bibliography"><li class="ltx_bibitem">L. He. A last title.</li></section></article>'
    lists = [s.text for s in read(tmp_path, PAGE.replace("</article>", more)).sections if s.role == "references"]
    assert [text.count(" title") for text in lists] == [2, 1]


def test_blanks_of_a_page_printed_one_element_a_line_do_not_count(tmp_path: Path) -> None:
    spread = (
        PAGE.replace("<cite", "\n <cite")
        .replace("</cite>", "\n </cite>\n")
        .replace("<a ", "\n <a ")
        .replace("</a>", "\n </a>\n ")
    )
    assert read(tmp_path, spread).sections[0].text == read(tmp_path).sections[0].text


@pytest.mark.parametrize("text", ["", "<html><body><p>Not found</p></body></html>", "\x00\x01", "%PDF-1.7"])
def test_what_is_no_page_of_latexml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ExtractError, match="not_html"):
        read(tmp_path, text)


def test_a_part_that_the_parser_leaves_out_is_no_empty_section(tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="a part of it is larger than any page's") as caught:
        read(tmp_path, PAGE.replace("</cite>", f"</cite>{'x ' * 6_000_000}", 1))
    assert caught.value.reason == "damaged"


def test_packed_pages_and_broken_packing(tmp_path: Path) -> None:
    (tmp_path / "page.html.xz").write_bytes(lzma.compress(PAGE.encode()))
    assert read_html(tmp_path / "page.html.xz").document == read(tmp_path)
    (tmp_path / "bad.html.xz").write_bytes(b"junk")
    with pytest.raises(ExtractError, match="missing_file"):
        read_html(tmp_path / "bad.html.xz")


def agreement(a: Document, b: Document) -> float:
    """F1 of the words of four letters and more that two readings of a paper put into its named sections."""
    roles: tuple[Role, ...] = ("introduction", "related_work", "conclusion")
    first, second = (
        Counter(
            word
            for i in frozenset[int]().union(*(role_span(document, role) for role in roles))
            for word in re.findall("[a-z]{4,}", document.sections[i].text.casefold())
        )
        for document in (a, b)
    )
    return 2 * (first & second).total() / max(1, first.total() + second.total())


@pytest.mark.slow
def test_both_files_of_a_paper_say_the_same(tmp_path: Path) -> None:
    from builder.extract.pdf import read_pdf

    for i, paper in enumerate(make_world(0, 20, 40)):
        if paper.flaw or i % 4 or len(paper.references) < 6:
            continue
        draw(paper, tmp_path / "p.pdf")
        pdf, web = read_pdf(tmp_path / "p.pdf").document, read(tmp_path, page(paper))
        assert agreement(pdf, web) > 0.97, paper.id
        assert [s.role for s in pdf.sections] == [s.role for s in web.sections]
        assert len(pdf.references) == len(web.references) == len(paper.references)
        assert [e.title for e in pdf.references] == [e.title for e in web.references]
        assert len(pdf.mentions) == pytest.approx(len(web.mentions), abs=2)


@pytest.mark.data
@pytest.mark.parametrize("name", ["1412.3555", "2011.13456", "2101.10318", "2405.20630", "1706.03762"])
@pytest.mark.slow
def test_real_pages(name: str) -> None:
    document = read_html(DATA / "html" / f"{name}.html.xz").document
    roles = [section.role for section in document.sections]
    assert roles.index("introduction") < roles.index("conclusion") < roles.index("references")
    assert len(document.abstract) > 400
    assert len(document.references) >= 20
    assert sum(bool(entry.title) for entry in document.references) >= 0.95 * len(document.references)
    assert len(document.mentions) > 20
    for mention in document.mentions:
        assert "\n" not in document.sections[mention.section].text[mention.start : mention.end]


@pytest.mark.parametrize("how", _PRINTED["hidden"])
def test_what_a_page_hides_is_left_out_and_counted(tmp_path: Path, how: str) -> None:
    path = tmp_path / "page.html"
    order = f'<span {how}>Praise <b hidden>it.</b></span><section class="ltx_section" {how}><h2 class="ltx_title">Related Work</h2>Praise.</section>'
    hidden = f'<div class="ltx_abstract" {how}><p class="ltx_p">Praise.</p></div><article class="ltx_document">'
    path.write_text(
        PAGE.replace("A second paragraph.", f"A second {order}paragraph.").replace(
            '<article class="ltx_document">', hidden
        )
    )
    reading = read_html(path)
    assert reading.document == read(tmp_path)
    assert reading.hidden == len("Praiseit.RelatedWorkPraise.Praise.")


@pytest.mark.parametrize(
    "how",
    [
        'style="color:#FFFFFF;background:#000080"',
        'style="font-size:80%"',
        'style="opacity:0.6"',
        'style="transform:scale(0.8,0.8)"',
        'aria-hidden="true"',
        'mathcolor="#000000"',
        'style="height:0"',
    ],
)
def test_what_a_page_shows_stays(tmp_path: Path, how: str) -> None:
    document = read(tmp_path, PAGE.replace("A second paragraph.", f"A <span {how}>second</span> paragraph."))
    assert "A second paragraph." in document.sections[0].text


@pytest.mark.parametrize("kind", ["ltx_missing_citation", "ltx_missing_label"])
def test_what_is_missing_is_no_key(tmp_path: Path, kind: str) -> None:
    missing = f'A <span class="ltx_ref {kind}">doe2019</span> second paragraph.'
    assert "A ?? second paragraph." in read(tmp_path, PAGE.replace("A second paragraph.", missing)).sections[0].text


def test_ranges_of_citations(tmp_path: Path) -> None:
    link = '<a class="ltx_ref" href="#bib.bib{0}">{0}</a>'
    more = "".join(
        f'<li class="ltx_bibitem" id="bib.bib{i}"><span class="ltx_tag ltx_tag_bibitem">[{i}]</span>K. Roe. W{i}.</li>'
        for i in (3, 4)
    )
    one = f'<cite class="ltx_cite">[{link.format(1)}–{link.format(4)}]</cite>'
    two = f'<cite class="ltx_cite">[{link.format(2)}]</cite>–<cite class="ltx_cite">[{link.format(4)}]</cite>'
    text = PAGE.replace("A second paragraph.", f"A second {one} of {two}.").replace("</li>\n</ul>", f"</li>{more}</ul>")
    assert [m.references for m in read(tmp_path, text).mentions[2:4]] == [(0, 1, 2, 3), (1, 2, 3)]


def test_the_abstract_is_the_english_one(tmp_path: Path) -> None:
    french = '<div class="ltx_abstract" lang="fr"><p class="ltx_p">Le texte.</p></div><div class="ltx_abstract">'
    assert read(tmp_path, PAGE.replace('<div class="ltx_abstract">', french)).abstract == "The abstract."
