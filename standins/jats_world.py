"""Made-up papers as open-access articles: their JATS files, and a loopback Europe PMC that serves them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

from builder.extract.references import parse_entry
from builder.records import Drop, Paper
from builder.sources.jats.source import JatsSource
from builder.sources.sample.world import WorldPaper, make_world
from standins.loopback import Loopback, Reply, words

_JSON = {"Content-Type": "application/json"}
_DOI = "10.5555/made.up"


def draw_jats(folder: Path, seed: int = 0, authors: int = 16, papers: int = 36) -> Path:
    """Return a folder with the articles of a made-up world."""
    folder.mkdir(parents=True, exist_ok=True)
    world = make_world(seed, authors, papers)
    for paper in world:
        (folder / f"{paper.id}.xml").write_text(article(paper), encoding="utf-8")
    return folder


def doi_of(paper_id: str) -> str:
    return f"{_DOI}.{paper_id}"


def pmcid_of(paper_id: str) -> str:
    return f"PMC{paper_id.replace('.', '')}"


def orcid_of(name: str) -> str:
    """Return a valid ORCID for every second name; "" for the others."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6])
    if number % 2:
        return ""
    digits = f"{number % 10**15:015d}"
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    whole = digits + ("X" if check == 10 else str(check))
    return "-".join(whole[i : i + 4] for i in range(0, 16, 4))


def article(paper: WorldPaper) -> str:
    """Return the JATS file of a made-up paper."""
    day = paper.published
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.2 20190208//EN" "JATS-archivearticle1.dtd">\n'
        '<article article-type="research-article" xmlns:xlink="http://www.w3.org/1999/xlink"><front><journal-meta>'
        "<journal-title-group><journal-title>Made-Up Journal</journal-title></journal-title-group></journal-meta><article-meta>"
        f'<article-id pub-id-type="doi">{doi_of(paper.id)}</article-id>'
        f'<article-id pub-id-type="pmcid">{pmcid_of(paper.id)}</article-id>'
        f'<article-categories><subj-group subj-group-type="heading"><subject>{escape(_subject(paper))}</subject></subj-group>'
        f"</article-categories><title-group><article-title>{escape(paper.title)}</article-title></title-group>"
        f"<contrib-group>{''.join(map(_author, paper.authors))}</contrib-group>"
        f'<pub-date pub-type="epub"><day>{day.day}</day><month>{day.month}</month><year>{day.year}</year></pub-date>'
        f'<permissions><license xlink:href="{paper.license}"><license-p>As stated.</license-p></license></permissions>'
        f"<abstract><p>{escape(paper.abstract)}</p></abstract></article-meta></front>"
        f"<body>{_body(paper)}</body><back><ref-list>{''.join(_ref(i, paper) for i in range(len(paper.references)))}</ref-list>"
        "</back></article>"
    )


def _subject(paper: WorldPaper) -> str:
    return paper.category.replace(".", " ")


def _author(name: str) -> str:
    given, _, surname = name.rpartition(" ")
    known = (
        f'<contrib-id contrib-id-type="orcid">https://orcid.org/{orcid_of(name)}</contrib-id>' if orcid_of(name) else ""
    )
    return (
        f'<contrib contrib-type="author">{known}<name><surname>{escape(surname)}</surname>'
        f"<given-names>{escape(given)}</given-names></name></contrib>"
    )


def _body(paper: WorldPaper) -> str:
    parts: list[str] = []
    open_levels = 0
    for section in paper.sections:
        while open_levels >= section.level:
            parts.append("</sec>")
            open_levels -= 1
        parts.append(f"<sec><title>{escape(section.heading)}</title>")
        open_levels += 1
        parts += [f"<p>{_link_marks(text, paper)}</p>" for text in section.paragraphs]
    return "".join(parts) + "</sec>" * open_levels


def _link_marks(text: str, paper: WorldPaper) -> str:
    text = escape(text)
    for i, mark in enumerate(paper.marks):
        opening, inner, closing = escape(mark[0]), escape(mark[1:-1]), escape(mark[-1])
        link = f'{opening}<xref ref-type="bibr" rid="B{i + 1}">{inner}</xref>{closing}'
        text = text.replace(escape(mark), link)
    return text


def _ref(i: int, paper: WorldPaper) -> str:
    entry = paper.references[i]
    known = re.search(r"arXiv:(\d{4}\.\d{5})", entry)
    pub_id = f'<pub-id pub-id-type="doi">{doi_of(known[1])}</pub-id>' if known else ""
    return f'<ref id="B{i + 1}"><label>{i + 1}</label><mixed-citation>{_marked(entry)} {pub_id}</mixed-citation></ref>'


