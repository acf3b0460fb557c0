from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from builder.citations.link import cited_entries, link_papers, search_status
from builder.citations.resolve import resolve_entry
from builder.extract.references import parse_entry
from builder.extract.sections import cited_in_related_work
from builder.extract.stage import EXTRACTOR, Documents
from builder.records import Document, Link, Mention, Paper, Reference, Section
from builder.round.model import Round
from builder.sources import TITLES_AT_ONCE
from builder.sources.metadata_file import read_metadata
from builder.store import Store
from builder.store.documents import FileOutcome
from standins.citations import citation
from standins.places import DATA, table_beside
from standins.rounds import small_round
from tests.helpers.papers import paper

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


class Nothing:
    """A source that knows nothing, and notes what it is asked for."""

    def __init__(self, *papers: Paper) -> None:
        self.papers, self.asked = papers, list[str]()

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper]:
        ids = list(ids)
        self.asked += ids
        return (one for one in self.papers if one.id in ids)

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper]:
        self.asked += titles
        return (one for one in self.papers if one.title in titles)


def link(store: Store, source: Nothing, *entries: Reference, round_: str = "2026.11", **table: object) -> list[Link]:
    store.add_papers([CITING, KNOWN, LATER, NAMELESS], since="2026.11")
    store.put_document(CITING.id, "pdf", EXTRACTOR, FileOutcome(str(entries), document=document(*entries)))
    made = Round.model_validate({"round": round_, "source": {"kind": "sample"}, "link": table})
    report = link_papers(made, source, store, [CITING], Documents(store, {CITING.id: "pdf"}))  # type: ignore[arg-type]
    found = store.links(CITING.id)
    assert report.kept == sum(one.how not in ("ambiguous", "unresolved") for one in found)
    return found


def by_neu(title: str) -> Reference:
    return Reference(f"U. Neu. {title}. 2026.", title=title, authors=("Neu",), year=2026)


def links(store: Store, *entries: Reference) -> list[tuple[int, str, str]]:
    return [(one.reference, one.cited_id, one.how) for one in link(store, Nothing(), *entries)]


@pytest.mark.parametrize(
    ("entry", "how"),
    [
        (Reference("raw", arxiv_id=KNOWN.id), "arxiv_id"),
        (Reference("raw", doi=f"10.48550/arXiv.{KNOWN.id}v2"), "arxiv_id"),
        (Reference("raw", doi="10.1000/X.1"), "doi"),
        (Reference("raw", authors=("Doe",), title="Sparse Routing for Long-Inputs"), "title"),
        # A sentence of an entry whose title was not found.
        (Reference("J. Doe et al. Sparse routing for long inputs. Tests, 2019."), "title"),
    ],
)
def test_ways_to_find_a_paper(store: Store, entry: Reference, how: str) -> None:
    store.add_papers([replace(KNOWN, doi="10.1000/x.1")], since="2026.11")
    assert links(store, entry) == [(0, KNOWN.id, how)]


def test_never_to_the_future_to_itself_or_to_the_wrong_author(store: Store) -> None:
    entries = [
        Reference("raw", arxiv_id=LATER.id),
        Reference("raw", arxiv_id=CITING.id),
        Reference("raw", authors=("Poe",), title=KNOWN.title),
        Reference("raw", title="Short title"),
        Reference("raw", arxiv_id=NAMELESS.id),
        Reference("raw", arxiv_id="2601.99999"),
    ]
    assert links(store, *entries) == [(i, "", "unresolved") for i in range(6)]


def test_a_short_title_needs_its_year(store: Store) -> None:
    preface = replace(KNOWN, id="2001.00001", title="Preface")
    store.add_papers([preface], since="2026.11")
    entries = [
        Reference("raw", authors=("Doe",), title="Preface", year=preface.published.year + later) for later in (0, 5)
    ]
    assert [found[1] for found in links(store, *entries)] == [preface.id, ""]


@pytest.mark.parametrize(
    ("title", "cited"),
    [
        ("Sparse routing of long inputs, Part II", "Sparse routing of long inputs, part 2"),
        ("Sparse routing of long inputs, Part II", "Sparse routing of long inputs, Pt. 2"),
        (r"The $\alpha_s$ of $\sqrt{s}=7$ in long inputs", "The αs of √s = 7 in long inputs"),
        (r"Long inputs in $\mathcal{N}=4$ theories", "Long inputs in N = 4 theories"),
    ],
)
def test_parts_and_formulas_are_named_in_more_than_one_way(store: Store, title: str, cited: str) -> None:
    store.add_papers([replace(KNOWN, id="2001.00001", title=title)], since="2026.11")
    other = Reference("raw", authors=("Doe",), title=cited.replace("2", "3").replace("7", "8").replace("4", "5"))
    found = links(store, Reference("raw", authors=("Doe",), title=cited), other)
    assert [cited_id for _, cited_id, _ in found] == ["2001.00001", ""]


