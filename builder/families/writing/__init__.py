"""The writing settings as one of the families of `builder.families.registry`."""

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from builder.errors import FolderError
from builder.families.descriptor import FamilyBuilder, Written
from builder.families.writing.columns import complete_row, schema_of_task
from builder.families.writing.plan import PlannedSample, plan
from builder.families.writing.prepare import prepare_papers, texts_of
from builder.families.writing.write import with_lead, write_settings
from builder.records import writing_task
from builder.round.configurations import by_task
from builder.stage_report import StageReport
from builder.workspace import Workspace
from lm_eval_tasks.base.manifest import ListedConfiguration, SplitDates
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.writing.settings import Setting


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Prepare, plan and write every writing task; with its first setting the report of each.

    Raises:
        FolderError: there is nothing to test on.
    """
    reports: dict[str, StageReport] = {}
    try:
        prepared = prepare_papers(workspace, engine)
        planned: dict[Setting, list[PlannedSample]] = {}
        for task, settings in by_task(workspace.round_.chosen).items():
            started = time.perf_counter()
            samples, reports[task] = plan(workspace, prepared, task, settings, engine)
            reports[task].seconds = time.perf_counter() - started
            planned |= dict.fromkeys(settings, samples)
        written = write_settings(folder, workspace, prepared, planned, engine)
    finally:
        texts_of(workspace).unlink(missing_ok=True)
    _check_samples(written, [workspace.graph.report, *reports.values()], workspace.dates)
    for configuration in written:
        # Each task's report once.
        yield configuration, [reports.pop(configuration.task)] if configuration.task in reports else []


def _check_samples(settings: Sequence[ListedConfiguration], reports: Sequence[StageReport], dates: SplitDates) -> None:
    """Raise a FolderError if there is nothing to test on; `reports` say what became of the papers."""
    if not any(setting.samples for setting in settings):
        raise FolderError(
            "no paper became a sample of any setting, nothing was written "
            f"({'; '.join(report.line() for report in reports)}){_advice(reports)}"
        )
    for setting in settings:
        if setting.samples and not setting.statistics("test").samples:
            raise FolderError(
                f"the test split of {setting.name} is empty ({setting.samples} samples, test from {dates.test_from}): "
                f"begin it earlier in `split`, or leave it out of `settings`{_advice(reports)}; nothing was written"
            )


# Why papers are no samples -> what of round.toml would change it.
_REMEDIES = {
    "license": '`licenses = "all"`',
    "outside_component": '`graph.component = "all"`',
    "too_few_random_demonstrations": "only settings without demonstrations, such as Title-10K,",
    "too_few_co_author_demonstrations": "only settings without co-authors' papers, such as Title-10K,",
    "no_related_work": "settings of other tasks, such as Abs-9K,",
    "no_introduction": "settings of other tasks, such as Abs-9K,",
    "too_few_citations": "a lower `samples.min_citations`",
    "short_content": "a lower `samples.min_content_words`",
}


def _advice(reports: Sequence[StageReport]) -> str:
    """Name what of the round leaves most papers out, and how many that would bring; "" if nothing of it does."""
    dropped = Counter[str]()
    for report in reports:
        dropped |= report.dropped
    found = [(count, reason) for reason, count in dropped.items() if reason in _REMEDIES]
    if not found:
        return ""
    count, reason = max(found)
    return f"; {_REMEDIES[reason]} would bring up to {count} papers"


FAMILY = FamilyBuilder(
    schema=lambda task: schema_of_task(writing_task(task)), complete=complete_row, write=write, finish=with_lead
)
