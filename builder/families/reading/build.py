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
        questions: by the new paper of a context.
        withheld: reason -> what could have been asked, but has no certain answer.
        papers: that the contexts show.
        overlapping: contexts that show some of these again.
    """

    reading: Reading
    report: StageReport
    contexts: list[PaperSet] = field(default_factory=list)
    questions: dict[str, Sequence[Any]] = field(default_factory=dict)
    withheld: Counter[str] = field(default_factory=Counter)
    papers: set[str] = field(default_factory=set)
    overlapping: list[PaperSet] = field(default_factory=list)


def choose(
    asking: ReadingFamily[Any],
    readings: Sequence[Reading],
    most: int,
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
) -> list[ChosenContexts]:
    """The contexts of one family in each size, around papers in their order, the same papers for all sizes where they can be.

    Scores over contexts that share papers depend on each other, and intervals count such contexts once. So no paper is shown twice
    in a configuration, as long as that leaves enough contexts for intervals; if it does not, contexts that overlap are taken too.

    Args:
        most: contexts of each configuration.
        reasons: paper -> why there can be no context around it.
    """
    by_size = sorted(readings, key=lambda reading: reading.size)
    every = [ChosenContexts(reading, StageReport(reading.name)) for reading in by_size]
    for paper in progress(new, f"{asking.task} contexts", len(new)) if every else ():
        wanted = [chosen for chosen in every if len(chosen.contexts) < most]
        if not wanted:
            break
        contexts = reasons.get(paper.id) or asking.contexts(paper, [reading.size for reading in by_size])
        for chosen in wanted:
            context = contexts if isinstance(contexts, str) else contexts.get(chosen.reading.size)
            if isinstance(context, str):
                chosen.report.drop(paper.id, context)
            elif context is None or len(context.papers) < asking.fewest:
                chosen.report.drop(paper.id, asking.too_few if context else "context_not_filled")
            elif asking.keeps_apart and any(other.id in chosen.papers for other in context.papers):
                chosen.overlapping.append(context)
            else:
                _take(asking, every, chosen, context)
    for chosen in every:
        is_needed = len(chosen.contexts) < FEWEST
        for context in chosen.overlapping:
            if is_needed and len(chosen.contexts) < most:
                _take(asking, every, chosen, context)
            else:
                chosen.report.drop(context.paper.id, "overlapping")
    return every


def _take(
    asking: ReadingFamily[Any], every: Sequence[ChosenContexts], chosen: ChosenContexts, context: PaperSet
) -> None:
    """Take a context, if there is something to ask; what is asked over the next smaller one around its paper comes first."""
    smaller = [other.questions for other in every if other.reading.size < chosen.reading.size]
    preferred = next((asked[context.paper.id] for asked in reversed(smaller) if context.paper.id in asked), ())
    asking.withheld.clear()
    questions = asking.questions(context, preferred)
    chosen.withheld += asking.withheld
    if not questions:
        chosen.report.drop(context.paper.id, "no_question")
        return
    ids = {other.id for other in context.papers}
    asking.shown |= ids
    chosen.papers |= ids
    chosen.report.kept += 1
    chosen.contexts.append(context)
    chosen.questions[context.paper.id] = questions


_SPLIT: Split = "test"

_LOGGER = logging.getLogger(__name__)


def build(
    folder: Path,
    library: PaperLibrary,
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
    families: Sequence[ReadingFamily[Any]],
    readings: Sequence[Reading],
    most: int,
    round_name: str,
    excluded: frozenset[str] = frozenset(),
) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Write the configurations of families, then the texts that they show; each configuration with the report of its stage.

    Args:
        new: the papers that are asked about, in the order of their rows.
        reasons: new paper -> why there can be no context around it.
        most: contexts of each configuration.
        excluded: ids of rows that are left out.
    """
    shown: set[str] = set()
    for asking in families:
        own = [each for each in readings if (each.task, each.controls) == (asking.task, asking.controls)]
        for chosen in choose(asking, own, most, new, reasons):
            configuration = _write(folder, chosen, asking, round_name, excluded)
            if (floor := _floor(configuration)) > asking.most_floor:
                _LOGGER.warning(
                    "%s is not offered: programs that do not read answer %.2f of it, more than %.2f",
                    configuration.name,
                    floor,
                    asking.most_floor,
                )
                rmtree(folder / configuration.name)
                configuration = replace(configuration, splits={})
                for context in chosen.contexts:
                    chosen.report.drop(context.paper.id, "high_floor")
                chosen.report.kept = 0
                chosen.contexts.clear()
            shown |= {paper.id for context in chosen.contexts for paper in context.papers}
            reports = [chosen.report]
            if chosen.withheld:
                # Questions that could have been asked.
                reports.append(StageReport(f"questions {chosen.reading.name}", configuration.samples, chosen.withheld))
            yield configuration, reports
    if shown:
        yield _write_texts(folder, library, shown, round_name)


def _floor(configuration: Configuration) -> float:
    """What the shortcut scores on average; 0 without rows."""
    kinds = [kind for split in configuration.splits.values() for kind in split.statistics.kinds.values()]
    return sum(kind.shortcut.mean * kind.n for kind in kinds) / max(1, sum(kind.n for kind in kinds))


def _write(
    folder: Path, chosen: ChosenContexts, asking: ReadingFamily[Any], round_name: str, excluded: frozenset[str]
) -> Configuration:
    writer = ConfigurationWriter(folder, Configuration(chosen.reading.name, chosen.reading.task, "questions"))
    for context in progress(chosen.contexts, chosen.reading.name):
        for row in asking.rows(context, chosen.questions[context.paper.id], round_name):
            if {row["id"], row["id"].removesuffix("r")} & excluded:
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
