"""Which contexts a configuration has, what is asked over each, and these as rows and texts in a dataset folder."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.stage_report import StageReport
from lm_eval_tasks.base.intervals import FEWEST
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.row_format import PAPERS

if TYPE_CHECKING:
    from builder.families.reading.asking import PaperSet, ReadingFamily
    from builder.families.reading.papers_read import PaperLibrary
    from builder.records import Paper, ReadingReason, Split
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
            is_needed = len(chosen.contexts) < FEWEST
            for context in chosen.overlapping:
                if is_needed and len(chosen.contexts) < self._most:
                    self._take(size, context)
                else:
                    chosen.report.drop(context.paper.id, "overlapping")
        return list(self._every.values())

    def _try(self, size: int, paper: Paper, context: PaperSet | None) -> None:
        chosen = self._every[size]
        if context is None or len(context.papers) < self._asking.fewest:
            chosen.report.drop(paper.id, self._asking.too_few if context else "context_not_filled")
        elif self._asking.keeps_apart and any(other.id in chosen.papers for other in context.papers):
            chosen.overlapping.append(context)
        else:
            self._take(size, context)

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


_SPLIT: Split = "test"

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """What is built.

    Attributes:
        contexts: most of each configuration.
        questions: most of each context of Walk.
        excluded: ids of rows that are left out.
        oldest: months that a work which Match masks may be older than the paper; None for any number.
    """

    readings: Sequence[Reading]
    contexts: int
    questions: int
    seed: int
    round: str
    oldest: int | None = 24
    excluded: frozenset[str] = frozenset()


def build(
    folder: Path,
    library: PaperLibrary,
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
    plan: ReadingPlan,
    families: Sequence[ReadingFamily[Any]],
) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Write all that is planned, then the texts that it shows; each configuration with the report of its stage.

    Args:
        new: the papers that are asked about, in the order of their rows.
        reasons: new paper -> why there can be no context around it.
    """
    shown: set[str] = set()
    for asking in families:
        readings = [
            reading for reading in plan.readings if (reading.task, reading.controls) == (asking.task, asking.controls)
        ]
        for chosen in Chooser(asking, readings, plan.contexts).choose(new, reasons):
            configuration = _write(folder, chosen, asking, plan)
            if (floor := _floor(configuration)) > asking.most_floor:
                _LOGGER.warning(
                    "%s is not offered: programs that do not read answer %.2f of it, more than %.2f",
                    configuration.name,
                    floor,
                    asking.most_floor,
                )
                rmtree(folder / configuration.name)
                configuration = replace(configuration, splits={})
                chosen.withdraw("high_floor")
            shown |= {paper.id for context in chosen.contexts for paper in context.papers}
            reports = [chosen.report]
            if chosen.withheld:
                # Questions that could have been asked.
                reports.append(StageReport(f"questions {chosen.reading.name}", configuration.samples, chosen.withheld))
            yield configuration, reports
    if shown:
        yield _write_texts(folder, library, shown, plan.round)


def _floor(configuration: Configuration) -> float:
    """What the shortcut scores on average; 0 without rows."""
    kinds = [kind for split in configuration.splits.values() for kind in split.statistics.kinds.values()]
    return sum(kind.shortcut.mean * kind.n for kind in kinds) / max(1, sum(kind.n for kind in kinds))


def _write(folder: Path, chosen: ChosenContexts, asking: ReadingFamily[Any], plan: ReadingPlan) -> Configuration:
    writer = ConfigurationWriter(folder, Configuration(chosen.reading.name, chosen.reading.task, "questions"))
    pairs = list(zip(chosen.contexts, chosen.questions, strict=True))
    for context, questions in progress(pairs, chosen.reading.name):
        for row in asking.rows(context, questions, plan.round):
            if {row["id"], row["id"].removesuffix("r")} & plan.excluded:
                chosen.withheld["excluded"] += 1
            else:
                writer.add(_SPLIT, row)
    return writer.close()


def _write_texts(
    folder: Path, library: PaperLibrary, ids: set[str], round_name: str
) -> tuple[Configuration, Sequence[StageReport]]:
    """The texts of papers, in the order of their ids."""
    from builder.families import papers

    writer = ConfigurationWriter(folder, Configuration(PAPERS, "papers", "papers"))
    for id_ in sorted(ids):
        read = library.read(id_)
        writer.add(_SPLIT, papers.row_of(read.paper, read.shown.text, round_name))
    return writer.close(), [StageReport(PAPERS, len(ids))]
