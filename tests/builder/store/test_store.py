from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from builder.errors import StoreError
from builder.records import Document, Link, Mention, Quality, Reference, Section
from builder.store import Store
from builder.store.documents import FileOutcome
from tests.helpers.papers import paper

DOCUMENT = Document(
    "T",
    "A",
    (Section("1 Introduction", "introduction", 1, "text"),),
    (Reference("raw", "1", ("Ek",), 2020, "t"),),
    (Mention(0, 1, 4, (0,), False),),
    "2601.00001v1",
)


QUALITY = Quality(
    words=900, coverage=0.9, hyphen_breaks=0.1, unmapped=0.0, entries=1.0, common_words=0.2, in_order=True
)


def test_papers_come_back_as_they_went_in_ordered_by_id(store: Store) -> None:
    papers = [paper(2, "B B", "Ünal Ö"), paper(1, "A A")]
    store.add_papers(iter(papers), since="2026.11")
    assert list(store.papers()) == [papers[1], papers[0]]
    assert list(store.papers(["2601.00002", "9999.99999"])) == [papers[0]]


def test_a_newer_version_replaces_an_older_one_but_not_the_other_way(store: Store) -> None:
    old, new = paper(1, title="old"), replace(paper(1, title="new"), version=2)
    store.add_papers([replace(paper(1, title="only looked up"), version=3)], since="", look_up=False)
    store.add_papers([old], since="2026.11")
    store.add_papers([new], since="2026.11")
    store.add_papers([old], since="2026.11")
    assert [p.title for p in store.papers()] == ["new"]


def test_reference_records_are_no_part_of_the_pool(store: Store) -> None:
    store.add_papers([paper(1)], since="2026.11")
    store.add_papers([paper(1, title="other"), paper(2)], since="", look_up=False)
    assert [p.id for p in store.papers()] == ["2601.00001"]
    assert [p.title for p in store.papers(["2601.00001"])] == ["Title number 1"]
    assert store.counts()["other records"] == 1
    assert store.ids_by_title("titlenumber2") == ["2601.00002"]


def test_a_reference_record_can_bring_a_missing_abstract(store: Store) -> None:
    store.add_papers([paper(1, abstract="")], since="2026.11")
    store.add_papers([paper(1, abstract="found")], since="", look_up=False)
    assert [(p.id, p.abstract) for p in store.papers()] == [("2601.00001", "found")]


def test_the_pool_is_cut_by_window_and_category(store: Store) -> None:
    store.add_papers([paper(1, day=0), paper(2, day=5), paper(3, day=5, category="math.AG")], since="2026.11")
    store.add_papers([paper(4, category="a[b]*c"), replace(paper(5), categories=())], since="2026.11")
    later = paper(2, day=5).published
    assert [p.id for p in store.pool_authorships("2026.11", (), later, None)] == ["2601.00002", "2601.00003"]
    assert [p.id for p in store.pool_authorships("2026.11", ("cs",), later, None)] == ["2601.00002"]
    for i, category in enumerate(("math.AG", "a[b]*c", "unknown"), 3):
        assert [p.id for p in store.pool_authorships("2026.11", (category,), None, None)] == [paper(i).id]


def test_documents_round_trip(store: Store) -> None:
    store.put_document("2601.00001", "pdf", "1", FileOutcome("abc", quality=QUALITY, document=DOCUMENT))
    store.put_document("2601.00001", "html", "1", FileOutcome("", reason="missing_file"))
    assert store.document("2601.00001", "pdf") == DOCUMENT
    assert store.document("2601.00001", "html") is None
    assert store.read_file("2601.00001", "pdf", "1") == "abc"
    assert store.read_file("2601.00001", "pdf", "2") is None
    assert store.outcomes("2601.00001") == {"html": ("missing_file", None), "pdf": ("", QUALITY)}
    assert store.outcomes("2601.00002") == {}


def test_links_are_replaced_as_a_whole(store: Store) -> None:
    store.put_links("a", [Link("a", 0, "x", "title", 1.0), Link("a", 1, "y", "arxiv_id", 1.0)], "key")
    store.put_links("a", [Link("a", 1, "z", "title", 0.9)], "key")
    assert store.links("a") == [Link("a", 1, "z", "title", 0.9)]


def test_a_transaction_is_all_or_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError), store.transaction():
        store.set_note("k", 1)
        raise RuntimeError
    assert store.note("k") is None


def test_a_full_disk_is_said_to_be_one(store: Store) -> None:
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(sqlite3.OperationalError, match="full"), store.transaction():
        for i in range(10_000):
            store.set_note(f"k{i}", "x" * 1000)


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(StoreError, match="version 99"):
        Store.open(path)


def test_a_store_of_the_version_before_is_renewed(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    Store.open(path).close()
    with sqlite3.connect(path) as db:
        db.executescript("ALTER TABLE papers DROP COLUMN classes; PRAGMA user_version = 5")
    with Store.open(path) as store:
        store.add_papers([replace(paper(1, "Ann Ek"), classes=("I.2.7",))], since="2026.11")
        assert store.papers_with_classes("2026.11") == 1


def test_a_revised_title_and_the_paper_behind_a_forgotten_one_are_found(store: Store) -> None:
    first, second = paper(1, "Ann Ek"), paper(2, "Ann Ek")
    store.add_papers([replace(first, title="Herring roe salinity")], since="2026.11")
    store.add_papers([replace(second, title="Kelp forest canopies")], since="", look_up=True)
    store.titles.update()
    store.index_authors()
    store.add_papers([replace(first, title="Plankton bloom dynamics", version=first.version + 1)], since="2026.11")
    store.forget([second.id])
    store.index_authors()
    store.add_papers([replace(paper(3, "Cy Ek"), title="Walrus haul outs")], since="2026.11")
    store.titles.update()
    store.index_authors()
    assert store.titles.propose(["plankton", "bloom"], 5) == [first.id]
    [third] = store.papers_by_author("cy ek")
    assert store.titles.propose(["walrus", "haul"], 5) == [third.id]


def test_each_round_keeps_what_it_has_asked(store: Store) -> None:
    store.note_asked(["search:a", "search:b"], "2026.11")
    store.note_asked(["search:a"], "2026.12")
    assert (store.times_asked("search:", "2026.11"), store.times_asked("search:", "2026.12")) == (2, 1)
    assert store.was_asked("search:a", "2026.11")
    assert not store.was_asked("search:b", "2026.12")
