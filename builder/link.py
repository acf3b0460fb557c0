"""Stage 4: reference lists -> the citation corpus: which cited works are known papers.

Document -> Link. Only the entries cited in the related-work section are resolved: by the arXiv id that an entry
carries, else by its title. A work is never resolved to the citing paper or to one published after it. Entries that stay
unresolved are counted, not dropped; whether enough are left decides the sample stage.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator

from builder.body import role_span
from builder.extract import Documents
from builder.extract.references import segments
from builder.keys import fold, title_key
from builder.progress import progress
from builder.records import Document, Link, Paper, Reference
from builder.report import StageReport
from builder.store import Store

_MIN_TITLE_KEY = 16


def link_papers(store: Store, papers: Iterable[Paper], documents: Documents) -> StageReport:
    """Resolve the related-work citations of every paper that has a document."""
    started = time.perf_counter()
    papers = [paper for paper in papers if paper.id in documents]
    for paper in progress(papers, "link", len(papers)):
        document = documents[paper.id]
        links = list(resolve(store, paper, document, cited_in_related_work(document)))
        with store.transaction():
            store.put_links(paper.id, links)
    report = link_report(store, papers)
    report.seconds = time.perf_counter() - started
    return report


def link_report(store: Store, papers: Iterable[Paper]) -> StageReport:
    """How many references were resolved; this report counts references, not papers.

    Drop reasons (of references): unresolved.
    """
    report = StageReport("link")
    for paper in papers:
        for link in store.links(paper.id):
            if link.how == "unresolved":
                report.drop(f"{paper.id}#{link.reference + 1}", link.how)
            else:
                report.kept += 1
    return report


def cited_in_related_work(document: Document) -> list[int]:
    """Indices of the entries that the related-work section cites, in the order of their first mention."""
    span = role_span(document, "related_work")
    return list(
        dict.fromkeys(i for mention in document.mentions if mention.section in span for i in mention.references)
    )


def resolve(store: Store, paper: Paper, document: Document, cited: Iterable[int]) -> Iterator[Link]:
    """Resolve the given entries of a paper's reference list; a work that two entries name is linked once."""
    seen: set[str] = set()
    for index in cited:
        link = _resolve_one(store, paper, index, document.references[index])
        if link.cited_id not in seen:
            seen.add(link.cited_id or f"#{index}")
            yield link


def _resolve_one(store: Store, paper: Paper, index: int, entry: Reference) -> Link:
    if entry.arxiv_id and _citable(store, paper, [entry.arxiv_id], None):
        return Link(paper.id, index, entry.arxiv_id, "arxiv_id", 1.0)
    for score, title in ((1.0, entry.title), *((0.9, part) for part in segments(entry.raw))):
        key = title_key(title)
        if len(key) < _MIN_TITLE_KEY:
            continue
        found = _citable(store, paper, store.ids_by_title(key), entry)
        if found:
            return Link(paper.id, index, found[0].id, "title", score)
    return Link(paper.id, index, "", "unresolved", 0.0)


def _citable(store: Store, paper: Paper, ids: list[str], entry: Reference | None) -> list[Paper]:
    """The papers of these ids that can be cited by `paper`; with an entry, those by its first author."""
    return [
        known
        for known in store.papers(ids)
        if known.id != paper.id
        and known.abstract
        and known.published <= paper.published
        and (entry is None or not entry.authors or _surname_matches(known, entry.authors[0]))
    ]


def _surname_matches(known: Paper, surname: str) -> bool:
    return fold(surname).split()[-1:] == fold(known.authors[0]).split()[-1:] or fold(surname) in fold(known.authors[0])
