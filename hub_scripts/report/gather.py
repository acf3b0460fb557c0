"""Samples of all models, setting by setting -> the figures of the leaderboard, and one file for each sample's page."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from builder.round.configurations import thousands_in
from hub_scripts.report.cells import Cell, Group, Key, win_rate
from hub_scripts.report.inputs import Inputs, SamplesFile
from hub_scripts.report.newest import newest_runs
from hub_scripts.report.sample_pages import SamplePage
from lm_eval_tasks.base.contract import Licenses
from lm_eval_tasks.base.typed import present
from lm_eval_tasks.families import registry
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.families.descriptor import Metric
from lm_eval_tasks.judge.verdict import SETTLED, points_of
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.columns import column, columns_of, zero_of
from lm_eval_tasks.stats.scores import by_place

# Of English papers, on average.
_CHARACTERS_OF_TOKEN = 4.5


# Of the samples that a judge could decide: identity, points, first author.
_Points = list[tuple[str, float, str]]


@dataclass(slots=True)
class _Setting:
    """One setting while it is gathered: its samples by their identity, and by model the answers and, by judge, what these say of them."""

    pages: dict[str, SamplePage] = field(default_factory=dict)
    by_model: dict[str, list[Sample]] = field(default_factory=dict)
    points: dict[str, dict[str, _Points]] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)

    def add(self, model: str, sample: Sample, verdicts: Mapping[str, Any]) -> None:
        page = self.pages.setdefault(sample.identity, SamplePage(sample.row))
        page.add(model, sample, verdicts)
        self.by_model.setdefault(model, []).append(sample)
        for judge, won in points_by_judge(verdicts).items():
            of_judge = self.points.setdefault(model, {}).setdefault(judge, [])
            of_judge.append((sample.identity, won, sample.cluster))

    @property
    def finished(self) -> dict[str, list[Sample]]:
        return {
            model: samples
            for model, samples in self.by_model.items()
            if any(each.scores or each.failed for each in samples)
        }

    @property
    def unfinished(self) -> dict[str, int]:
        waiting = self.waiting - self.finished.keys()
        return {model: len(samples) for model, samples in sorted(self.by_model.items()) if model in waiting}

    def cells(self) -> list[Cell]:
        finished = self.finished
        cells = [_cell(model, samples, self.points.get(model, {})) for model, samples in finished.items()]
        return sorted([*cells, *carried_baselines(finished)], key=lambda cell: cell.model)


def gather(key: Key, files: Sequence[SamplesFile], inputs: Inputs, folder: Path, licenses: Licenses) -> Group:
    """Read one setting's samples of all models, write their pages' data below `folder` without the texts that the licences do not allow,
    and return the figures.

    Raises:
        SamplesError: a file cannot be read.
        ReportError: a run has two answers to one sample.
    """
    setting = _Setting()
    for run in newest_runs(key, files, inputs.round_names):
        for sample in run.samples:
            setting.add(run.model, sample, inputs.verdicts.of(run.file.model, sample))
        if not run.file.finished:
            setting.waiting.add(run.model)
    pages = sorted(setting.pages.items(), key=lambda page: (page[1].row.published, page[1].row.id, page[0]))
    withheld = 0
    for i, (_, page) in enumerate(pages):
        withheld += page.write(folder / key.slug / f"{i}.js", f"{key.slug}/{i}", licenses)
    rows = [page.row for _, page in pages]
    asked = [sample.row for samples in setting.by_model.values() for sample in samples]
    tokens = _tokens(asked)
    return Group(
        key=key,
        task=rows[0].task,
        metric=rows[0].ranking.name,
        context=thousands_in(key.setting) or (round(fmean(tokens) / 1000) if tokens else None),
        ids=[id_ for id_, _ in pages],
        names=[row.id for row in rows],
        titles=[row.title for row in rows],
        published=[row.published for row in rows],
        cells=setting.cells(),
        prompt_versions=sorted({row.prompt_version for row in asked}),
        unfinished=setting.unfinished,
        withheld=withheld,
        made_up=any(row.made_up for row in rows),
        parts=[answering_of(row.task).part_of(row) for row in rows],
    )


def _tokens(rows: Sequence[PromptRow]) -> list[int]:
    """List the lengths of prompts, in tokens; estimated from their characters if no tokenizer was given. Unknown ones are left out."""
    return list(filter(None, map(_length, rows)))


def _length(row: PromptRow) -> int:
    characters = max((slot.end for slot in row.slots), default=0)
    return row.tokens_before or round(characters / _CHARACTERS_OF_TOKEN)


def points_by_judge(verdicts: Mapping[str, Any]) -> dict[str, float]:
    """Return what a sample gets from each judge that could decide it: 1, 0 or, if the orders disagree, 0.5."""
    points = {
        judge: SETTLED[orders] if isinstance(orders, str) else points_of(orders) for judge, orders in verdicts.items()
    }
    return {judge: own for judge, own in points.items() if own is not None}


def _cell(model: str, samples: Sequence[Sample], points: Mapping[str, _Points]) -> Cell:
    columns = columns_of(samples)
    scored = max((columns[name].n for name in registry.headline() if name in columns), default=len(samples))
    row = samples[0].row
    columns |= present({win_rate(judge): column(win_rate(judge), won) for judge, won in sorted(points.items())})
    tokens = _tokens([sample.row for sample in samples])
    # Of a run whose rows do not say how many there are, those that lack a score are known to be missing.
    of = len(samples) if row.of is None and scored < len(samples) else row.of
    return Cell(
        model=model,
        samples=scored,
        columns=columns,
        floors=present(
            {metric.name: zero_of(metric.name, columns) for metric in registry.METRICS if _has_floor(row, metric)}
        ),
        tokens=fmean(tokens) if tokens else None,
        of=of,
        prompts={sample.identity: sample.prompt_hash for sample in samples},
        shown=row.shown,
        reader=model.removesuffix(f" + {row.retriever}"),
        lengths=present({sample.identity: sample.row.tokens_before for sample in samples}),
        places=by_place(samples),
    )


def _has_floor(row: PromptRow, metric: Metric) -> bool:
    """Tell whether programs were given as much to read as a model: over part of a context, only those that read the prompt are."""
    return not row.shown or metric.best == "lower"


def carried_baselines(samples_by_model: Mapping[str, Sequence[Sample]]) -> Iterator[Cell]:
    """Make the cells of the baselines that were not run, and whose score samples carry beside their own."""
    samples = [sample for of_model in samples_by_model.values() for sample in of_model]
    for metric, shortcut in _baselines():
        if shortcut.baseline in samples_by_model:
            continue
        carrying = {
            sample.identity: sample
            for sample in samples
            if shortcut.name in sample.scores and _has_floor(sample.row, metric)
        }
        columns = columns_of(list(carrying.values()))
        scores = columns.get(shortcut.name)
        if not scores:
            continue
        # Of its own samples, not of those that another model has scored.
        zero = zero_of(metric.name, {**columns, metric.name: scores})
        yield Cell(
            model=shortcut.baseline,
            samples=scores.n,
            columns={metric.name: scores},
            floors={metric.name: zero} if zero else {},
            tokens=None,
            of=max([scores.n, *(sample.row.of or 0 for sample in carrying.values())]),
            is_carried=True,
        )


def _baselines() -> Iterator[tuple[Metric, Metric]]:
    """List metrics with those of their floors that are a baseline's score."""
    for metric in registry.METRICS:
        for name in metric.floors:
            floor = registry.find_metric(name)
            if floor and floor.baseline:
                yield metric, floor
