"""Which papers a reading configuration shows together, and what is asked over them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from builder.stage_report import StageReport
from lm_eval_tasks.base.intervals import FEWEST
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.families.reading import Reading

if TYPE_CHECKING:
    from builder.families.reading.asking import PaperSet, ReadingAsker
    from builder.records import Paper, ReadingReason


@dataclass(frozen=True, slots=True)
class NewPapers:
    """The papers that a round asks about, in the order of their rows.

    Attributes:
        reasons: paper -> why nothing can be asked about it.
        most: paper sets of each configuration.
    """

    papers: Sequence[Paper]
    reasons: Mapping[str, ReadingReason]
    most: int


@dataclass(slots=True)
class ChosenSets:
    """The paper sets of one configuration with what is asked over each, and a report over the papers that were tried.

    Attributes:
        questions: by the new paper of a set.
        withheld: reason -> what could have been asked, but has no certain answer.
        papers: that the sets show.
        overlapping: sets that show some of these again.
    """

    reading: Reading
    report: StageReport
    paper_sets: list[PaperSet] = field(default_factory=list)
    questions: dict[str, Sequence[Any]] = field(default_factory=dict)
    withheld: Counter[str] = field(default_factory=Counter)
    papers: set[str] = field(default_factory=set)
    overlapping: list[PaperSet] = field(default_factory=list)

    def give_up(self, reason: ReadingReason) -> None:
        """Drop all that was kept."""
        for paper_set in self.paper_sets:
            self.report.drop(paper_set.paper.id, reason)
        self.report.kept = 0
        self.paper_sets.clear()


def choose(asking: ReadingAsker[Any], readings: Sequence[Reading], new: NewPapers) -> list[ChosenSets]:
    """Choose the paper sets of one family in each size, around papers in their order, the same papers for all sizes where they can be.

    Scores over sets that share papers depend on each other, and intervals count such sets once. So no paper is shown twice
    in a configuration, as long as that leaves enough sets for intervals; if it does not, sets that overlap are taken too.
    """
    by_size = sorted(readings, key=lambda reading: reading.size)
    every = [ChosenSets(reading, StageReport(reading.name)) for reading in by_size]
    for paper in progress(new.papers, f"{asking.task} paper sets", len(new.papers)) if every else ():
        wanted = [chosen for chosen in every if len(chosen.paper_sets) < new.most]
        if not wanted:
            break
        found = new.reasons.get(paper.id) or asking.paper_sets(paper, [reading.size for reading in by_size])
        for chosen in wanted:
            if isinstance(found, str):
                chosen.report.drop(paper.id, found)
            else:
                _try(asking, every, chosen, paper, found.get(chosen.reading.size))
    for chosen in every:
        is_needed = len(chosen.paper_sets) < FEWEST
        for paper_set in chosen.overlapping:
            if is_needed and len(chosen.paper_sets) < new.most:
                _take(asking, every, chosen, paper_set)
            else:
                chosen.report.drop(paper_set.paper.id, "overlapping")
    return every


def _try(
    asking: ReadingAsker[Any], every: Sequence[ChosenSets], chosen: ChosenSets, paper: Paper, paper_set: PaperSet | None
) -> None:
    """Take a paper set, put it aside because it overlaps with another, or say what it lacks."""
    if paper_set is None:
        chosen.report.drop(paper.id, "context_not_filled")
    elif len(paper_set.papers) < asking.fewest:
        chosen.report.drop(paper.id, asking.too_few)
    elif asking.keeps_apart and any(other.id in chosen.papers for other in paper_set.papers):
        chosen.overlapping.append(paper_set)
    else:
        _take(asking, every, chosen, paper_set)


def _take(asking: ReadingAsker[Any], every: Sequence[ChosenSets], chosen: ChosenSets, paper_set: PaperSet) -> None:
    """Take a paper set, if there is something to ask; what is asked over the next smaller one around its paper comes first."""
    smaller = [other.questions for other in every if other.reading.size < chosen.reading.size]
    preferred = next((asked[paper_set.paper.id] for asked in reversed(smaller) if paper_set.paper.id in asked), ())
    asking.withheld.clear()
    questions = asking.questions(paper_set, preferred)
    chosen.withheld += asking.withheld
    if not questions:
        chosen.report.drop(paper_set.paper.id, "no_question")
        return
    ids = {other.id for other in paper_set.papers}
    asking.shown |= ids
    chosen.papers |= ids
    chosen.report.kept += 1
    chosen.paper_sets.append(paper_set)
    chosen.questions[paper_set.paper.id] = questions
