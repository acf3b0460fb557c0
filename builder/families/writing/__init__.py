"""The writing settings as one of the families of `builder.dataset.families`."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import FileIO
from itertools import groupby
from pathlib import Path

from builder.dataset.families import Family, Row, Written
from builder.dataset.write import SplitWriter, with_lead
from builder.errors import FolderError
from builder.families.writing.cut import Cut, Pool, cut_papers, text_at
from builder.families.writing.plan import PlannedSample, plan
from builder.families.writing.rows import columns, complete_row, demonstration_of, kind_of, row_of
from builder.records import DemoKind, writing_task
from builder.round.configurations import by_task
from builder.stage_report import StageReport
from builder.workspace import Workspace
from lm_eval_tasks.base.contract import SPLITS, Split, Task
from lm_eval_tasks.base.manifest import ListedConfiguration, SplitContents, SplitDates
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.writing.settings import Setting

# In the workspace, while a folder is written.
TEXTS = "build.texts"


def _check_samples(settings: Sequence[ListedConfiguration], sampled: Sequence[StageReport], dates: SplitDates) -> None:
    """Raise a FolderError if there is nothing to test on."""
    if not any(setting.samples for setting in settings):
        raise FolderError(
            "no paper became a sample of any setting, nothing was written "
            f"({'; '.join(report.line() for report in sampled)})"
        )
    for setting in settings:
        if setting.samples and not setting.statistics("test").samples:
            raise FolderError(
                f"the test split of {setting.name} is empty ({setting.samples} samples, test from {dates.test_from}): "
                "begin it earlier in `split`, or leave it out of `settings`; nothing was written"
            )


def write(workspace: Workspace, folder: Path, engine: Engine) -> Written:
    """Cut, plan and write every writing task; with its first setting the report of each. A FolderError if there is nothing to test on."""
    round_ = workspace.round_
    texts = round_.workspace / TEXTS
    try:
        pool = _cut(workspace, texts, engine)
        planned: dict[Setting, list[PlannedSample]] = {}
        reports: dict[str, StageReport] = {}
        for task, settings in by_task(round_.chosen).items():
            started = time.perf_counter()
            samples, reports[task] = plan(pool, task, settings, engine)
            reports[task].seconds = time.perf_counter() - started
            planned |= dict.fromkeys(settings, samples)
        written = write_settings(folder, texts, planned, pool, workspace.dates, round_.round, engine)
    finally:
        texts.unlink(missing_ok=True)
    _check_samples(written, list(reports.values()), workspace.dates)
    for configuration in written:
        # Each task's report once.
        yield configuration, [reports.pop(configuration.task)] if configuration.task in reports else []


def _cut(workspace: Workspace, texts: Path, engine: Engine) -> Pool:
    """The pool of the round, its papers' texts in a file."""
    round_, papers = workspace.round_, workspace.papers
    # What another build left there is replaced.
    with texts.open("wb") as file:
        cuts = cut_papers(
            progress(papers, "cut", len(papers)),
            workspace.documents,
            by_task(round_.chosen),
            round_.licenses,
            round_.samples,
            file,
            engine,
        )
    return Pool(cuts, workspace.graph, round_.seed, round_.samples.min_citations, workspace.copies, round_.excluded)


FAMILY = Family(rows=lambda task: kind_of(writing_task(task)), complete=complete_row, write=write)


# A target, and each demonstration with its kind; one split of one setting that is to be written.
_Sample = tuple[Cut, tuple[tuple["DemoKind", Cut], ...]]
_Order = tuple["Setting", "Split", tuple[_Sample, ...]]


def write_settings(
    place: Path,
    texts: Path,
    planned: Mapping[Setting, Sequence[PlannedSample]],
    pool: Pool,
    dates: SplitDates,
    round_name: str,
    engine: Engine,
) -> list[ListedConfiguration]:
    """Write the writing settings.

    Args:
        place: the dataset folder.
        texts: the file that the spans of the pool point into.
        planned: for each setting its samples, in the order of the rows.
        round_name: the revision that every row carries.
    """
    orders = [
        (setting, split, samples)
        for setting, samples_of in planned.items()
        for split in SPLITS
        if (samples := tuple(_samples(samples_of, setting, split, pool, dates)))
    ]
    written = engine.map(partial(_write, place, texts, round_name), orders)
    named = zip(orders, progress(written, "write", len(orders)), strict=True)
    empty = {setting.name: ListedConfiguration(setting.name, setting.task, "full") for setting in planned}
    filled = {
        name: replace(empty[name], splits={split: contents for (_, split, _), contents in group})
        for name, group in groupby(named, key=lambda item: item[0][0].name)
    }
    return list(engine.map(partial(with_lead, place), (empty | filled).values()))


def _samples(
    planned: Sequence[PlannedSample], setting: Setting, split: Split, pool: Pool, dates: SplitDates
) -> Iterator[_Sample]:
    for sample in planned:
        if dates.split_of(sample.paper.published) == split:
            chosen = sample.demonstrations[setting.name]
            kinds: tuple[tuple[DemoKind, tuple[str, ...]], ...] = (
                ("random", chosen.random),
                ("co-author", chosen.co_author),
            )
            yield pool.cuts[sample.paper.id], tuple((kind, pool.cuts[id_]) for kind, ids in kinds for id_ in ids)


def _write(place: Path, texts: Path, round_name: str, order: _Order) -> SplitContents:
    setting, split, samples = order
    task = setting.task
    writer = SplitWriter(place, setting.name, task, split, columns(task), {})
    with FileIO(texts) as file:
        for target, demonstrations in samples:
            tokens = target.tokens_as_target(task) + sum(
                demo.tokens_as_demonstration(task) for _, demo in demonstrations
            )
            counts = {"input_tokens": tokens, "target_tokens": target.tasks[task].output_tokens}
            writer.add(_row(target, demonstrations, task, round_name, file) | counts)
    return writer.close()


def _row(target: Cut, demonstrations: Sequence[tuple[DemoKind, Cut]], task: Task, round_name: str, file: FileIO) -> Row:
    citations = [
        {
            "id": cited.id,
            "license": cited.license,
            "authors": cited.authors,
            "title": text_at(file, target.spans[cited.title]),
            "abstract": text_at(file, target.spans[cited.abstract]),
        }
        for cited in (target.citations if task == "related" else ())
    ]
    shown = [demonstration_of(cut.paper, kind, *_parts(cut, task, file)) for kind, cut in demonstrations]
    content, output = _parts(target, task, file)
    return row_of(target.paper, task, round_name, content, output, shown, citations)


def _parts(cut: Cut, task: Task, file: FileIO) -> tuple[str, str]:
    """What the task shows of a paper, and what it asks for."""
    task_cut = cut.tasks[task]
    content = (text_at(file, cut.spans[place]) for place in task_cut.content)
    return "\n\n".join(content), text_at(file, cut.spans[task_cut.output])