def test_a_work_is_cited_once(store: Store) -> None:
    entries = [Reference("raw", arxiv_id=KNOWN.id), Reference("raw", authors=("Doe",), title=KNOWN.title)]
    assert links(store, *entries) == [(0, KNOWN.id, "arxiv_id")]


def test_only_the_related_work_counts() -> None:
    made = document(Reference("a"), Reference("b"), Reference("c"))
    assert cited_in_related_work(made) == [0, 1, 2]
    elsewhere = replace(made, mentions=(Mention(0, 0, 1, (0,), False), Mention(2, 0, 1, (2,), False)))
    assert cited_in_related_work(elsewhere) == [2]


def test_ids_that_the_store_lacks_are_fetched_together_and_once(store: Store) -> None:
    new = paper(60, "Una Neu", day=2)
    source = Nothing(new, replace(NAMELESS, abstract="found"))
    entries = [
        Reference("a", arxiv_id=new.id),
        Reference("b", arxiv_id="2601.99999"),
        Reference("c", arxiv_id=NAMELESS.id),
    ]
    assert [one.cited_id for one in link(store, source, *entries)] == [new.id, "", NAMELESS.id]
    assert sorted(source.asked) == [NAMELESS.id, new.id, "2601.99999"]
    source.asked.clear()
    link(store, source, *entries)
    link(store, source, *entries, round_="2026.12")
    assert source.asked == []


def test_a_round_that_does_not_want_to_fetch_does_not(store: Store) -> None:
    source = Nothing(paper(60))
    assert link(store, source, Reference("a", arxiv_id="2601.00060"), fetch=False)[0].how == "unresolved"
    assert source.asked == []


def test_titles_are_searched_for_as_often_as_the_round_allows(store: Store) -> None:
    new, other = (
        paper(60 + i, "Una Neu", title=f"{word} title that only the source knows")
        for i, word in enumerate(("Some long", "Another quite different"))
    )
    source = Nothing(new, other)
    entries = [by_neu(new.title), by_neu(other.title)]
    assert [one.how for one in link(store, source, *entries, searches=0)] == ["unresolved"] * 2
    assert [one.how for one in link(store, source, *entries, searches=1)] == ["search", "unresolved"]
    assert source.asked == [new.title]
    assert [one.how for one in link(store, source, *entries, searches=2)] == ["search", "search"]
    assert source.asked == [new.title, other.title]


def test_a_title_is_searched_for_once_for_good_unless_nothing_of_its_request_was_found(store: Store) -> None:
    new = paper(60, "Una Neu", title="Some long title that only the source knows")
    known = by_neu(new.title)
    strange = by_neu("A book that is on no archive of preprints")
    lonely = by_neu("Another book that is nowhere to be found")
    source = Nothing(new)
    link(store, source, known, strange, Reference("short", title="Too short to search"))
    assert source.asked == [known.title, strange.title]
    link(store, source, lonely)
    assert source.asked == [known.title, strange.title, lonely.title]
    link(store, source, lonely, strange)
    assert len(source.asked) == 3
    link(store, source, lonely, strange, known, round_="2026.12")
    assert source.asked[3:] == [lonely.title]


def test_a_search_that_was_killed_leaves_the_store_as_it_was(store: Store) -> None:
    entries = [by_neu(f"A long title with the number {i} in it") for i in range(2 * TITLES_AT_ONCE + 1)]
    made = [paper(60 + i, "Una Neu", title=entry.title) for i, entry in enumerate(entries)]

    class Killed(Nothing):
        def search_titles(self, titles: Sequence[str]) -> Iterator[Paper]:
            if len(self.asked) == 2 * TITLES_AT_ONCE:
                raise KeyboardInterrupt
            return super().search_titles(titles)

    with pytest.raises(KeyboardInterrupt):
        link(store, Killed(*made), *entries)
    round_ = Round.model_validate({"round": "2026.11", "source": {"kind": "sample"}})
    assert list(search_status(round_, store)) == ["left of the title searches: 1 requests of 8 titles, about 0 min"]
    source = Nothing(*made)
    assert {one.how for one in link(store, source, *entries)} == {"search"}
    assert source.asked == [entry.title for entry in entries]
    assert list(search_status(round_, store)) == [
        f"cited titles searched for: {len(entries)} of at most 4000 in a round"
    ]


def test_a_paper_is_linked_once_whatever_the_store_learns_later(store: Store) -> None:
    entry = Reference("raw", authors=("Neu",), title="A title that comes later to the store", year=2026)
    assert links(store, entry)[0][2] == "unresolved"
    store.add_papers([paper(70, "Una Neu", title=entry.title)], since="")
    assert links(store, entry)[0][2] == "unresolved"
    assert links(store, entry, Reference("another file"))[0][2] == "title"


# --- titles


