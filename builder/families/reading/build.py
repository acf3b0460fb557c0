"""Contexts, rows and texts of the reading families -> configurations of a dataset folder."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.families.papers import rows as papers
from builder.families.reading.choose import Chooser, ChosenContexts
from builder.stage_report import StageReport
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.row_format import ABSTRACTS, PAPERS

if TYPE_CHECKING:
    from builder.families.reading.asking import ReadingFamily
    from builder.families.reading.paper_library import PaperLibrary
    from builder.records import Paper, ReadingReason, Split
    from lm_eval_tasks.families.reading import Reading

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
    shown: dict[str, set[str]] = {PAPERS: set(), ABSTRACTS: set()}
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
            for context in chosen.contexts:
                abstracts = set(asking.abstracts(context))
                shown[ABSTRACTS] |= abstracts
                shown[PAPERS] |= {paper.id for paper in context.papers} - abstracts
            yield configuration, [chosen.report, *_questions_report(chosen, configuration.samples)]
    yield from (_write_texts(folder, name, library, ids, plan.round) for name, ids in shown.items() if ids)


def _floor(configuration: Configuration) -> float:
    """What the shortcut scores on average; 0 without rows."""
    kinds = [kind for split in configuration.splits.values() for kind in split.statistics.kinds.values()]
    return sum(kind.shortcut.mean * kind.n for kind in kinds) / max(1, sum(kind.n for kind in kinds))


def _questions_report(chosen: ChosenContexts, rows: int) -> Iterator[StageReport]:
    """What was withheld of questions that could have been asked, if anything was."""
    if chosen.withheld:
        yield StageReport(f"questions {chosen.reading.name}", rows, chosen.withheld)


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
    folder: Path, name: str, library: PaperLibrary, ids: set[str], round_name: str
) -> tuple[Configuration, Sequence[StageReport]]:
    """The texts of papers, in the order of their ids."""
    report = StageReport(name)
    writer = ConfigurationWriter(folder, Configuration(name, "papers", "papers"))
    for id_ in sorted(ids):
        paper = library.read(id_).paper
        license_ = paper.license if name == PAPERS else paper.abstract_license
        writer.add(_SPLIT, papers.row_of(paper, library.text(id_, whole=name == PAPERS), license_, round_name))
        report.kept += 1
    return writer.close(), [report]
