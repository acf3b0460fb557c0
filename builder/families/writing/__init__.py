"""The writing settings as one of the families of `builder.dataset.families`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.families import Family, Written
from builder.dataset.manifest import Configuration
from builder.dataset.write import SplitWriter, with_lead
from builder.errors import FolderError
from builder.families.writing.cut import Cut, PaperTexts, Pool, TextsWriter, cut_papers
from builder.families.writing.plan import PlannedSample, plan
from builder.families.writing.rows import columns, complete_row, demonstration_of, kind_of, row_of
from builder.records import SPLITS, writing_task
from builder.round.configurations import by_task
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.dataset.families import Row
    from builder.dataset.manifest import SplitContents
    from builder.records import DemoKind, Split, SplitDates, Task
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
    """Cut, plan and write every writing task; with its first setting the report of each. A FolderError if there is nothing to test on."""
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


@dataclass(frozen=True, slots=True)
class _Order:
    """One split of one setting that is to be written.

    Attributes:
        place: the dataset folder.
        texts: the file with the papers' texts.
        samples: target, and each demonstration with its kind.
    """

    place: Path
    texts: Path
    name: str
    task: Task
    split: Split
    round_name: str
    samples: tuple[tuple[Cut, tuple[tuple[DemoKind, Cut], ...]], ...]


def write_settings(
    place: Path,
    texts: Path,
    planned: Mapping[Setting, Sequence[PlannedSample]],
    pool: Pool,
    dates: SplitDates,
    round_name: str,
    engine: Engine,
) -> list[Configuration]:
    """Write the writing settings.

    Args:
        place: the dataset folder.
        texts: the file that the spans of the pool point into.
        planned: for each setting its samples, in the order of the rows.
        round_name: the revision that every row carries.
    """
    orders = [
        _Order(place, texts, setting.name, setting.task, split, round_name, samples)
        for setting, samples_of in planned.items()
        for split in SPLITS
        if (samples := tuple(_samples(samples_of, setting, split, pool, dates)))
    ]
    written = engine.map(_write, orders)
    named = zip(orders, progress(written, "write", len(orders)), strict=True)
    empty = {setting.name: Configuration(setting.name, setting.task, "full") for setting in planned}
    filled = {
        name: replace(empty[name], splits={order.split: contents for order, contents in group})
        for name, group in groupby(named, key=lambda item: item[0].name)
    }
    return list(engine.map(partial(with_lead, place), (empty | filled).values()))


def _samples(
    planned: Sequence[PlannedSample], setting: Setting, split: Split, pool: Pool, dates: SplitDates
) -> Iterator[tuple[Cut, tuple[tuple[DemoKind, Cut], ...]]]:
    for sample in planned:
        if dates.split_of(sample.paper) == split:
            chosen = sample.demonstrations[setting.name]
            kinds: tuple[tuple[DemoKind, tuple[str, ...]], ...] = (
                ("random", chosen.random),
                ("co-author", chosen.co_author),
            )
            yield pool.cuts[sample.paper.id], tuple((kind, pool.cuts[id_]) for kind, ids in kinds for id_ in ids)


def _write(order: _Order) -> SplitContents:
    writer = SplitWriter(order.place, order.name, order.task, order.split, columns(order.task), {})
    with closing(PaperTexts(order.texts)) as texts:
        for target, demonstrations in order.samples:
            tokens = target.tokens_as_target(order.task)
            tokens += sum(demo.tokens_as_demonstration(order.task) for _, demo in demonstrations)
            counts = {"input_tokens": tokens, "target_tokens": target.tasks[order.task].output_tokens}
            writer.add(_row(target, demonstrations, order, texts) | counts)
    return writer.close()


def _row(target: Cut, demonstrations: Sequence[tuple[DemoKind, Cut]], order: _Order, texts: PaperTexts) -> Row:
    """The row of a target, without its tokens."""
    citations = [
        {
            "id": cited.id,
            "license": cited.license,
            "authors": cited.authors,
            "title": texts[target.spans[cited.title]],
            "abstract": texts[target.spans[cited.abstract]],
        }
        for cited in (target.citations if order.task == "related" else ())
    ]
    shown = [demonstration_of(cut.paper, kind, *_parts(cut, order.task, texts)) for kind, cut in demonstrations]
    content, output = _parts(target, order.task, texts)
    return row_of(target.paper, order.task, order.round_name, content, output, shown, citations)


def _parts(cut: Cut, task: Task, texts: PaperTexts) -> tuple[str, str]:
    """What the task shows of a paper, and what it asks for."""
    task_cut = cut.tasks[task]
    return "\n\n".join(texts[cut.spans[place]] for place in task_cut.content), texts[cut.spans[task_cut.output]]
