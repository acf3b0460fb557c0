from __future__ import annotations

from datetime import date

import pytest

from builder.collect.graph import build_graph
from builder.collect.near_duplicates import copies, near_duplicate
from builder.families.writing.plan import Demonstrators
from builder.records import Paper
from builder.round.tables import SplitTable
from builder.workspace import split_dates
from lm_eval_tasks.base.manifest import SplitDates
from tests.helpers.papers import paper


def test_given_days_cut() -> None:
    cut = split_dates(SplitTable(validation_from=date(2026, 1, 5), test_from=date(2026, 1, 8)), [])
    splits = [cut.split_of(paper(i, day=i).published) for i in (3, 4, 6, 7, 9)]
    assert splits == ["train", "validation", "validation", "test", "test"]


def test_shares_cut_between_days_and_the_test_split_is_the_newest() -> None:
    papers = [paper(i, day=i // 2) for i in range(100)]
    cut = split_dates(SplitTable(validation=0.2, test=0.1), papers)
    splits = [cut.split_of(p.published) for p in papers]
    assert (splits.count("train"), splits.count("validation"), splits.count("test")) == (70, 20, 10)
    assert max(p.published for p, s in zip(papers, splits, strict=True) if s == "train") < cut.validation_from
    assert all(splits[i] == splits[i + 1] for i in range(0, 100, 2))


@pytest.mark.parametrize("table", [SplitTable(), SplitTable(validation=0.5, test=0.01)])
def test_one_paper_is_the_test_split(table: SplitTable) -> None:
    assert split_dates(table, [paper(1)]).split_of(paper(1).published) == "test"


def test_no_papers_no_cut() -> None:
    assert split_dates(SplitTable(), []) == SplitDates(date.min, date.max)


def demonstrators(papers: list[Paper], seed: int = 1) -> Demonstrators:
    return Demonstrators(papers, build_graph(papers, 50, "all"), seed)


def test_demonstrations_are_older_and_of_the_same_category() -> None:
    papers = [paper(i, day=i, category="cs.CL" if i % 2 else "cs.CV") for i in range(40)]
    for target in papers:
        chosen = demonstrators(papers).choices_for(target)(4, 0).random
        picked = [p for p in papers if p.id in chosen]
        assert all(p.published < target.published and p.primary_category == target.primary_category for p in picked)
        assert len(picked) == min(
            4, sum(p.published < target.published for p in papers if p.categories == target.categories)
        )


def test_papers_of_the_same_day_do_not_demonstrate() -> None:
    papers = [paper(1, day=3), paper(2, day=3), paper(3, day=2)]
    assert demonstrators(papers).choices_for(papers[0])(2, 0).random == ("2601.00003",)


def test_co_author_demonstrations_come_from_neighbours_only_and_never_twice() -> None:
    papers = [
        paper(1, "Bob", day=1),
        paper(2, "Cy", day=1),
        paper(3, "Zoe", day=1),
        paper(9, "Ann", "Bob", "Cy", day=5),
    ]
    chosen = demonstrators(papers).choices_for(papers[-1])(2, 2)
    assert set(chosen.co_author) == {"2601.00001", "2601.00002"}
    assert chosen.random == ("2601.00003",)


def test_a_choice_depends_on_seed_and_target_not_on_order() -> None:
    papers = [paper(i, day=i) for i in range(60)]
    forward = demonstrators(papers)
    choices = [forward.choices_for(p)(2, 0) for p in papers]
    backward = demonstrators(papers[::-1])
    assert [backward.choices_for(p)(2, 0) for p in papers[::-1]] == choices[::-1]
    other = demonstrators(papers, seed=2)
    assert [other.choices_for(p)(2, 0) for p in papers] != choices


def test_more_demonstrations_begin_with_the_fewer() -> None:
    papers = [paper(i, day=i) for i in range(60)]
    few, many = demonstrators(papers).choices_for(papers[-1])(2, 0), demonstrators(papers).choices_for(papers[-1])(5, 0)
    assert many.random[:2] == few.random


def test_near_copies_do_not_demonstrate() -> None:
    target = paper(1, day=9)
    same_title = paper(2, title="TITLE  number 1!")
    same_text = paper(3, abstract=target.abstract + " and a few more words at its end")
    other = paper(4)
    assert near(target, same_title)
    assert near(target, same_text)
    assert not near(target, other)
    assert demonstrators([target, same_title, same_text, other]).choices_for(target)(3, 0).random == ("2601.00004",)


def test_the_newer_of_two_near_copies_is_left_out() -> None:
    many = [paper(i, day=i) for i in range(300)]
    text = many[7].abstract
    half = " ".join([*text.split()[:40], *(f"other{i}" for i in range(25))])
    later = [
        paper(401, day=301, abstract=text),
        paper(402, day=302, abstract=half),
        paper(403, "Author 9", day=303, title="title number 9"),
        paper(404, "Somebody Else", day=304, title="Title number 9", abstract="short"),
        paper(405, day=305, abstract=" ".join(text.split()[:15])),
        paper(406, day=306, abstract=paper(403).abstract),  # that of a copy
    ]
    assert copies([*later, *many]) == {f"2601.0040{i}" for i in (1, 2, 3, 5, 6)}


def test_short_abstracts_are_no_copies_of_each_other() -> None:
    assert copies([paper(i, day=i, abstract="This paper has been withdrawn by its authors") for i in range(3)]) == set()


def near(a: Paper, b: Paper) -> bool:
    return near_duplicate(a.title, a.abstract, b.title, b.abstract)


def test_every_older_paper_is_drawn_sometimes() -> None:
    papers = [paper(i, day=0) for i in range(12)]
    targets = [paper(100 + i, day=1) for i in range(200)]
    drawn = demonstrators(papers + targets)
    seen = {id_ for target in targets for id_ in drawn.choices_for(target)(2, 0).random}
    assert seen == {p.id for p in papers}
