"""Which contexts a configuration has, and what is asked over each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from builder.stage_report import StageReport
from lm_eval_tasks.base.intervals import FEWEST
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.families.reading.asking import ReadingFamily
    from builder.families.reading.contexts import PaperSet
    from builder.records import Paper, ReadingReason
    from lm_eval_tasks.families.reading import Reading


@dataclass(slots=True)
class ChosenContexts:
    """The contexts of one configuration with what is asked over each, and a report over the papers that were tried.

    Attributes:
        withheld: reason -> what could have been asked, but has no certain answer.
        papers: that the contexts show.
        overlapping: contexts that show some of these again.
    """

    reading: Reading
    report: StageReport
    contexts: list[PaperSet] = field(default_factory=list)
    questions: list[Sequence[Any]] = field(default_factory=list)
    withheld: Counter[str] = field(default_factory=Counter)
    papers: set[str] = field(default_factory=set)
    overlapping: list[PaperSet] = field(default_factory=list)

    def withdraw(self, reason: ReadingReason) -> None:
        """Drop every context."""
        for context in self.contexts:
            self.report.drop(context.paper.id, reason)
        self.report.kept = 0
        self.contexts.clear()


class Chooser:
    """Chooses the contexts of one family, the same papers for all sizes where they can be.

    Scores over contexts that share papers depend on each other, and intervals count such contexts once. So no paper is shown twice
    in a configuration, as long as that leaves enough contexts for intervals; if it does not, contexts that overlap are taken too.

    Args:
        most: contexts of each configuration.
    """

    def __init__(self, asking: ReadingFamily[Any], readings: Sequence[Reading], most: int) -> None:
        by_size = sorted(readings, key=lambda reading: reading.size)
        self._asking, self._most = asking, most
        self._every = {reading.size: ChosenContexts(reading, StageReport(reading.name)) for reading in by_size}
        # (paper, size) -> what is asked.
        self._asked: dict[tuple[str, int], Sequence[Any]] = {}

    def choose(self, new: Sequence[Paper], reasons: Mapping[str, ReadingReason]) -> list[ChosenContexts]:
        """The contexts of each size, around papers in their order.

        Args:
            reasons: paper -> why there can be no context around it.
        """
        for paper in progress(new, f"{self._asking.task} contexts", len(new)) if self._every else ():
            wanted = [size for size, chosen in self._every.items() if len(chosen.contexts) < self._most]
            if not wanted:
                break
            contexts = reasons.get(paper.id) or self._asking.contexts(paper, list(self._every))
            for size in wanted:
                if isinstance(contexts, str):
                    self._every[size].report.drop(paper.id, contexts)
                else:
                    self._try(size, paper, contexts.get(size))
        for size, chosen in self._every.items():
            self._fill_up(size, chosen)
        return list(self._every.values())

    def _try(self, size: int, paper: Paper, context: PaperSet | None) -> None:
        chosen = self._every[size]
        if context is None or len(context.papers) < self._asking.fewest:
            chosen.report.drop(paper.id, self._asking.too_few if context else "context_not_filled")
        elif self._asking.keeps_apart and any(other.id in chosen.papers for other in context.papers):
            chosen.overlapping.append(context)
        else:
            self._take(size, context)

    def _fill_up(self, size: int, chosen: ChosenContexts) -> None:
        """Decide about the contexts that overlap."""
        is_needed = len(chosen.contexts) < FEWEST
        for context in chosen.overlapping:
            if is_needed and len(chosen.contexts) < self._most:
                self._take(size, context)
            else:
                chosen.report.drop(context.paper.id, "overlapping")

    def _take(self, size: int, context: PaperSet) -> None:
        """Take a context, if there is something to ask."""
        chosen, paper = self._every[size], context.paper
        smaller = [other for other in self._every if other < size and (paper.id, other) in self._asked]
        preferred = self._asked[paper.id, smaller[-1]] if smaller else ()
        self._asking.withheld.clear()
        questions = self._asking.questions(context, preferred)
        chosen.withheld += self._asking.withheld
        if not questions:
            chosen.report.drop(paper.id, "no_question")
            return
        ids = {other.id for other in context.papers}
        self._asked[paper.id, size] = questions
        self._asking.shown |= ids
        chosen.papers |= ids
        chosen.report.kept += 1
        chosen.contexts.append(context)
        chosen.questions.append(questions)
