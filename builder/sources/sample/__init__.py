"""A made-up arXiv: a seeded world of papers, drawn once into a folder as PDF and HTML files and read as a mirror from then on."""

import io
import json
import shutil
from html import escape
from pathlib import Path

from builder.mupdf import pymupdf
from builder.round.model import Round
from builder.round.source import SampleTable
from builder.sources.mirror import MirrorSource
from builder.sources.sample.world import WorldPaper, make_world, months_until
from builder.store import Store
from lm_eval_tasks.base.files import sync_folder, write_whole
from lm_eval_tasks.base.progress import progress

_KINDS = {1: ("section", "h2"), 2: ("subsection", "h3")}


def page(paper: WorldPaper) -> str:
    """Return the page of a paper, with its citations linked to the entries that they mean."""
    return (
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{escape(paper.title)}</title></head><body>'
        f'<div id="watermark-tr">arXiv:{paper.id}v1 [{paper.category}] {paper.published:%d %b %Y}</div>'
        f'<article class="ltx_document">{front(paper)}{article(paper)}</article></body></html>'
    )


def front(paper: WorldPaper) -> str:
    """Return title and authors."""
    return (
        f'<h1 class="ltx_title ltx_title_document">{escape(paper.title)}</h1>'
        f'<div class="ltx_authors">{escape(", ".join(paper.authors))}</div>'
    )


def article(paper: WorldPaper) -> str:
    """Return what follows: the abstract, the sections, the references."""
    counters, body = [0, 0], list[str]()
    for i, section in enumerate(paper.sections):
        css_class, tag = _KINDS[section.level]
        counters = [counters[0] + 1, 0] if section.level == 1 else [counters[0], counters[1] + 1]
        number = ".".join(map(str, counters[: section.level]))
        label = f'<span class="ltx_tag ltx_tag_{css_class}">{number} </span>'
        if section.role == "acknowledgements":
            css_class, tag, label = "acknowledgements", "h6", ""
        texts = (_link_marks(text, paper) for text in section.paragraphs)
        body += [
            "</section>" * (section.level == 1 and i > 0),
            f'<section class="ltx_{css_class}"><{tag} class="ltx_title">{label}{escape(section.heading)}</{tag}>',
            *(f'<div class="ltx_para"><p class="ltx_p">{text}</p></div>' for text in texts),
            "</section>" * (section.level == 2),
        ]
    entries = "".join(_entry(i, text, paper) for i, text in enumerate(paper.references, start=1))
    return (
        f'<div class="ltx_abstract"><h6 class="ltx_title ltx_title_abstract">Abstract</h6>'
        f'<p class="ltx_p">{escape(paper.abstract)}</p></div>{"".join(body)}</section>'
        f'<section class="ltx_bibliography"><h2 class="ltx_title ltx_title_bibliography">References</h2>'
        f'<ul class="ltx_biblist">{entries}</ul></section>'
    )


def _link_marks(text: str, paper: WorldPaper) -> str:
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
    """Return the front over the whole width, then the text in columns from top to bottom, page after page."""
    out = io.BytesIO()
    writer = pymupdf.DocumentWriter(out)
    head, text = (pymupdf.Story(html, user_css=_CSS) for html in (front(paper), article(paper)))
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
    stamp = f"arXiv:{paper.id}v1  [{paper.category}]  {paper.published:%d %b %Y}"
    pdf[0].insert_text((30, 560), stamp, fontname="tiro", fontsize=20, rotate=90, color=(0.5, 0.5, 0.5))
    for number, page in enumerate(pdf, start=1):
        page.insert_text((303, 752), str(number), fontname="tiro", fontsize=9)
        if number > 1:
            head = f"{paper.authors[0].split()[-1]} and others" if number % 2 else paper.title[:60]
            page.insert_text((54, 48), head, fontname="tiit", fontsize=8)


# arXiv has no HTML for some of its papers; here for every third.
_WITHOUT_HTML = 3
# Raised with any change to what a world contains.
_EDITION = 12
_METADATA = "arxiv-metadata-oai-snapshot.json"


class SampleSource(MirrorSource):
    """The made-up arXiv, drawn into a folder if it is not complete there. Needs no network and under 20 s for the default size.

    Attributes:
        later: months after the first ones, see `world.make_world`.
    """

    def __init__(self, folder: Path, seed: int = 0, authors: int = 60, papers: int = 120, *, later: int = 0) -> None:
        drawn = folder / f"world-{_EDITION}-{seed}-{authors}-{papers}{f'-{later}' if later else ''}"
        if not (drawn / _METADATA).is_file():
            _draw_world(drawn, make_world(seed, authors, papers, later=later))
        super().__init__(drawn)

    def fingerprint(self) -> str:
        """Return the world's arguments: its content depends on nothing else."""
        return self.metadata.parent.name


def _draw_world(folder: Path, world: list[WorldPaper]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pdf").mkdir(parents=True)
    (folder / "html").mkdir()
    for i, paper in enumerate(progress(world, "draw", len(world))):
        draw(paper, folder / "pdf" / f"{paper.id}.pdf")
        if i % _WITHOUT_HTML and not paper.flaw:
            (folder / "html" / f"{paper.id}v1.html").write_text(page(paper), encoding="utf-8")
    sync_folder(folder)
    # The metadata comes last: if it exists, the world is complete.
    write_whole(folder / _METADATA, "".join(json.dumps(_record(paper)) + "\n" for paper in world))


def _record(paper: WorldPaper) -> dict[str, object]:
    """Return the paper's line in Kaggle's snapshot format."""
    return {
        "id": paper.id,
        "authors": ", ".join(paper.authors),
        "title": paper.title,
        "comments": "This paper has been withdrawn by the authors" if paper.flaw == "withdrawn" else None,
        "categories": f"{paper.category} cs.AI",
        "license": paper.license,
        "abstract": f"  {paper.abstract}\n",
        "versions": [{"version": "v1", "created": f"{paper.published:%a, %d %b %Y} 09:30:00 GMT"}],
        "update_date": paper.published.isoformat(),
        "authors_parsed": [[name.split()[-1], " ".join(name.split()[:-1]), ""] for name in paper.authors],
    }


def open_source(table: SampleTable, round_: Round, store: Store) -> SampleSource:
    """Return the made-up arXiv of a round; its files lie in the workspace."""
    folder, later = round_.workspace / "sample", months_until(round_.last_day)
    return SampleSource(folder, seed=table.seed, authors=table.authors, papers=table.papers, later=later)
