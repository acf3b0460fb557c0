"""Planned samples -> the rows of the writing settings, their texts read from the file where prepared papers left them; and what the
first words of the body score as an answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import FileIO
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from builder.families.registry import read_rows
from builder.families.writer import tally_of
from builder.families.writing.columns import columns, demonstration_of, row_of
from builder.families.writing.plan import DemonstrationIds, PlannedSample
from builder.families.writing.prepare import PreparedPaper, text_at, texts_of
from builder.parquet.schema import Row
from builder.parquet.write import SplitWriter
from builder.records import DemoOrigin
from lm_eval_tasks.base.contract import LEAD, SPLITS, Split, Task
from lm_eval_tasks.base.figures import Bounds
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.manifest import ListedConfiguration, SplitContents, SplitDates
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.rouge import rouge_l_content
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.writing.settings import Setting

if TYPE_CHECKING:
    from builder.workspace import Workspace


@dataclass(frozen=True, slots=True)
class _Sample:
    """A target, and each demonstration with its kind."""

    target: PreparedPaper
    demonstrations: tuple[tuple[DemoOrigin, PreparedPaper], ...]


@dataclass(frozen=True, slots=True)
class _SplitOrder:
    """One split of one setting that is to be written."""

    setting: Setting
    split: Split
    samples: tuple[_Sample, ...]


def write_settings(
    folder: Path,
    workspace: Workspace,
    prepared: Mapping[str, PreparedPaper],
    planned: Mapping[Setting, Sequence[PlannedSample]],
    engine: Engine,
) -> list[ListedConfiguration]:
    """Write the writing settings into a dataset folder.

    Args:
        planned: for each setting its samples, in the order of the rows.
    """
    orders = list(_orders(workspace.dates, prepared, planned))
    contents = engine.map(partial(_write_split, folder, texts_of(workspace), workspace.round_.round), orders)
    written = zip(orders, progress(contents, "write", len(orders)), strict=True)
    configurations = {setting.name: ListedConfiguration(setting.name, setting.task, "full") for setting in planned}
    for name, of_setting in groupby(written, key=lambda item: item[0].setting.name):
        splits = {order.split: of_split for order, of_split in of_setting}
        configurations[name] = replace(configurations[name], splits=splits)
    # All settings of a task have the same samples.
    one_of_task = {configuration.task: configuration for configuration in configurations.values()}
    scores = dict(zip(one_of_task, engine.map(partial(_lead_of, folder), one_of_task.values()), strict=True))
    return [_with_score(configuration, scores[configuration.task]) for configuration in configurations.values()]


def _orders(
    dates: SplitDates, prepared: Mapping[str, PreparedPaper], planned: Mapping[Setting, Sequence[PlannedSample]]
) -> Iterator[_SplitOrder]:
    """List the splits that have samples, setting after setting."""
    for setting, samples in planned.items():
        for split in SPLITS:
            of_split = [sample for sample in samples if dates.split_of(sample.paper.published) == split]
            if of_split:
                texts = (_sample(sample, sample.demonstrations[setting.name], prepared) for sample in of_split)
                yield _SplitOrder(setting, split, tuple(texts))


def _sample(planned: PlannedSample, chosen: DemonstrationIds, prepared: Mapping[str, PreparedPaper]) -> _Sample:
    origins: tuple[tuple[DemoOrigin, tuple[str, ...]], ...] = (
        ("random", chosen.random),
        ("co-author", chosen.co_author),
    )
    demonstrations = tuple((origin, prepared[id_]) for origin, ids in origins for id_ in ids)
    return _Sample(prepared[planned.paper.id], demonstrations)


def _write_split(folder: Path, texts: Path, round_name: str, order: _SplitOrder) -> SplitContents:
    task = order.setting.task
    writer = SplitWriter(folder / order.setting.name, order.split, columns(task), tally_of(task))
    with FileIO(texts) as file:
        for sample in order.samples:
            writer.add({**_row(sample, task, file), "round": round_name})
    return writer.close()


def _row(sample: _Sample, task: Task, file: FileIO) -> Row:
    """Put together the row of a sample, without its round."""
    target = sample.target
    content, output = _texts_of(target, task, file)
    demonstrations = [
        demonstration_of(paper.paper, origin, *_texts_of(paper, task, file)) for origin, paper in sample.demonstrations
    ]
    citations = list(_citations(target, file)) if task == "related" else []
    demonstration_tokens = (paper.tokens_as_demonstration(task) for _, paper in sample.demonstrations)
    return {
        **row_of(target.paper, content, output, demonstrations, citations),
        "input_tokens": target.tokens_as_target(task) + sum(demonstration_tokens),
        "target_tokens": target.tasks[task].output_tokens,
    }


def _citations(target: PreparedPaper, file: FileIO) -> Iterator[Row]:
    for cited in target.citations:
        yield {
            "id": cited.id,
            "license": cited.license,
            "authors": cited.authors,
            "title": text_at(file, target.spans[cited.title]),
            "abstract": text_at(file, target.spans[cited.abstract]),
        }


def _texts_of(paper: PreparedPaper, task: Task, file: FileIO) -> tuple[str, str]:
    """Read what the task shows of a paper, and what it asks for."""
    texts = paper.tasks[task]
    content = (text_at(file, paper.spans[position]) for position in texts.content)
    return "\n\n".join(content), text_at(file, paper.spans[texts.output])


# --- what the first words of the body score


def with_lead(folder: Path, configuration: ListedConfiguration) -> ListedConfiguration:
    """Add to the configuration of a writing setting what `lead` scores on its test split."""
    return _with_score(configuration, _lead_of(folder, configuration))


def _with_score(configuration: ListedConfiguration, score: Bounds | None) -> ListedConfiguration:
    """Add to a configuration what `lead` scores on its test split, if that is known."""
    test = configuration.splits.get("test")
    if test is None or score is None:
        return configuration
    measured = replace(test.statistics, shortcuts={LEAD: score})
    return replace(configuration, splits={**configuration.splits, "test": replace(test, statistics=measured)})


def _lead_of(folder: Path, configuration: ListedConfiguration) -> Bounds | None:
    """Return the ROUGE-L over content words of `lead` on the test split of a writing setting.

    As many words are taken as the median target of the train split has, as the baseline of that name does. Nothing is measured
    without a train split, or of rows by id only.
    """
    if configuration.form != "full" or "test" not in configuration.splits:
        return None
    lengths = [len(row["target"].split()) for row in read_rows(folder, configuration, "train", ["target"])]
    if not lengths:
        return None
    words = int(median(lengths))
    scores, authors = [], []
    for row in read_rows(folder, configuration, "test", ["content", "target", "authors"]):
        body = row["content"].replace(row["target"], "").split(maxsplit=words)
        scores.append(rouge_l_content(row["target"], " ".join(body[:words])))
        authors.append(row["authors"][0])
    return Bounds.of(level(scores, authors))
