"""The writing settings as one of the families of `builder.dataset.families`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.families import Family, Written
from builder.errors import FolderError
from builder.families.writing.completion import complete_row
from builder.families.writing.cut import cut_papers
from builder.families.writing.plan import PlannedSample, plan
from builder.families.writing.pool import Pool
from builder.families.writing.rows import kind_of
from builder.families.writing.texts import TextsWriter
from builder.families.writing.write import write_settings
from builder.records import writing_task
from builder.round.configurations import by_task
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.dataset.manifest import Configuration
    from builder.records import SplitDates
    from builder.stage_report import StageReport
    from builder.workspace import Workspace
    from lm_eval_tasks.engines.registry import Engine
    from lm_eval_tasks.families.writing.settings import Setting

# In the workspace, while a folder is written.
TEXTS = "build.texts"


def _check_samples(settings: Sequence[Configuration], sampled: Sequence[StageReport], dates: SplitDates) -> None:
    """Raise a FolderError if there is nothing to test on."""
    if not any(setting.samples for setting in settings):
        lines = "; ".join(report.line() for report in sampled)
        raise FolderError(f"no paper became a sample of any setting, nothing was written ({lines})")
    for setting in settings:
        if setting.samples and not setting.statistics("test").samples:
            raise FolderError(
                f"the test split of {setting.name} is empty ({setting.samples} samples, test from {dates.test_from}): "
                "begin it earlier in `split`, nothing was written"
            )


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Cut, plan and write every writing task; with its first setting the report of each.

    Raises:
        FolderError: there is nothing to test on.
    """
    round_ = workspace.round_
    texts = round_.workspace / TEXTS
    try:
        pool = _cut(workspace, texts, engine)
        planned: dict[Setting, list[PlannedSample]] = {}
        reports: dict[str, StageReport] = {}
        for task, settings in by_task(round_.chosen).items():
            started = time.perf_counter()
            samples, report = plan(pool, task, settings, engine)
            report.seconds = time.perf_counter() - started
            planned |= dict.fromkeys(settings, samples)
            reports[task] = report
        written = write_settings(folder, texts, planned, pool, workspace.dates, round_.round, engine)
    finally:
        texts.unlink(missing_ok=True)
    _check_samples(written, list(reports.values()), workspace.dates)
    for configuration in written:
        # Each task's report once.
        name = configuration.task
        yield configuration, [reports.pop(name)] if name in reports else []


def _cut(workspace: Workspace, texts: Path, engine: Engine) -> Pool:
    """The pool of the round, its papers' texts in a file."""
    round_, papers = workspace.round_, workspace.papers
    with TextsWriter(texts) as writer:
        cuts = cut_papers(
            progress(papers, "cut", len(papers)),
            workspace.documents,
            by_task(round_.chosen),
            round_.licenses,
            round_.samples,
            writer,
            engine,
        )
    return Pool(cuts, workspace.graph, round_.seed, round_.samples.min_citations, workspace.copies, round_.excluded)


FAMILY = Family(rows=lambda task: kind_of(writing_task(task)), complete=complete_row, write=write)
