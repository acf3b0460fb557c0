"""Contexts, rows and texts of the reading families -> configurations of a dataset folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from builder.dataset.manifest import Configuration
from builder.dataset.write import ConfigurationWriter
from builder.reading import papers
from builder.reading.contexts import clusters
from builder.reading.match_rows import MatchAsking
from builder.reading.next_rows import NextAsking
from builder.reading.rows import abstract_license
from builder.reading.select_rows import SelectAsking
from builder.reading.walk_rows import WalkAsking
from builder.stage_report import StageReport
from lm_eval_tasks.core.progress import progress
from lm_eval_tasks.core.row_format import ABSTRACTS, PAPERS

if TYPE_CHECKING:
    from builder.reading.asking import Asking
    from builder.reading.contexts import Context
    from builder.reading.shelf import Shelf
    from builder.records import Paper, ReadingReason, Split
    from lm_eval_tasks.tasks.records import Reading

_SPLIT: Split = "test"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is built.

    Attributes:
        contexts: most of each configuration.
        questions: most of each context of Walk.
        oldest: months that a work which Match masks may be older than the paper; None for any number.
    """

    readings: Sequence[Reading]
    contexts: int
    questions: int
    seed: int
    round: str
    oldest: int | None = 24


@dataclass(slots=True)
class _Chosen:
    """The contexts of one configuration with what is asked over each, and a report over the papers that were tried.

    Attributes:
        withheld: reason -> what could have been asked, but has no certain answer.
    """

    reading: Reading
    report: StageReport
    contexts: list[Context] = field(default_factory=list)
    questions: list[Sequence[Any]] = field(default_factory=list)
    withheld: Counter[str] = field(default_factory=Counter)


def build(
    folder: Path, shelf: Shelf, new: Sequence[Paper], reasons: Mapping[str, ReadingReason], wanted: Wanted
) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Write all that is wanted, then the texts that it shows; each configuration with the report of its stage.

    Args:
        new: the papers that are asked about, in the order of their rows.
        reasons: new paper -> why there can be no context around it.
    """
    families: tuple[Asking[Any], ...] = (
        WalkAsking(shelf, wanted.seed, wanted.questions),
        WalkAsking(shelf, wanted.seed, wanted.questions, controls=True),
        NextAsking(shelf, wanted.seed),
        MatchAsking(shelf, wanted.seed, wanted.oldest),
        SelectAsking(shelf, wanted.seed),
    )
    shown: dict[str, set[str]] = {PAPERS: set(), ABSTRACTS: set()}
    for asking in families:
        readings = [
            reading for reading in wanted.readings if (reading.task, reading.controls) == (asking.task, asking.controls)
        ]
        for chosen in _choose(asking, readings, new, reasons, wanted.contexts):
            for context in chosen.contexts:
                abstracts = set(asking.abstracts(context))
                shown[ABSTRACTS] |= abstracts
                shown[PAPERS] |= {paper.id for paper in context.papers} - abstracts
            configuration = _write(folder, chosen, asking, wanted.round)
            yield configuration, [chosen.report, *_questions_report(chosen, configuration.samples)]
    yield from (_write_texts(folder, name, shelf, ids, wanted.round) for name, ids in shown.items() if ids)


def _choose(
    asking: Asking[Any],
    readings: Sequence[Reading],
    new: Sequence[Paper],
    reasons: Mapping[str, ReadingReason],
    most: int,
) -> list[_Chosen]:
    """The contexts of each size."""
    by_size = sorted(readings, key=lambda reading: reading.size)
    every = {reading.size: _Chosen(reading, StageReport(reading.name)) for reading in by_size}
    for paper in progress(new, f"{asking.task} contexts", len(new)) if readings else ():
        wanted = {size: chosen for size, chosen in every.items() if len(chosen.contexts) < most}
        if not wanted:
            break
        contexts = reasons.get(paper.id) or asking.contexts(paper, list(every))
        if isinstance(contexts, str):
            for chosen in wanted.values():
                chosen.report.drop(paper.id, contexts)
        else:
            _ask(paper, contexts, asking, wanted)
    return list(every.values())


def _ask(paper: Paper, contexts: Mapping[int, Context], asking: Asking[Any], wanted: Mapping[int, _Chosen]) -> None:
    """Choose what is asked over the contexts around a paper, from the smallest to the largest."""
    questions: Sequence[Any] = ()
    for size, chosen in wanted.items():
        context = contexts.get(size)
        if context is None or len(context.papers) < asking.fewest:
            chosen.report.drop(paper.id, asking.too_few if context else "context_not_filled")
            continue
        asking.withheld.clear()
        questions = asking.questions(context, questions)
        chosen.withheld += asking.withheld
        if not questions:
            chosen.report.drop(paper.id, "no_question")
            continue
        chosen.report.kept += 1
        chosen.contexts.append(context)
        chosen.questions.append(questions)


def _questions_report(chosen: _Chosen, rows: int) -> Iterator[StageReport]:
    """What was withheld of questions that could have been asked, if anything was."""
    if chosen.withheld:
        yield StageReport(f"questions {chosen.reading.name}", rows, chosen.withheld)


def _write(folder: Path, chosen: _Chosen, asking: Asking[Any], round_name: str) -> Configuration:
    writer = ConfigurationWriter(folder, Configuration(chosen.reading.name, chosen.reading.task, "questions"))
    names = clusters(chosen.contexts)
    pairs = list(zip(chosen.contexts, chosen.questions, strict=True))
    for context, questions in progress(pairs, chosen.reading.name):
        for row in asking.rows(context, questions, names[context.paper.id], round_name):
            writer.add(_SPLIT, row)
    return writer.close()


def _write_texts(
    folder: Path, name: str, shelf: Shelf, ids: set[str], round_name: str
) -> tuple[Configuration, Sequence[StageReport]]:
    """The texts of papers, in the order of their ids."""
    report = StageReport(name)
    writer = ConfigurationWriter(folder, Configuration(name, "papers", "papers"))
    for id_ in sorted(ids):
        paper = shelf.read(id_).paper
        license_ = paper.license if name == PAPERS else abstract_license(paper)
        writer.add(_SPLIT, papers.row_of(paper, shelf.text(id_, whole=name == PAPERS), license_, round_name))
        report.kept += 1
    return writer.close(), [report]
