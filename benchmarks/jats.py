"""JATS: how much of real articles is read, and what reading one costs, compared with a PDF of the same paper.

Real articles are read twice: by the reader, and by plain paths through their XML. Made-up articles (5,000; `--quick`: 200), half of
whose authors have ORCIDs, are drawn as JATS, some of them as PDF; both are read in one process.
"""

from __future__ import annotations

import lzma
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from lxml import etree

from benchmarks.shared.running import Figures, run
from builder.collect.graph import build_graph, orcids_of
from builder.extract.jats import read_jats
from builder.extract.pdf import read_pdf
from builder.mathml import write_formulas
from builder.records import NO_LICENSE, UNKNOWN_LICENSE, Paper
from builder.sources.jats.source import JatsSource
from builder.sources.sample import draw
from builder.sources.sample.world import make_world
from standins.jats_world import article, drops_of, papers_of
from standins.places import DATA

ARTICLES = DATA / "jats"
ASIDE = frozenset(
    "fig table-wrap boxed-text supplementary-material fn disp-formula media caption graphic tex-math".split()
)
SUPPLEMENT = re.compile("support|supplement", re.IGNORECASE)


def measure(work: Path, quick: bool) -> Figures:
    """Measure fronts and bodies of real articles, costs of made-up ones."""
    return {**of_fronts(work), **of_bodies(), **of_costs(work, 200 if quick else 5000)}


def of_fronts(work: Path) -> Figures:
    """Return records of the real articles, by number, and how many differ from what plain paths say."""
    source = JatsSource(str(ARTICLES), work / "real")
    papers, dropped = {paper.id: paper for paper in papers_of(source)}, drops_of(source)
    print(f"real articles: {len(papers)} papers, dropped {sorted(dropped.values())}")
    whole = [paper for paper in papers.values() if paper.title and paper.authors and paper.abstract]
    wrong = dict.fromkeys(("titles", "authors", "days", "licences"), 0)
    for file in sorted(ARTICLES.glob("*.xml.xz")):
        meta = parsed(file).find("front/article-meta")
        assert meta is not None
        doi = meta.findtext("article-id[@pub-id-type='doi']", "").strip().lower()
        if doi in papers:
            for name in differences(papers[doi], meta):
                wrong[name] += 1
                print(f"{doi}: {name} differ")
    return {
        "articles": len(papers) + len(dropped),
        "papers": len(papers),
        "whole_records": len(whole),
        "licensed": sum(paper.license not in (UNKNOWN_LICENSE, NO_LICENSE) for paper in papers.values()),
        **{f"wrong_{name}": count for name, count in wrong.items()},
    }


def differences(paper: Paper, meta: etree._Element) -> Iterator[str]:
    """Yield what a record says otherwise than plain paths through its front."""
    title = meta.find("title-group/article-title")
    if title is None or letters("".join(running(title))) != letters(paper.title):
        yield "titles"
    contributors = meta.findall("contrib-group/contrib")
    names = [
        contributor.findtext("name/surname") or contributor.findtext("collab") or ""
        for contributor in [c for c in contributors if c.get("contrib-type") == "author"] or contributors
    ]
    if len(names) != len(paper.authors) or any(
        letters(name) not in letters(author) for name, author in zip(names, paper.authors, strict=True)
    ):
        yield "authors"
    years = [int(year.text or 0) for year in meta.iterfind("pub-date/year")] + [
        int(year.text or 0) for year in meta.iterfind("history/date[@date-type='preprint']/year")
    ]
    # bioRxiv's ids begin with the day of the first version.
    by_id = re.match(r"10\.1101/(20\d\d)\.", paper.id)
    if by_id:
        years.append(int(by_id[1]))
    if years and paper.published.year != min(years):
        yield "days"
    terms = meta.findall("permissions//license") + meta.findall(".//copyright-statement")
    stated = letters(" ".join("".join(map(str, (*e.itertext(), *e.attrib.values()))) for e in terms)).casefold()
    has_one = "commons" in stated or "freeofallcopyright" in stated
    narrow = "noncommercial" in stated or "licensesbync" in stated
    if has_one == (paper.license in (UNKNOWN_LICENSE, NO_LICENSE)) or narrow != ("-nc" in paper.license):
        yield "licences"


