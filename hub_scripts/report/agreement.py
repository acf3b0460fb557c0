"""How far metrics agree with each other and with the judge: over the answers, and over the models."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from hub_scripts.report.board import LABELS, TASK_LABELS
from hub_scripts.report.cells import WIN_RATE, Cell, Group
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.stats.correlations import correlations_of, matrix

if TYPE_CHECKING:
    from lm_eval_tasks.core.tables import Table

_METRICS = (WIN_RATE, *(metric.name for metric in registry.of_texts()))


def agreement(groups: Sequence[Group]) -> dict[str, Table]:
    """Title -> table, for each task over its answers and over its models; tables without a pair are left out."""
    tables: dict[str, Table] = {}
    for task in dict.fromkeys(group.task for group in groups):
        task_groups = [group for group in groups if group.task == task]
        for what, rows in (("answers", _answers(task_groups)), ("models", _models(task_groups))):
            if pairs := correlations_of(list(rows), _METRICS):
                most = max(pair.samples for pair in pairs)
                tables[f"{TASK_LABELS[task]}, over up to {most} {what}"] = matrix(
                    [replace(pair, first=_label(pair.first), second=_label(pair.second)) for pair in pairs]
                )
    return tables


def _label(metric: str) -> str:
    return LABELS.get(metric) or registry.label(metric)


def _scores(cell: Cell) -> dict[str, dict[str, float]]:
    return {**cell.values, **cell.diagnostics}


def _answers(groups: Sequence[Group]) -> Iterator[tuple[Mapping[str, float], str]]:
    """The scores of each answer, and the first author of its paper."""
    for group in groups:
        author = dict(zip(group.ids, group.clusters, strict=True))
        for cell in group.cells:
            by_sample: dict[str, dict[str, float]] = defaultdict(dict)
            for name, values in _scores(cell).items():
                for id_, score in values.items():
                    by_sample[id_][name] = score
            yield from ((scores, author[id_]) for id_, scores in by_sample.items())


def _models(groups: Sequence[Group]) -> Iterator[tuple[Mapping[str, float], str]]:
    """The mean scores of each model over the settings that all models were run on."""
    models = sorted({cell.model for group in groups for cell in group.cells})
    common = [group for group in groups if len(group.cells) == len(models)]
    for model in models:
        cells = [cell for group in common for cell in group.cells if cell.model == model]
        means: dict[str, list[float]] = defaultdict(list)
        for cell in cells:
            for name, values in _scores(cell).items():
                if values:
                    means[name].append(fmean(values.values()))
        yield {name: fmean(cell_means) for name, cell_means in means.items() if len(cell_means) == len(cells)}, model
