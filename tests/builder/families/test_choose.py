"""Which contexts are taken: apart while that leaves enough for intervals, else overlapping ones too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import pytest

from builder.families.reading.asking import PaperSet
from builder.families.reading.making import ChosenContexts, choose
from builder.families.reading.papers_read import PaperLibrary
from builder.records import Paper
from builder.round.tables import READINGS
from tests.helpers.contexts import ContextsAlone

SIZES = [reading for reading in READINGS if reading.task == "walk"][:2]
# Twelve papers fill the smaller size, twice as many the larger one.
TOKENS = 9_500


class MadeUp(ContextsAlone):
    """Asks one question over each context, its new paper's id with the size; none about papers whose id ends in 9."""

    task = "next"

    def tokens(self, paper: Paper) -> int:
        return TOKENS

    def questions(self, context: PaperSet, preferred: Sequence[str]) -> list[str]:
        return list(preferred) or [f"{context.paper.id} {context.tokens}"] * (not context.paper.id.endswith("9"))


def paper(id_: str, day: int) -> Paper:
    written = date(2026, 5, day)
    return Paper(id_, 1, f"Title {id_}", "Abstract.", (f"Author {id_}",), ("cs.CL",), written, written)


def chosen_of(new: int, old: int, most: int) -> tuple[MadeUp, list[ChosenContexts]]:
    """The contexts around some new papers, each with all older ones, those of the nearest number first."""
    others = [paper(f"old{n}", 1) for n in range(old)]
    papers = [paper(f"new{n}", 2) for n in range(new)]

    def around(paper: Paper) -> Sequence[Paper]:
        place = int(paper.id[3:]) % max(old, 1)
        return others[place:] + others[:place]

    library = PaperLibrary({}, lambda _: [], lambda _: None, around)
    asking = MadeUp(library, 1)
    return asking, choose(asking, SIZES, most, papers, {"new0": "license"})


def shared(chosen: ChosenContexts) -> int:
    """How many papers are in more than one context."""
    shown = [other.id for context in chosen.contexts for other in context.papers]
    return len(shown) - len(set(shown))


def test_contexts_are_apart_where_there_are_papers_enough() -> None:
    _, every = chosen_of(new=60, old=1000, most=20)
    for chosen in every:
        assert len(chosen.contexts) == 20
        assert shared(chosen) == 0
        assert chosen.report.dropped["no_question"] == 2
        assert chosen.report.dropped["license"] == 1
    small, large = every
    assert [context.paper for context in small.contexts] == [context.paper for context in large.contexts]
    assert small.questions == large.questions
    assert all(set(less.papers) < set(more.papers) for less, more in zip(small.contexts, large.contexts, strict=True))


@pytest.mark.parametrize(("old", "taken"), [(400, (20, 17)), (150, (10, 20))])
def test_overlapping_contexts_are_taken_only_where_no_interval_is_possible_without(
    old: int, taken: tuple[int, int]
) -> None:
    _, every = chosen_of(new=60, old=old, most=20)
    assert tuple(len(chosen.contexts) for chosen in every) == taken
    for chosen in every:
        report = chosen.report
        assert report.kept == len(chosen.contexts)
        assert report.kept + sum(report.dropped.values()) <= 60
        assert (shared(chosen) == 0) == (not (old == 150 and chosen is every[1]))
        assert len({context.paper for context in chosen.contexts}) == len(chosen.contexts)
    # A smaller context lies within a larger one of the same paper, also where it overlaps others.
    small, large = ({context.paper: context for context in chosen.contexts} for chosen in every)
    assert all(set(small[key].papers) < set(large[key].papers) for key in small.keys() & large.keys())