def of_bodies() -> Figures:
    """Return how much of the bodies is found again."""
    paragraphs = kept = linked = covered = refs = entries = 0
    for file in sorted(ARTICLES.glob("*.xml.xz")):
        root = parsed(file)
        document = read_jats(file).document
        body = root.find("body")
        assert body is not None
        text = letters("\n".join(section.text for section in document.sections if section.role != "references"))
        outside = {e for s in body.iter("sec") if is_supplement(s) for e in s.iter("p", "xref")}
        for p in body.iter("p"):
            own = letters("".join(running(p)))
            if own and p not in outside and not any(above.tag in ASIDE | {"p"} for above in p.iterancestors()):
                paragraphs, kept = paragraphs + 1, kept + (own in text)
        ids = [ref.get("id") for ref in root.iter("ref")]
        links = Counter(
            x.get("rid")
            for x in body.iter("xref")
            if x.get("ref-type") == "bibr" and x.get("rid") in ids and x not in outside
            and not any(above.tag in ASIDE for above in x.iterancestors())
        )  # fmt: skip
        mentions = Counter(reference for mention in document.mentions for reference in mention.references)
        # Several works under one number are several entries, and a link to it cites each of them.
        firsts = accumulate((max(1, len(ref.findall("mixed-citation"))) for ref in root.iter("ref")), initial=0)
        linked += links.total()
        covered += sum(min(links[id_], mentions[number]) for id_, number in zip(ids, firsts, strict=False))
        refs, entries = refs + len(ids), entries + len(document.references)
    return {
        "paragraphs": paragraphs,
        "paragraphs_found": round(kept / paragraphs, 4),
        "links": linked,
        "links_found": round(covered / linked, 4),
        "entries_of_refs": round(entries / refs, 4),
    }


def parsed(file: Path) -> etree._Element:
    """Return the tree of a packed file, its formulas in one line."""
    root = etree.fromstring(
        lzma.decompress(file.read_bytes()),
        etree.XMLParser(load_dtd=False, no_network=True, resolve_entities=False, remove_comments=True, remove_pis=True),
    )
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    write_formulas(root)
    return root


def is_supplement(section: etree._Element) -> bool:
    """Tell whether a section lists supplements."""
    title = section.find("title")
    return title is not None and SUPPLEMENT.match("".join(map(str, title.itertext()))) is not None


def running(element: etree._Element) -> Iterator[str]:
    """Yield the running text of an element."""
    if isinstance(element.tag, str) and element.tag.rpartition("}")[2] not in ASIDE:
        yield element.text or ""
        for child in element:
            yield from running(child)
            yield child.tail or ""


def letters(text: str) -> str:
    """Return a text without what layout may change."""
    return re.sub(r"\W+", "", text)


def of_costs(work: Path, count: int) -> Figures:
    """Return the processor time of fronts, bodies and PDFs of made-up papers, and what ORCIDs do to their graph."""
    world = make_world(7, count // 4, count)
    folder = work / "made-up"
    folder.mkdir()
    for paper in world:
        (folder / f"{paper.id}.xml").write_text(article(paper), encoding="utf-8")
    started = time.process_time()
    papers = papers_of(JatsSource(str(folder), work / "made"))
    fronts = (time.process_time() - started) / count
    some = world[:: max(1, count // 100)]
    bodies = seconds(read_jats, [folder / f"{paper.id}.xml" for paper in some])
    for paper in some:
        draw(paper, work / f"{paper.id}.pdf")
    pdfs = seconds(read_pdf, [work / f"{paper.id}.pdf" for paper in some if not paper.flaw])
    graph = build_graph(papers, 50, "all", orcids=orcids_of(papers))
    print(f"a front {fronts * 1000:.1f} ms, a body {bodies * 1000:.1f} ms, a PDF {pdfs * 1000:.1f} ms")
    return {
        "made_up": len(papers),
        "pdf_ratio": round(pdfs / (fronts + bodies), 1),
        "orcids": graph.orcids,
        "first_authors": graph.first_authors,
    }


def seconds(read: Callable[[Path], object], files: Sequence[Path]) -> float:
    """Return the processor time of reading a file."""
    started = time.process_time()
    for file in files:
        read(file)
    return (time.process_time() - started) / len(files)


if __name__ == "__main__":
    run(measure, ARTICLES)
