"""Made-up paper -> a real PDF: one or two columns, running heads, page numbers, arXiv's stamp, a reference list."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf

if TYPE_CHECKING:
    from builder.sources.sample.world import WorldPaper

_KINDS = {1: ("section", "h2"), 2: ("subsection", "h3")}


def page(paper: WorldPaper) -> str:
    """The page of a paper, with its citations linked to the entries that they mean."""
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{escape(paper.title)}</title></head><body>'
        f'<div id="watermark-tr">arXiv:{paper.id}v1 [{paper.category}] {paper.published:%d %b %Y}</div>'
        f'<article class="ltx_document">{front(paper)}{article(paper)}</article></body></html>'
    )


def front(paper: WorldPaper) -> str:
    """Title and authors."""
    return (
        f'<h1 class="ltx_title ltx_title_document">{escape(paper.title)}</h1>'
        f'<div class="ltx_authors">{escape(", ".join(paper.authors))}</div>'
    )


def article(paper: WorldPaper) -> str:
    """What follows: the abstract, the sections, the references."""
    counters, body = [0, 0], list[str]()
    for i, section in enumerate(paper.sections):
        kind, tag = _KINDS[section.level]
        counters = [counters[0] + 1, 0] if section.level == 1 else [counters[0], counters[1] + 1]
        number = ".".join(map(str, counters[: section.level]))
        label = f'<span class="ltx_tag ltx_tag_{kind}">{number} </span>'
        if section.role == "acknowledgements":
            kind, tag, label = "acknowledgements", "h6", ""
        body.append("</section>" * (section.level == 1 and i > 0))
        body.append(f'<section class="ltx_{kind}"><{tag} class="ltx_title">{label}{escape(section.heading)}</{tag}>')
        for text in section.paragraphs:
            body.append(f'<div class="ltx_para"><p class="ltx_p">{_link_marks(text, paper)}</p></div>')
        body.append("</section>" * (section.level == 2))
    entries = "".join(_entry(i, text, paper) for i, text in enumerate(paper.references, start=1))
    return (
        f'<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6>'
        f'<p class="ltx_p">{escape(paper.abstract)}</p></div>{"".join(body)}</section>'
        f'<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2>'
        f'<ul class="ltx_biblist">{entries}</ul></section>'
    )


def _link_marks(text: str, paper: WorldPaper) -> str:
    """A paragraph in which every mark is a link to its entry."""
    text = escape(text)
    for i, mark in enumerate(paper.marks, start=1):
        opening, words, closing = escape(mark[0]), escape(mark[1:-1]), escape(mark[-1])
        link = f'<cite class="ltx_cite">{opening}<a class="ltx_ref" href="#bib.bib{i}">{words}</a>{closing}</cite>'
        text = text.replace(escape(mark), link)
    return text


def _entry(i: int, text: str, paper: WorldPaper) -> str:
    label = f"[{i}]" if paper.citing == "numeric" else ""
    return (
        f'<li class="ltx_bibitem" id="bib.bib{i}"><span class="ltx_tag ltx_tag_bibitem">{label} </span>'
        f'<span class="ltx_bibblock">{escape(text)}</span></li>'
    )


_PAGE = pymupdf.Rect(0, 0, 612, 792)
_TOP, _BOTTOM = 72.0, 700.0
_COLUMNS = {"one-column": ((108.0, 504.0),), "two-column": ((54.0, 297.0), (315.0, 558.0))}
# A margin above a paragraph makes the Story lose what follows the foot of some columns (PyMuPDF 2.0).
_CSS = """
* {font-family: serif; font-size: 10pt; color: black; text-decoration: none}
h1, .ltx_authors {text-align: center} h1 {font-size: 16pt} h2 {font-size: 12pt} h3 {font-size: 10.5pt} h6 {font-size: 11pt}
p {margin-top: 0; margin-bottom: 6pt} ul {list-style-type: none; padding-left: 0} li, li span {font-size: 9pt}
li {padding-left: 12pt; text-indent: -12pt}
"""


def draw(paper: WorldPaper, path: Path) -> None:
    """Set a paper and save it; the same paper gives the same bytes."""
    with pymupdf.open(stream=_set(paper), filetype="pdf") as pdf:
        _add_furniture(paper, pdf)
        data = pdf.tobytes(garbage=3, deflate=True, no_new_id=True)
    path.write_bytes(data[: len(data) // 12] if paper.flaw == "broken" else data)


def _set(paper: WorldPaper) -> bytes:
    """The front over the whole width, then the text in columns from top to bottom, page after page."""
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    head, text = (pymupdf.Story(part, user_css=_CSS) for part in (front(paper), article(paper)))
    device, top, more = writer.begin_page(_PAGE), _TOP, True
    _, (_, _, _, height) = head.place(pymupdf.Rect(90, top, 522, 400))
    head.draw(device)
    top = height + 12.0
    while more:
        for left, right in _COLUMNS[paper.layout]:
            if more:
                more, _ = text.place(pymupdf.Rect(left, top, right, _BOTTOM))
                text.draw(device)
        writer.end_page()
        if more:
            device, top = writer.begin_page(_PAGE), _TOP
    writer.close()
    return out.getvalue()


def _add_furniture(paper: WorldPaper, pdf: pymupdf.Document) -> None:
    """What a page shows besides the text."""
    stamp = f"arXiv:{paper.id}v1  [{paper.category}]  {paper.published:%d %b %Y}"
    pdf[0].insert_text((30, 560), stamp, fontname="tiro", fontsize=20, rotate=90, color=(0.5, 0.5, 0.5))
    for number, page in enumerate(pdf, start=1):
        page.insert_text((303, 752), str(number), fontname="tiro", fontsize=9)
        if number > 1:
            head = f"{paper.authors[0].split()[-1]} and others" if number % 2 else paper.title[:60]
            page.insert_text((54, 48), head, fontname="tiit", fontsize=8)