def _marked(entry: str) -> str:
    """Return an entry with its surnames, title and year marked, as journals mark them."""
    parsed, text = parse_entry(entry), escape(entry)
    head, title, tail = text.partition(escape(parsed.title)) if parsed.title else (text, "", "")
    for surname in parsed.authors:
        head = re.sub(
            rf"\b{re.escape(escape(surname))}\b", f"<name><surname>{escape(surname)}</surname></name>", head, count=1
        )
    whole = f"{head}<article-title>{title}</article-title>{tail}" if title else text
    return whole.replace(str(parsed.year), f"<year>{parsed.year}</year>", 1) if parsed.year else whole


# --- Europe PMC


class EuropePmc(Loopback):
    """The REST service over a folder of articles, as far as a round asks it."""

    def answer(self, path: str, query: dict[str, str]) -> Reply:
        source = self.world.source
        assert isinstance(source, JatsSource)
        if path == "/rest/search":
            return self._search(query)
        name = path.removeprefix("/rest/").removesuffix("/fullTextXML")
        paper = next((paper for paper in self.world.papers if name in paper.other_ids), None)
        file = source.fetch("jats", paper.id, 1) if paper else None
        return (404, {}, b"") if file is None else (200, {"Content-Type": "application/xml"}, file.read_bytes())

    def _search(self, query: dict[str, str]) -> Reply:
        hits = find(self.world.papers, query["query"])
        size, start = int(query["pageSize"]), int(query["cursorMark"].replace("*", "0"))
        page = hits[start : start + size]
        body = {
            "version": "6.9",
            "hitCount": len(hits),
            # At the end the service repeats the cursor that it was sent.
            "nextCursorMark": str(start + size) if start + size < len(hits) else query["cursorMark"],
            "resultList": {"result": [result_of(paper) for paper in page]},
        }
        return 200, _JSON, json.dumps(body).encode()

    def tables(self) -> dict[str, object]:
        return {
            "kind": "europepmc",
            "contact": "test@example.org",
            "delay": 0.0,
            "timeout": 5.0,
            "api": f"{self.url}/rest",
        }


def find(papers: Sequence[Paper], query: str) -> list[Paper]:
    """Return the papers that a query finds, in the order of their days."""
    hits = list(papers)
    if days := re.search(r"FIRST_PDATE:\[(\S+) TO (\S+)\]", query):
        first, last = map(date.fromisoformat, days.groups())
        hits = [paper for paper in hits if first <= paper.published <= last]
    if author := re.search(r'AUTH:"([^"]+)"', query):
        surname = author[1].split()[0].casefold()
        hits = [paper for paper in hits if any(surname in words(name) for name in paper.authors)]
    named = re.findall(r'\b(?:DOI|PMCID|EXT_ID):"([^"]+)"', query)
    titles = re.findall(r'(?<!\()TITLE:"([^"]+)"|\(TITLE:"([^"]+)"(?! OR ABSTRACT)', query)
    if named:
        hits = [paper for paper in hits if {paper.id, *paper.other_ids} & set(named)]
    elif titles:
        wanted = [words(one or other) for one, other in titles]
        hits = [paper for paper in hits if any(set(some) <= set(words(paper.title)) for some in wanted)]
    return hits


def result_of(paper: Paper) -> dict[str, object]:
    """Return a paper as the search gives it, without what no client reads."""
    authors = [
        {
            "fullName": name,
            "firstName": name.rpartition(" ")[0],
            "lastName": name.rpartition(" ")[2],
            **({"authorId": {"type": "ORCID", "value": author_id}} if author_id else {}),
        }
        for name, author_id in zip(paper.authors, paper.author_ids or ("",) * len(paper.authors), strict=True)
    ]
    return {
        "id": paper.other_ids[0].removeprefix("PMC"),
        "source": "MED",
        "pmcid": paper.other_ids[0],
        "doi": paper.doi,
        "title": f"{paper.title}.",
        "authorList": {"author": authors},
        "journalInfo": {"journal": {"title": "Made-Up Journal"}},
        "pubTypeList": {"pubType": ["research-article", "Journal Article"]},
        "abstractText": f"<h4>Background</h4>{paper.abstract}",
        "firstPublicationDate": paper.published.isoformat(),
        "isOpenAccess": "Y",
        "license": "cc by",
    }


def papers_of(source: JatsSource) -> list[Paper]:
    return [item for item in source.submitted_between(None, None) if isinstance(item, Paper)]


def drops_of(source: JatsSource) -> dict[str, str]:
    return {item.id: item.reason for item in source.submitted_between(None, None) if isinstance(item, Drop)}
