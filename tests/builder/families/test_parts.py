"""What reading questions are made of: text, sections, citations, works, passages, masks, paper sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial

import pytest

from builder.collect.graph import build_graph
from builder.extract.mentions import find_mentions
from builder.families.match import MatchAsker
from builder.families.match.masks import bare, masks_of, names_of, pattern_of, tag_of
from builder.families.next import (
    LEAST_OF_CALL,
    LONGEST,
    MOST_OF_CALL,
    SHORTEST,
    NextAsker,
    Passage,
    calls,
    following,
    passages_of,
    twins,
)
from builder.families.reading.asking import PaperSet, fill, neighbours
from builder.families.reading.citing import places_of, section_kinds
from builder.families.reading.neutral import CITE, FORMULA, NUMBER, edits_of
from builder.families.reading.papers_read import PaperLibrary, PaperRead, shown_text
from builder.families.reading.works import Entry, certain_works, is_garbled, near_titles
from builder.families.walk import CONTROL_KINDS, Walk
from builder.records import Cited, Citing, Document, Paper, Reference, Role, Section
from lm_eval_tasks.families.reading.prompt import edited
from lm_eval_tasks.families.reading.reading_row import Edit

DAY = date(2026, 5, 1)


def paper(id_: str, title: str = "", day: date = DAY, authors: tuple[str, ...] = ("A. Ek",)) -> Paper:
    return Paper(id_, 1, title or f"A title of paper {id_}", f"Abstract of {id_}.", authors, ("cs.CL",), day, day)


def document(sections: Mapping[str, str], titles: tuple[str, ...] = ()) -> Document:
    """A document that cites by number."""
    roles: dict[str, Role] = {
        "Introduction": "introduction",
        "Motivation": "introduction",
        "Related Work": "related_work",
        "Conclusion": "conclusion",
    }
    entries = tuple(
        Reference(f"[{n}] B. Ahl. {title}. 2020.", str(n), ("Ahl",), 2020, title) for n, title in enumerate(titles, 1)
    )
    made = tuple(Section(heading, roles.get(heading, "body"), 1, text) for heading, text in sections.items())
    return Document("T", "A", made, entries, find_mentions(made, entries))


def test_the_text_of_a_paper_and_where_its_sections_begin() -> None:
    doc = document({"Introduction": "One [1].", "5 Experiments": "Two."}, ("Some work of some kind",))
    one = paper("1")
    shown = shown_text(one, doc)
    assert shown.text.startswith(f"# {one.title}\n\n## Abstract\n{one.abstract}\n\n")
    assert [shown.text[at : at + 3] for at in shown.sections.values()] == ["One", "Two"]
    assert shown.text[shown.references :].startswith("## References\n[1] B. Ahl")


@pytest.mark.parametrize(
    ("heading", "sure", "doubtful"),
    [
        ("4 Experiments", {"experiments"}, set()),
        ("V. EXPERIMENTAL RESULTS", {"experiments"}, set()),
        ("3 Our Approach", {"method"}, set()),
        ("Experimental Method", set(), {"experiments", "method"}),
        ("4 Case Study", set(), {"experiments", "method"}),
        ("2 Background", set(), {"method", "related_work"}),
        ("Sparse Rivers", set(), {"method"}),
        ("Motivation", set(), {"introduction"}),
    ],
)
def test_what_sections_are_called(heading: str, sure: set[str], doubtful: set[str]) -> None:
    called = section_kinds(document({"Introduction": "x", heading: "x"}))[1]
    assert (called.sure, called.doubtful) == (sure, doubtful)


def test_what_opens_a_paper_without_an_introduction_is_doubtful() -> None:
    assert "introduction" in section_kinds(document({"Setting the Scene": "x", "Experiments": "y"}))[0].doubtful


@pytest.mark.parametrize(
    "text", ["as [2] says", "see [1], [2]", "many [1-3] do", "many [1]–[3] do", "[2, p. 5]", "all [1]-[4]."]
)
def test_both_ways_find_a_citation(text: str) -> None:
    titles = ("First work of all", "Second work of all", "Third work of all", "Fourth work of all")
    # Places that the two ways do not agree on are None.
    assert places_of(document({"Introduction": f"None.\n{text}"}, titles), frozenset({0}))(1) == {(0, 1)}


def test_where_the_ways_disagree_nothing_is_said() -> None:
    doc = document({"Introduction": "as [1] says"}, ("Some work of some kind",))
    without = Document(doc.title, doc.abstract, doc.sections, doc.references, ())
    assert places_of(without, frozenset({0}))(0) is None


def entry(paper_id: str, title: str, author: str = "ahl", year: int | None = 2020, cited: str = "") -> Entry:
    return Entry(paper_id, 0, title, author, year, cited)


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([entry("1", "Three words only")], "short_title"),
        ([entry("1", "A work of four", author="")], "no_author"),
        ([entry("1", "A work of four"), entry("2", "A Work of Four", author="bo")], "other_author"),
        ([entry("1", "A work of four"), entry("2", "A work of four", year=2024)], "other_year"),
        ([entry("1", "A work of four", cited="x"), entry("2", "A work of four", cited="y")], "other_id"),
        (
            [entry("1", "A work of four"), entry("2", "A work of four"), entry("3", "A work of four and more")],
            "inside_another_title",
        ),
    ],
)
def test_works_that_are_not_certain(entries: list[Entry], fault: str) -> None:
    works, faults = certain_works(entries)
    assert list(faults) == [fault]
    assert "aworkoffour" not in works


def test_titles_in_other_forms() -> None:
    entries = [
        entry("1", "Bonferroni corrections for multiple comparisons"),
        entry("2", "Bonferroni corrections for multiple comparisons"),
    ]
    near = entry("3", "The bonferonni corrections for multiple comparisons")
    [work] = certain_works(entries)[0].values()
    assert near_titles([*entries, near])(work)
    assert not near_titles(entries)(work)
    assert not near_titles([*entries, entry("3", "Deep networks for images")])(work)
    assert is_garbled("Bonferroni and ˇsid´ak corrections")
    assert not is_garbled("Müller’s state-of-the-art corrections")


TITLES = (
    "Alpha rivers of the north",
    "Beta rivers of the south",
    "Gamma lakes of the east",
    "Delta lakes of the west",
    "Epsilon seas of the globe",
)


def read_of(id_: str, sections: Mapping[str, str], titles: tuple[str, ...] = TITLES) -> PaperRead:
    return PaperRead(paper(id_), document(sections, titles), {})


def test_walk_asks_what_is_certain_and_withholds_the_rest() -> None:
    experiments = read_of("1", {"Introduction": "[1] [2] [3] [4] [5]", "Experiments": "We use [1]."})
    introduction = read_of("2", {"Introduction": "[1] [2] [3] [4] [5]", "Experiments": "Nothing."})
    doubtful = read_of("3", {"Introduction": "[1] [3] [4] [5]", "Case Study": "We use [2]."})
    other = read_of("4", {"Introduction": "Nothing."}, ())
    walk = Walk([experiments, introduction, doubtful, other])
    question = walk.question("experiments", ["alphariversofthenorth"])
    assert question is not None
    assert (question.answer, question.by_title) == ({"1"}, {"1", "2", "3"})
    assert walk.question("experiments", ["betariversofthesouth"]) is None
    assert walk.withheld["doubtful_section"] == 1
    together = walk.question("same_paragraph", ["alphariversofthenorth", "betariversofthesouth"])
    assert together is not None
    assert together.answer == {"1", "2"}
    background = walk.question("background_only", ["alphariversofthenorth"])
    assert background is not None
    assert background.answer == {"2"} | ({"3"} if background.answer >= {"3"} else set())


def test_controls_are_answered_by_reference_lists() -> None:
    every = read_of("1", {"Introduction": "[1] [2] [3] [4] [5]"})
    some = read_of("2", {"Introduction": "[1] [2] [3]"}, TITLES[:3])
    walk = Walk([every, some, read_of("3", {"Introduction": "[1] [2]"}, TITLES[3:])], CONTROL_KINDS)
    keys = ["alphariversofthenorth", "gammalakesoftheeast"]
    both, first_only = (walk.question(kind, keys) for kind in ("cites_both", "cites_first_only"))  # type: ignore[arg-type]
    assert both is not None
    assert first_only is not None
    assert both.answer == both.by_title == {"1", "2"}
    assert first_only.answer == first_only.by_title == frozenset()


def test_walk_does_not_ask_for_a_paper_of_the_set() -> None:
    reads = [read_of(name, {"Introduction": "[1] [2] [3] [4] [5]"}) for name in "12"]
    reads.append(PaperRead(paper("3", TITLES[0]), document({"Introduction": "x"}), {}))
    walk = Walk(reads)
    assert walk.questions(1, 6)
    assert walk.question("introduction", ["alphariversofthenorth"]) is None
    assert walk.withheld["inside_the_set"] == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("as in [3, 5-7] and (Ek et al., 2019; Bo, 2020) too", f"as in {CITE} and {CITE} too"),
        ("Section 3.2 and Figs. 2 and 3 (see Table IV).", f"Section {NUMBER} and Figs. {NUMBER} (see Table {NUMBER})."),
        ("values in [0, 1], n ∈[1, 5], of S2Seq and 3.5%.", "values in [0, 1], n ∈[1, 5], of S2Seq and 3.5%."),
        ("It ends here. 3.1.2 Decoder. We decode.", f"It ends here. {NUMBER} Decoder. We decode."),
        ("Both (a) and (ii) hold for F1(c) scores of 84.", f"Both {NUMBER} and {NUMBER} hold for F1(c) scores of 84."),
        ("x = a + b / (c * d) - e = 0 (7)", FORMULA),
        ("We end. The rest of this paper is organized as follows. Section 2 is dull. We begin.", "We end. We begin."),
    ],
)
def test_what_tells_the_order_of_passages_is_replaced(text: str, shown: str) -> None:
    assert edited(text, 0, len(text), edits_of(text, [])) == shown


SENTENCE = "This sentence of ten words is about the river {}."


def paragraphs(count: int, sentences: int = 10, of: str = "") -> str:
    return "\n".join(" ".join(SENTENCE.format(f"{of}{n}-{i}") for i in range(sentences)) for n in range(count))


def texts_of(read: PaperRead) -> list[str]:
    return [read.shown.text[passage.start : passage.end] for passage in passages_of(read)]


def test_passages_are_cut_at_sentences_and_within_bounds() -> None:
    for words in (175, 349, 351, 520, 1000, 2345):
        text = " ".join(SENTENCE.format(n) for n in range(words // 10)) + " One more of some words."
        texts = texts_of(read_of("1", {"Introduction": text, "Experiments": SENTENCE}))
        assert all(text.endswith(".") and SHORTEST <= len(text.split()) <= LONGEST for text in texts)
        assert " ".join(texts) == text


def test_passages_end_with_paragraphs_where_they_can() -> None:
    texts = texts_of(read_of("1", {"Introduction": paragraphs(30)}))
    assert all(len(text.split()) % 100 == 0 for text in texts)
    # The last one is as long as any other.
    assert len({len(text) for text in texts}) > 1


def chain(paper: str, length: int) -> list[Passage]:
    return [Passage(paper, 0, n, n, n + 1, (), True, True) for n in range(length)]


def test_what_is_asked_about_has_a_neighbour_on_either_side() -> None:
    passages = chain("p", 4)
    assert following(passages) == {passages[1]: passages[2], passages[2]: passages[3]}
    assert following(passages[1:]) == {passages[2]: passages[3]}
    inside = replace(passages[1], ends_whole=False)
    assert following([passages[0], inside, *passages[2:]]) == {passages[2]: passages[3]}


def test_no_two_links_of_a_chain_are_asked_and_no_call_is_too_small() -> None:
    passages = [passage for k in range(12) for passage in chain(f"p{k}", 6)]
    every = calls(passages, "c", 1)
    asked = {passage for call in every for passage in call}
    assert not asked & {passage for call in every for passage in call.values()}
    assert all(LEAST_OF_CALL <= len(call) <= MOST_OF_CALL for call in every)
    assert all(second.number == first.number + 1 for call in every for first, second in call.items())
    assert calls(passages[:6], "c", 1) == []
    unclear = {next(iter(every[0])), list(every[0].values())[1]}
    without = calls(passages, "c", 1, unclear=unclear)
    assert unclear.isdisjoint(passage for call in without for passage in (*call, *call.values()))
    text = " ".join(f"word{i}" for i in range(200))
    texts = dict(zip(passages, (text, f"{text[:900]} and more", "another text " * 40), strict=False))
    assert twins(texts) == set(passages[:2])
    more = calls(passages, "c", 1, every[:1])
    assert not {passage for call in more for passage in (*call, *call.values())} & {*every[0], *every[0].values()}


def next_family(*of_papers: Mapping[str, str]) -> tuple[NextAsker, list[Paper]]:
    """Next over some papers, of which each stands around every other."""
    reads = {str(n): read_of(str(n), sections, ()) for n, sections in enumerate(of_papers)}
    papers = [read.paper for read in reads.values()]
    cited = {id_: partial(Citing, read.paper, read.document, {}) for id_, read in reads.items()}
    library = PaperLibrary(
        cited, lambda _: [], lambda _: None, lambda paper: [other for other in papers if other is not paper]
    )
    return NextAsker(library, 1), papers


def test_small_contexts_lie_within_larger_ones_and_ask_the_same() -> None:
    family, papers = next_family(
        *({"Introduction": paragraphs(2), "Method": paragraphs(40, 8, f"{n}-")} for n in range(4))
    )
    paper_sets = family.paper_sets(papers[0], (8, 16, 1024))
    assert isinstance(paper_sets, dict)
    assert list(paper_sets) == [8, 16]
    assert paper_sets[8].stretches < paper_sets[16].stretches
    assert paper_sets[8].paper is papers[0]
    small = family.questions(paper_sets[8], [])
    assert small
    assert family.questions(paper_sets[16], small)[: len(small)] == small


def test_a_paper_without_a_section_of_two_passages_has_no_small_context() -> None:
    long = {"Introduction": paragraphs(40)}
    family, papers = next_family({"Introduction": paragraphs(2), "Method": paragraphs(3)}, long, long)
    assert family.paper_sets(papers[0], (8,)) == {}
    assert family.paper_sets(papers[1], (8,)) != {}


def test_papers_of_a_category_follow_those_of_the_co_authors() -> None:
    old = date(2026, 4, 1)
    new = replace(paper("new", authors=("A. Ek",)), categories=("cs.CL", "stat.ML"))
    of = {
        "crossed": replace(paper("crossed", day=old, authors=("C. Bo",)), categories=("stat.ML", "cs.CV")),
        "primary": paper("primary", day=old, authors=("D. Bo",)),
        "joined": replace(paper("joined", day=old, authors=("E. Bo", "A. Ek")), categories=("cs.CV",)),
        "other": replace(paper("other", day=old, authors=("F. Bo",)), categories=("cs.CV",)),
    }
    graph = build_graph([new, *of.values()], 50, "all")
    around = neighbours(list(of.values()), graph, 1, 14)(new)
    assert [each.id for each in around] == ["joined", "primary", "crossed"]


def test_smaller_contexts_lie_within_larger_ones() -> None:
    papers = [paper(str(n)) for n in range(60)]
    sizes = {each.id: 2000 + 700 * (int(each.id) % 7) for each in papers}
    paper_sets = fill(papers[0], papers[1:], (64, 128, 512), lambda each: sizes[each.id])
    assert list(paper_sets) == [64, 128]
    assert set(paper_sets[64].papers) < set(paper_sets[128].papers)
    for size, paper_set in paper_sets.items():
        assert paper_set.tokens == sum(sizes[each.id] for each in paper_set.papers)
        assert 0.85 <= paper_set.tokens / (size * 1024) <= 0.92


def library_of(read: PaperRead, works: Mapping[str, Cited]) -> PaperLibrary:
    return PaperLibrary(
        {read.paper.id: lambda: Citing(read.paper, read.document, read.resolved)},
        lambda _: read.resolved.values(),
        works.get,
        lambda _: [],
    )


def test_what_may_be_masked() -> None:
    text = "A remedy is known [1]. Riverine [2] is fast. Others agree [3], [4]. A last one is old [5]."
    text += " A dam is known [6]. Banks hold [7]\ncalled Levee by most. Banks hold sand [8]. Both hold [1, 8]."
    resolved = {n: str(n + 1) for n in range(8)}
    own = replace(paper("9"), abstract="We extend Damme (Bo, 2026) and [1].")
    read = PaperRead(own, document({"Introduction": text}, (*TITLES, "Six dams", "Seven dams", "Eight")), resolved)
    full = document({"Introduction": "x"})
    names = ["Remedies for rivers", "Riverine: a fast one", "Others of a kind", "Yet others of a kind", "An old one"]
    known = zip("12345678", [*names, "Damme: a dam", "Levee: a bank", "Sand of banks"], strict=True)
    works = {k: Cited(paper(k, name, date(2020 if k == "5" else 2026, 1, 1)), full) for k, name in known}
    library = library_of(read, works)
    found = masks_of(read, library, 1, 24)
    assert [mask.work.id for mask in found] == ["8", "1"]
    assert (found[0].age, found[0].cited_by) == (4, 1)
    assert {mask.work.id for mask in masks_of(read, library, 1, None)} == {"1", "5", "8"}
    # One work under two ids would have two right answers.
    twice = {**works, "1": Cited(paper("1", "An OLD one", date(2026, 1, 1)), full)}
    assert {mask.work.id for mask in masks_of(read, library_of(read, twice), 1, None)} == {"8"}
    [part] = MatchAsker(library, 1).last(found, PaperSet((own,), 0))
    shown = edited(read.shown.text, part["start"], part["end"], [Edit(**edit) for edit in part["edits"]])
    assert f"We extend Damme {CITE} and {CITE}." in shown
    assert "A remedy is known [MASK 2]. " in shown and "Banks hold sand [MASK 1]. Both hold [MASK 1][MASK 2]." in shown


def test_names_give_a_work_away() -> None:
    work = paper("1", "RiverNet: how deep rivers learn", authors=("Anna B. Ek-Alm", "O. Bo"))
    assert names_of(work) == {"RiverNet", "Ek-Alm", "Alm", "Bo"}
    names = pattern_of(names_of(paper("1", "Riverine – a fast one", authors=("Zoë Doshi-Véléz", "Ian Good"))))
    assert names is not None
    for left in ("of Doshi-", "Doshi- Velez et al.", "the VÉLÉZ’s", "we use Riverine", "a Doshi-\nVélez model"):
        assert names.search(bare(f"{left} | in rivers")), left
    assert not names.search(bare("a good model | of rivers"))
    assert [tag_of(*case) for case in ((True, True), (False, True), (False, False))] == ["title", "body", "neither"]
