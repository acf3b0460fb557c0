"""Which paper_sets are taken: apart while that leaves enough for intervals, else overlapping ones too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from builder.families.reading.asking import PaperSet
from builder.families.reading.choosing import ChosenSets, NewPapers, choose
from builder.families.reading.papers_read import PaperLibrary
from builder.records import Paper
from builder.round.tables import READINGS
from tests.helpers.paper_sets import SetsAlone

SIZES = [reading for reading in READINGS if reading.task == "walk"][:2]
# Twelve papers fill the smaller size, twice as many the larger one.
TOKENS = 9_500


class MadeUp(SetsAlone):
    """Asks one question over each paper_set, its new paper's id with the size; none about papers whose id ends in 9."""

    task = "next"

    def tokens(self, paper: Paper) -> int:
        return TOKENS

    def questions(self, paper_set: PaperSet, preferred: Sequence[str]) -> list[str]:
        return list(preferred) or [f"{paper_set.paper.id} {paper_set.tokens}"] * (not paper_set.paper.id.endswith("9"))


def paper(id_: str, day: int) -> Paper:
    written = date(2026, 5, day)
    return Paper(id_, 1, f"Title {id_}", "Abstract.", (f"Author {id_}",), ("cs.CL",), written, written)


def chosen_of(new: int, old: int, most: int) -> tuple[MadeUp, list[ChosenSets]]:
    """The paper_sets around some new papers, each with all older ones, those of the nearest number first."""
    others = [paper(f"old{n}", 1) for n in range(old)]
    papers = [paper(f"new{n}", 2) for n in range(new)]

    def around(paper: Paper) -> Sequence[Paper]:
        place = int(paper.id[3:]) % max(old, 1)
        return others[place:] + others[:place]

    library = PaperLibrary({}, lambda _: [], lambda _: None, around)
    asking = MadeUp(library, 1)
    return asking, choose(asking, SIZES, NewPapers(papers, {"new0": "license"}, most))


def shared(chosen: ChosenSets) -> int:
    """How many papers are in more than one paper_set."""
    shown = [other.id for paper_set in chosen.paper_sets for other in paper_set.papers]
    return len(shown) - len(set(shown))


def test_paper_sets_are_apart_where_there_are_papers_enough() -> None:
    _, every = chosen_of(new=60, old=1000, most=20)
    for chosen in every:
        assert len(chosen.paper_sets) == 20
        assert shared(chosen) == 0
        assert chosen.report.dropped["no_question"] == 2
        assert chosen.report.dropped["license"] == 1
    small, large = every
    assert [paper_set.paper for paper_set in small.paper_sets] == [paper_set.paper for paper_set in large.paper_sets]
    assert small.questions == large.questions
    assert all(
        set(less.papers) < set(more.papers) for less, more in zip(small.paper_sets, large.paper_sets, strict=True)
    )


@pytest.mark.parametrize(("old", "taken"), [(400, (20, 17)), (150, (10, 20))])
def test_overlapping_contexts_are_taken_only_where_no_interval_is_possible_without(
    old: int, taken: tuple[int, int]
) -> None:
    _, every = chosen_of(new=60, old=old, most=20)
    assert tuple(len(chosen.paper_sets) for chosen in every) == taken
    for chosen in every:
        report = chosen.report
        assert report.kept == len(chosen.paper_sets)
        assert report.kept + sum(report.dropped.values()) <= 60
        assert (shared(chosen) == 0) == (not (old == 150 and chosen is every[1]))
        assert len({paper_set.paper for paper_set in chosen.paper_sets}) == len(chosen.paper_sets)
    # A smaller paper_set lies within a larger one of the same paper, also where it overlaps others.
    small, large = ({paper_set.paper: paper_set for paper_set in chosen.paper_sets} for chosen in every)
    assert all(set(small[key].papers) < set(large[key].papers) for key in small.keys() & large.keys())
