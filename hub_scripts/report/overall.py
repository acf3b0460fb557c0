"""One number for each model of a round: how far its scores lie above the floor, over all tasks.

Scores are placed between floor and ceiling (`placing`); settings of a task are averaged, then tasks. Intervals leave out one first author
at a time, from all settings at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean
from typing import TYPE_CHECKING

from hub_scripts.report.cells import TASKS, Cell, Group, is_baseline
from hub_scripts.report.placing import Part, difference_over, interval_over, part_of, too_small
from lm_eval_tasks.core.intervals import holm
from lm_eval_tasks.core.power import LEVEL
from lm_eval_tasks.metrics import registry

if TYPE_CHECKING:
    from lm_eval_tasks.core.intervals import Interval


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's place in a round.

    Attributes:
        rank: 1 + the models that are better beyond chance; None for baselines, if settings are missing, or have too few
            first authors.
        overall: over all counted settings that the model has; None if it has none.
        tasks: task -> the same for the task alone, without an interval.
        missing: counted settings that it has not answered in full.
        small: counted settings with too few first authors for an interval.
        samples: answers that count.
        capped, cut: shares of answers that reached their cap and of prompts that were cut; None if not noted.
    """

    model: str
    rank: int | None
    overall: Interval | None
    tasks: Mapping[str, float]
    missing: tuple[str, ...]
    small: tuple[str, ...]
    samples: int
    capped: float | None
    cut: float | None
    is_baseline: bool


@dataclass(frozen=True, slots=True)
class Overall:
    """All models of a round, the best first.

    Attributes:
        settings: those that count: most models were run on them, on every sample.
        ceilings: setting -> the score that stands for 1, where it is not a perfect one.
        leads: (model, other model) -> how much higher the first is, over the same papers, both ways; `p` is corrected for
            all pairs (Holm).
    """

    round: str
    settings: tuple[str, ...]
    standings: tuple[Standing, ...]
    ceilings: Mapping[str, float]
    leads: Mapping[tuple[str, str], Interval]


def overall(groups: Sequence[Group]) -> Overall | None:
    """The standings of the settings of one round; None if no setting has scores with a floor."""
    models = sorted({cell.model for group in groups for cell in group.cells})
    counted = _counted_groups(groups, [model for model in models if not is_baseline(model)] or models)
    if not counted:
        return None
    parts = {model: list(_parts(model, counted)) for model in models}
    standings = sorted((_standing(model, model_parts, counted) for model, model_parts in parts.items()), key=_order)
    leads = _leads({standing.model: parts[standing.model] for standing in standings if _is_rankable(standing)})
    return Overall(
        counted[0].key.round,
        tuple(group.key.setting for group in counted),
        tuple(_ranked(standing, leads) for standing in standings),
        {
            part.group.key.setting: part.ceiling
            for model_parts in parts.values()
            for part in model_parts
            if part.ceiling < 1
        },
        leads,
    )


def _counted_groups(groups: Sequence[Group], models: Sequence[str]) -> list[Group]:
    """The settings, as the papers have them, that more than half of the models were run on in full."""
    return [
        group
        for group in groups
        if " " not in group.key.setting
        and 2 * sum(_complete_part(group, cell) is not None for cell in group.cells if cell.model in models)
        > len(models)
    ]


def _complete_part(group: Group, cell: Cell) -> Part | None:
    """A model's part by the first headline metric that it has; None if it covers only some of the samples, or has no floor."""
    metric = next((name for name in registry.headline() if name in cell.scores), None)
    if metric is None or (cell.of is not None and cell.scores[metric].samples < cell.of):
        return None
    return part_of(group, cell, metric)


def _standing(model: str, parts: Sequence[Part], counted: Sequence[Group]) -> Standing:
    cells = [part.cell for part in parts]
    having = {part.group.key.setting for part in parts}
    tasks = {task: fmean(part.mean() for part in task_parts) for task, task_parts in _by_task(parts).items()}
    return Standing(
        model,
        None,
        interval_over(list(_by_task(parts).values())) if parts else None,
        tasks,
        tuple(group.key.setting for group in counted if group.key.setting not in having),
        tuple(too_small(parts)),
        sum(cell.samples for cell in cells),
        _share(cells, "capped"),
        _share(cells, "truncated"),
        is_baseline(model),
    )


def _parts(model: str, counted: Sequence[Group]) -> Iterator[Part]:
    for group in counted:
        cell = next((cell for cell in group.cells if cell.model == model), None)
        if cell and (part := _complete_part(group, cell)):
            yield part


def _by_task(parts: Sequence[Part]) -> dict[str, list[Part]]:
    parts_by_task = {task: [part for part in parts if part.group.task == task] for task in TASKS}
    return {task: task_parts for task, task_parts in parts_by_task.items() if task_parts}


def _share(cells: Sequence[Cell], flag: str) -> float | None:
    values = [value for cell in cells for value in cell.flags.get(flag, {}).values()]
    return fmean(values) if values else None


def _order(standing: Standing) -> tuple[bool, int, float, str]:
    return (
        standing.is_baseline,
        len(standing.missing),
        -(standing.overall.mean if standing.overall else -1.0),
        standing.model,
    )


def _is_rankable(standing: Standing) -> bool:
    return bool(standing.overall and standing.overall.bounds and not standing.missing and not standing.is_baseline)


def _leads(parts: Mapping[str, Sequence[Part]]) -> dict[tuple[str, str], Interval]:
    """Of each pair of models, both ways."""
    sets = {model: list(_by_task(model_parts).values()) for model, model_parts in parts.items()}
    pairs = list(combinations(parts, 2))
    differences = [difference_over(sets[first], sets[second]) for first, second in pairs]
    corrected = holm([1.0 if difference.p is None else difference.p for difference in differences])
    leads: dict[tuple[str, str], Interval] = {}
    for (first, second), difference, p in zip(pairs, differences, corrected, strict=True):
        low, high = difference.bounds or (None, None)
        leads[first, second] = replace(difference, p=p)
        leads[second, first] = replace(
            difference,
            mean=-difference.mean,
            low=None if high is None else -high,
            high=None if low is None else -low,
            p=p,
        )
    return leads


def _ranked(standing: Standing, leads: Mapping[tuple[str, str], Interval]) -> Standing:
    if not _is_rankable(standing):
        return standing
    better = sum(
        lead.mean > 0 and lead.p is not None and lead.p < 1 - LEVEL
        for (_, other), lead in leads.items()
        if other == standing.model
    )
    return replace(standing, rank=1 + better)
