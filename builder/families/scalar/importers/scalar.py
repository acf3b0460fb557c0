"""`academiceval import scalar` and `scalar-papers`: the published questions, and questions made of SCALAR's structured papers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from builder.dataset.folder import finish_import, replacing
from builder.dataset.manifest import Configuration
from builder.errors import FolderError
from builder.families.match.family import MatchFamily
from builder.families.reading.build import ReadingPlan, build
from builder.families.reading.paper_library import PaperLibrary
from builder.families.scalar.citation_classifier import types_of
from builder.families.scalar.family import write_level
from builder.families.scalar.importers.papers import Structured, read_structured
from builder.families.scalar.importers.questions import read_questions, repeated_texts
from builder.families.scalar.questions import QuestionMaker, ask_all, turn_of
from builder.families.scalar.rows import row_of
from builder.records import Paper
from builder.round.tables import READINGS, ScalarTable
from builder.samples.tokens import token_counter
from builder.seeding import digest_of, row_order
from builder.stage_report import StageReport
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.row_format import Measured
from lm_eval_tasks.families.scalar import ALL_LEVELS, LEVELS
from lm_eval_tasks.families.scalar.shortcuts import Chooser

_LOGGER = logging.getLogger(__name__)
# ICLR 2025, whose papers the published questions are made of.
ROUND = "2025.01"
_READINGS = ("Match-128K", "Match-256K")


def import_questions(source: Path, output: Path, choosers: Mapping[Measured, Chooser]) -> list[StageReport]:
    """The published questions as a dataset folder, all in the test split. Drop reason: bad_record.

    Raises:
        FolderError: there are none, or none can be read.
    """
    report = StageReport("import SCALAR")
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, row in read_questions(source):
        if isinstance(row, str):
            report.drop(f"{name}, {row}", "bad_record")
        else:
            report.kept += 1
            rows.setdefault(row["level"], []).append(row)
    for id_, titles in repeated_texts(row for of_level in rows.values() for row in of_level).items():
        _LOGGER.warning("%s: one text is shown as that of %s", id_, " and of ".join(map(repr, titles)))
    if not report.kept:
        raise FolderError(f"no question could be read in {source} ({report.line()})")
    counter = token_counter()
    with replacing(output) as place:
        built = [
            write_level(place, level, {"test": rows[name]}, ROUND, counter, choosers)
            for level in LEVELS
            if (name := level.short_name) in rows
        ]
        finish_import(place, ROUND, "https://github.com/LibrAIResearch/scalar", built, [report])
    return [report]


def import_papers(source: Path, output: Path, seed: int, choosers: Mapping[Measured, Chooser]) -> list[StageReport]:
    """Make SCALAR's questions and Match from its structured papers; a report for each configuration.

    Raises:
        FolderError: the file cannot be read, or no question could be made.
    """
    structured, usual = read_structured(source), ScalarTable()
    in_turn = sorted(structured.citing, key=lambda citing: turn_of(citing.paper, seed))
    counter = token_counter()
    built: list[Configuration] = []
    reports: list[StageReport] = []
    with replacing(output) as place:
        for level in ALL_LEVELS:
            maker = QuestionMaker(level, seed, structured.known.get, types_of, usual.questions_of_paper, "published")
            placed = ask_all(maker, progress(in_turn, level.name), seed, usual.questions)
            built.append(write_level(place, level, {"test": map(row_of, placed)}, ROUND, counter, choosers))
            reports.append(maker.report)
        for configuration, of_one in _reading(structured, place, seed):
            built.append(configuration)
            reports += of_one
        if not any(configuration.samples for configuration in built):
            raise FolderError(f"no question could be made of {source} ({'; '.join(r.line() for r in reports)})")
        finish_import(place, ROUND, source.name, built, reports)
    return reports


def _reading(structured: Structured, place: Path, seed: int) -> Iterator[tuple[Configuration, Sequence[StageReport]]]:
    """Match over the papers and what they cite."""
    library, papers = library_of(structured, seed)
    plan = ReadingPlan(
        [reading for reading in READINGS if reading.name in _READINGS], len(papers), 1, seed, ROUND, None
    )
    return build(place, library, papers, {}, plan, [MatchFamily(library, plan.seed, plan.oldest)])


def library_of(structured: Structured, seed: int) -> tuple[PaperLibrary, list[Paper]]:
    """The papers and what they cite, and the papers in the order in which they are asked about."""
    citing = {each.paper.id: each for each in structured.citing}
    papers = sorted((each.paper for each in structured.citing), key=lambda paper: row_order(paper.versioned_id))

    def others(paper: Paper) -> list[Paper]:
        return sorted(papers, key=lambda other: digest_of(seed, paper.id, other.id, "context"))

    library = PaperLibrary(
        {id_: partial(citing.__getitem__, id_) for id_ in citing},
        lambda id_: citing[id_].cited.values(),
        structured.known.get,
        others,
    )
    return library, papers
