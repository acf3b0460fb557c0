"""Made-up paper -> an HTML page in the shape that LaTeXML gives arXiv's papers."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

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
        label = f'<span class="ltx_tag ltx_tag_{kind}">{number} </span>' if paper.numbered else ""
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
