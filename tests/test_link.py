from __future__ import annotations

from dataclasses import replace

from builder.extract import Documents
from builder.link import cited_in_related_work, link_papers
from builder.records import Document, Mention, Reference, Section
from builder.store import Store, StoredDocument
from tests.papers import paper

CITING = paper(50, "Me Myself", day=20)
KNOWN = paper(1, "Jane Doe", day=1, title="Sparse routing for long inputs")
LATER = paper(2, "Jane Doe", day=30, title="A sequel on sparse routing")
NAMELESS = paper(3, "Karl Roe", day=1, abstract="", title="A paper without any abstract")


def document(*entries: Reference) -> Document:
    sections = (
        Section("1 Introduction", "introduction", 1, "x"),
        Section("2 Related Work", "related_work", 1, "y"),
        Section("2.1 More", "body", 2, "z"),
    )
    mentions = tuple(Mention(1 + i % 2, 0, 1, (i,), False) for i in range(len(entries)))
    return Document("t", "a", sections, entries, mentions)


def links(store: Store, *entries: Reference) -> list[tuple[int, str, str]]:
    store.add_papers([CITING, KNOWN, LATER, NAMELESS], since="2026.11")
    store.put_document(StoredDocument(CITING.id, "pdf", "1", "", "", "", None, document(*entries)))
    report = link_papers(store, [CITING], Documents(store, {CITING.id: "pdf"}))
    found = store.links(CITING.id)
    assert report.kept == sum(link.how != "unresolved" for link in found)
    return [(link.reference, link.cited_id, link.how) for link in found]


def test_by_arxiv_id_and_by_title(store: Store) -> None:
    by_title = Reference("raw", authors=("Doe",), title="Sparse Routing for Long-Inputs")
    assert links(store, Reference("raw", arxiv_id=KNOWN.id)) == [(0, KNOWN.id, "arxiv_id")]
    assert links(store, by_title) == [(0, KNOWN.id, "title")]


def test_by_a_sentence_of_an_entry_whose_title_was_not_found(store: Store) -> None:
    assert links(store, Reference("J. Doe et al. Sparse routing for long inputs. Tests, 2019.")) == [
        (0, KNOWN.id, "title")
    ]


def test_never_to_the_future_to_itself_or_to_the_wrong_author(store: Store) -> None:
    entries = [
        Reference("raw", arxiv_id=LATER.id), Reference("raw", arxiv_id=CITING.id), Reference("raw", authors=("Poe",), title=KNOWN.title),
        Reference("raw", title="Short title"), Reference("raw", arxiv_id=NAMELESS.id), Reference("raw", arxiv_id="2601.99999"),
    ]  # fmt: skip
    assert links(store, *entries) == [(i, "", "unresolved") for i in range(6)]


def test_a_work_is_cited_once(store: Store) -> None:
    entries = [Reference("raw", arxiv_id=KNOWN.id), Reference("raw", authors=("Doe",), title=KNOWN.title)]
    assert links(store, *entries) == [(0, KNOWN.id, "arxiv_id")]


def test_only_the_related_work_counts() -> None:
    made = document(Reference("a"), Reference("b"), Reference("c"))
    assert cited_in_related_work(made) == [0, 1, 2]
    elsewhere = replace(made, mentions=(Mention(0, 0, 1, (0,), False), Mention(2, 0, 1, (2,), False)))
    assert cited_in_related_work(elsewhere) == [2]
