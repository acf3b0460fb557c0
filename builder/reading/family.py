"""The reading families as `builder.dataset.families` wants them: contexts around a round's newest papers, rows, and the papers' texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.dataset.families import Family
from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.reading import papers
from builder.reading.asking import Shelf
from builder.reading.completion import complete_row
from builder.reading.contexts import Neighbourhoods, clusters, fill
from builder.reading.next_rows import NextAsking
from builder.reading.rows import KIND
from builder.reading.walk_rows import WalkAsking
from builder.round.licenses import allows
from builder.samples.near_duplicates import copies
from builder.seeding import row_order
from builder.stage_report import StageReport
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.row_format import PAPERS

if TYPE_CHECKING:
    from builder.dataset.families import Material
    from builder.reading.asking import Asking
    from builder.reading.contexts import Context
    from builder.records import Paper, ReadingReason, Split
    from lm_eval_tasks.tasks.records import Reading

# Fewer papers say too little about a set.
LEAST_PAPERS = 8
_SPLIT: Split = "test"


@dataclass(slots=True)
class _Chosen:
    """The contexts of one configuration with what is asked over each, and a report over the papers that were tried."""

    reading: Reading
    report: StageReport
    contexts: list[Context] = field(default_factory=list)
    questions: list[Sequence[Any]] = field(default_factory=list)


def write(material: Material, folder: Path) -> Iterator[tuple[Configuration, StageReport]]:
    """Every configuration that the round asks for, and `Papers` with the texts of all papers that they show."""
    table, seed = material.round_.reading, material.round_.seed
    if not table.chosen:
        return
    shelf = Shelf(material)
    shown: dict[str, Paper] = {}
    families: tuple[Asking[Any], ...] = (WalkAsking(shelf, seed, table.questions_of_context), NextAsking(shelf, seed))
    for asking in families:
        readings = [reading for reading in table.chosen if reading.task == asking.task]
        for chosen in _choose(material, asking, readings):
            shown |= {paper.id: paper for context in chosen.contexts for paper in context.papers}
            yield _write(folder, chosen, asking, material.round_.round), chosen.report
    yield _write_papers(folder, shelf, shown, material.round_.round)


def _choose(material: Material, asking: Asking[Any], readings: Sequence[Reading]) -> list[_Chosen]:
    """The contexts of each size, around the test papers in the order of their rows."""
    round_ = material.round_
    duplicates = copies(material.papers)
    fit = [paper for paper in material.papers if paper.id not in duplicates and allows(paper.license, round_.licenses)]
    around = Neighbourhoods(fit, material.graph, round_.seed, round_.reading.window_months)
    by_size = {
        reading.size: _Chosen(reading, StageReport(reading.name))
        for reading in sorted(readings, key=lambda reading: reading.size)
    }
    new = sorted(material.dates.test_of(material.papers), key=lambda paper: row_order(paper.versioned_id))
    for paper in progress(new, f"{asking.task} contexts", len(new)):
        wanted = [size for size, chosen in by_size.items() if len(chosen.contexts) < round_.reading.contexts]
        if not wanted:
            break
        reason = _reason(paper, duplicates, material, asking)
        contexts = {} if reason else fill(paper, around.around(paper), list(by_size), asking.tokens)
        _ask(paper, contexts, reason, asking, {size: by_size[size] for size in wanted})
    return list(by_size.values())


def _reason(paper: Paper, duplicates: frozenset[str], material: Material, asking: Asking[Any]) -> ReadingReason | None:
    """Why there can be no context around a paper."""
    if paper.id in duplicates:
        return "near_duplicate"
    if not allows(paper.license, material.round_.licenses):
        return "license"
    return asking.unfit if asking.tokens(paper) is None else None


def _ask(
    paper: Paper,
    contexts: Mapping[int, Context],
    reason: ReadingReason | None,
    asking: Asking[Any],
    wanted: Mapping[int, _Chosen],
) -> None:
    """Choose what is asked over the contexts around a paper, from the smallest to the largest."""
    asked: Sequence[Any] = ()
    for size, chosen in wanted.items():
        context = contexts.get(size)
        fault = reason
        if fault is None and context is None:
            fault = "context_not_filled"
        elif context is not None and len(context.papers) < LEAST_PAPERS:
            fault = "too_few_papers"
        elif context is not None and not (asked := asking.questions(context, asked)):
            fault = "no_question"
        if fault or context is None:
            chosen.report.drop(paper.id, fault or "context_not_filled")
            continue
        chosen.report.kept += 1
        chosen.contexts.append(context)
        chosen.questions.append(asked)


def _write(folder: Path, chosen: _Chosen, asking: Asking[Any], round_name: str) -> Configuration:
    writer = ConfigurationWriter(folder, Configuration(chosen.reading.name, chosen.reading.task, "questions"))
    names = clusters(chosen.contexts)
    pairs = list(zip(chosen.contexts, chosen.questions, strict=True))
    for context, questions in progress(pairs, chosen.reading.name):
        for row in asking.rows(context, questions, names[context.paper.id], round_name):
            writer.add(_SPLIT, row)
    return writer.close()


def _write_papers(
    folder: Path, shelf: Shelf, shown: Mapping[str, Paper], round_name: str
) -> tuple[Configuration, StageReport]:
    """The texts of the papers, in the order of their ids."""
    report = StageReport(PAPERS)
    writer = ConfigurationWriter(folder, Configuration(PAPERS, "papers", "papers"))
    for id_ in sorted(shown):
        writer.add(_SPLIT, papers.row_of(shelf.read(id_), round_name))
        report.kept += 1
    return writer.close(), report


def _prepare(*_: object) -> None:
    """Contexts show papers of the round alone."""


FAMILY = Family("Reading", KIND, complete_row, _prepare, write)