@pytest.fixture
def titles(store: Store) -> Store:
    store.add_papers(
        [
            paper(1, "Jane Doe", title="Sparse routing for long inputs: a study of efficient transformers"),
            paper(2, "Jane Doe", title="Sparse routing for long inputs II"),
            paper(3, "Ann Lee", title="Offline reinforcement learning with confident classification"),
            paper(4, "Bob Ray", title="Offline reinforcement learning"),
            paper(5, "Cy Wu", title="A benchmark of the year 2025"),
            paper(6, "Cy Wu", title="A benchmark of the year 2026"),
            paper(7, "Di Fox", title="The same work under two identifiers of one archive"),
            paper(8, "Di Fox", title="The same work under two identifiers of one archive", day=3),
            paper(9, "Ed Orr", title="Talk"),
            paper(10, "Ol Ai", title="Version-4 Report of a 3D Model"),
        ],
        since="",
    )
    with store.transaction():
        store.titles.update()
    return store


@pytest.mark.parametrize(
    ("raw", "number"),
    # A near title with another paper's id is that paper's; some authors print a wrong id beside the title itself.
    table_beside(__file__, "damaged_titles.json"),
)
def test_damaged_titles_are_found_and_near_ones_are_not(titles: Store, raw: str, number: int | None) -> None:
    citing = replace(CITING, published=date(2026, 12, 1))
    found = resolve_entry(titles, citing, parse_entry(raw))
    assert (found.paper.id if found.paper else None) == (f"2601.{number:05d}" if number else None)


@pytest.mark.data
@pytest.mark.slow
def test_references_made_from_real_records_are_resolved(store: Store) -> None:
    """Some of the records, of which some are left out: benchmarks/linking.py measures over all."""
    items = itertools.islice(read_metadata(DATA / "arxiv_meta.jsonl.xz"), 15_000)
    records = [item for item in items if isinstance(item, Paper)]
    rng = random.Random(1)
    unknown = {one.id for one in rng.sample(records, 100)}
    store.add_papers((one for one in records if one.id not in unknown), since="", look_up=False)
    with store.transaction():
        store.titles.update()
    citing = replace(CITING, published=date(2030, 1, 1))
    right = wrong = 0
    for one in (
        sample := [
            *rng.sample([r for r in records if r.id not in unknown], 400),
            *(r for r in records if r.id in unknown),
        ]
    ):
        found = resolve_entry(store, citing, parse_entry(citation(one, rng)[0])).paper
        right += found is not None and found.id == one.id
        wrong += found is not None and found.id != one.id
    assert len(sample) == 500
    assert wrong <= 2
    assert right >= 390


@pytest.mark.parametrize(
    ("changes", "entries"),
    [
        ({}, [1]),
        ({"reading": {"configurations": ["Walk-128K"]}}, [1]),
        ({"reading": {"configurations": ["Match-128K"]}}, [1, 0]),
        ({"scalar": {"levels": ["SCALAR-Easy"]}}, [1, 0]),
    ],
)
def test_what_is_asked_about_is_resolved(changes: dict[str, object], entries: list[int], tmp_path: Path) -> None:
    """Citations outside the related work matter to rounds whose questions are about them."""
    sections = (
        Section("1 Introduction", "introduction", 1, "As [1]."),
        Section("2 Related Work", "related_work", 1, "As [2]."),
    )
    references = (Reference("[1] One", "1"), Reference("[2] Two", "2"))
    mentions = (Mention(0, 3, 6, (0,), False), Mention(1, 3, 6, (1,), False))
    document = Document("T", "A", sections, references, mentions)
    assert cited_entries(small_round(tmp_path, **changes), document) == entries


@pytest.mark.parametrize(
    ("title", "cited"),
    [
        ("On the topology of moduli spaces", "J. Doe. On the topology of moduli spaces, II. Annals, 2019."),
        ("On the topology of moduli spaces", "J. Doe. On the topology of moduli spaces. III. Annals, 2019."),
        ("On the topology of moduli spaces", "J. Doe. On the topology of moduli spaces, Part B. Annals, 2019."),
        ("On the topology of moduli spaces, Part II", "J. Doe. On the topology of moduli spaces. Annals, 2019."),
        ("On the topology of moduli spaces V", "J. Doe. On the topology of moduli spaces. Annals, 2019."),
        ("The LLaMA 2 family of language models", "J. Doe. The LLaMA family of language models. Tests, 2019."),
        ("Stable homotopy groups of spheres", "K. Roe. Comment on “Stable homotopy groups of spheres”. Tests, 2019."),
        ("Stable homotopy groups of spheres", "J. Doe. Erratum: Stable homotopy groups of spheres. Tests, 2019."),
        ("Erratum: Stable homotopy groups of spheres", "J. Doe. Stable homotopy groups of spheres. Tests, 2019."),
        ("Supervised learning with noisy labels in nets", "J. Doe. Unsupervised learning with noisy labels in nets. Tests, 2019."),
    ],
)  # fmt: skip
def test_sequels_comments_and_opposites_are_other_works(store: Store, title: str, cited: str) -> None:
    store.add_papers([replace(KNOWN, id="2001.00001", title=title)], since="2026.11")
    assert [found[1] for found in links(store, parse_entry(cited))] == [""]
    same = parse_entry(f"J. Doe. {title}. Tests, 2019.")
    assert [found[1] for found in links(store, same)] == ["2001.00001"]
