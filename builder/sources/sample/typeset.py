"""Made-up paper -> a real PDF: one or two columns, running heads, page numbers, captions, a footnote, arXiv's stamp, a reference list."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf

from builder.sources.sample.latexml import article, front

if TYPE_CHECKING:
    from builder.sources.sample.world import WorldPaper

_PAGE = pymupdf.Rect(0, 0, 612, 792)
_TOP, _BOTTOM = 72.0, 700.0
_COLUMNS = {"one-column": ((108.0, 504.0),), "two-column": ((54.0, 297.0), (315.0, 558.0))}
_CSS = """
* {font-family: serif; font-size: 10pt; color: black; text-decoration: none}
h1, .ltx_authors {text-align: center} h1 {font-size: 16pt} h2 {font-size: 12pt} h3 {font-size: 10.5pt} h6 {font-size: 11pt}
p {margin-bottom: 2pt} ul {list-style-type: none; padding-left: 0} li, li span, figcaption {font-size: 9pt}
li {padding-left: 12pt; text-indent: -12pt}
"""
_NOTE = "Correspondence to the first author. This paper was never written by anybody."


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
    left = _COLUMNS[paper.layout][0][0]
    pdf[0].draw_line((left, 708), (left + 60, 708), width=0.4)
    pdf[0].insert_text((left, 718), _NOTE, fontname="tiro", fontsize=8)
    for number, page in enumerate(pdf, start=1):
        page.insert_text((303, 752), str(number), fontname="tiro", fontsize=9)
        if number > 1:
            head = f"{paper.authors[0].split()[-1]} and others" if number % 2 else paper.title[:60]
            page.insert_text((54, 48), head, fontname="tiit", fontsize=8)
