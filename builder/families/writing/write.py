"""Stage 8, the writing settings: planned samples -> Parquet files, each split of a setting by whichever process is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from builder.dataset.manifest import Configuration, SplitContents
from builder.dataset.write import SplitWriter, with_lead
from builder.families.writing.cut import Cut
from builder.families.writing.rows import columns, row_of
from builder.families.writing.texts import PaperTexts
from builder.records import SPLITS, CitedPaper, DemoKind, Demonstration, Split, SplitDates, Task, WritingSample
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.families.writing.plan import PlannedSample
    from builder.families.writing.pool import Pool
    from lm_eval_tasks.engines.registry import Engine
    from lm_eval_tasks.families.writing.settings import Setting


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
    with closing(PaperTexts(order.texts)) as texts:
        return _write_split(order, texts)


def _write_split(order: _Order, texts: PaperTexts) -> SplitContents:
    writer = SplitWriter(order.place, order.name, order.task, order.split, columns(order.task), {})
    for target, demonstrations in order.samples:
        sample = _sample(target, demonstrations, order.task, texts)
        tokens = target.tokens_as_target(order.task)
        tokens += sum(demo.tokens_as_demonstration(order.task) for _, demo in demonstrations)
        writer.add(row_of(sample, order.task, order.round_name, tokens, target.tasks[order.task].output_tokens))
    return writer.close()


def _sample(
    target: Cut, demonstrations: Sequence[tuple[DemoKind, Cut]], task: Task, texts: PaperTexts
) -> WritingSample:
    content, output = _parts(target, task, texts)
    citations = target.citations if task == "related" else ()
    return WritingSample(
        paper=target.paper,
        content=content,
        citations=tuple(
            CitedPaper(
                citation.id,
                texts[target.spans[citation.title]],
                texts[target.spans[citation.abstract]],
                citation.license,
                citation.authors,
            )
            for citation in citations
        ),
        demonstrations=tuple(_demonstration(kind, cut, task, texts) for kind, cut in demonstrations),
        target=output,
    )


def _demonstration(kind: DemoKind, cut: Cut, task: Task, texts: PaperTexts) -> Demonstration:
    paper = cut.paper
    content, output = _parts(cut, task, texts)
    return Demonstration(
        paper.versioned_id,
        kind,
        paper.published.isoformat(),
        paper.license,
        paper.title,
        paper.abstract,
        content,
        output,
        paper.authors,
    )


def _parts(cut: Cut, task: Task, texts: PaperTexts) -> tuple[str, str]:
    """What the task shows of a paper, and what it asks for."""
    task_cut = cut.tasks[task]
    return "\n\n".join(texts[cut.spans[place]] for place in task_cut.content), texts[cut.spans[task_cut.output]]
