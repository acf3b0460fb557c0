"""One number for each model of a round: how far its scores lie above the floor, over all tasks.

Scores are placed between floor and ceiling (`placing`); settings of a task are averaged, then tasks. Intervals leave out one first author
at a time, from all settings at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from hub_scripts.report.cells import TASKS, Cell, Group, is_baseline
from hub_scripts.report.placing import Part, interval_over, part_of
from lm_eval_tasks.metrics import registry

if TYPE_CHECKING:
    from lm_eval_tasks.core.intervals import Interval


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's place in a round.

    Attributes:
        rank: 1 + the models whose interval lies wholly above; None for baselines, and if settings are missing.
        overall: over all counted settings that the model has; None if it has none.
        tasks: task -> the same for the task alone, without an interval.
        missing: counted settings that it has not answered in full.
        samples: answers that count.
        capped, cut: shares of answers that reached their cap and of prompts that were cut; None if not noted.
    """

    model: str
    rank: int | None
    overall: Interval | None
    tasks: Mapping[str, float]
    missing: tuple[str, ...]
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
    """

    round: str
    settings: tuple[str, ...]
    standings: tuple[Standing, ...]
    ceilings: Mapping[str, float]


def overall(groups: Sequence[Group]) -> Overall | None:
    """The standings of the settings of one round; None if no setting has scores with a floor."""
    models = sorted({cell.model for group in groups for cell in group.cells})
    counted = _counted_groups(groups, [model for model in models if not is_baseline(model)] or models)
    if not counted:
        return None
    parts = {model: list(_parts(model, counted)) for model in models}
    standings = sorted((_standing(model, model_parts, counted) for model, model_parts in parts.items()), key=_order)
    return Overall(
        counted[0].key.round,
        tuple(group.key.setting for group in counted),
        tuple(_rank(standings)),
        {
            part.group.key.setting: part.ceiling
            for model_parts in parts.values()
            for part in model_parts
            if part.ceiling < 1
        },
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


def _rank(standings: Sequence[Standing]) -> Iterator[Standing]:
    complete = [
        standing for standing in standings if standing.overall and not standing.missing and not standing.is_baseline
    ]
    for standing in standings:
        above = sum(_is_above(other, standing) for other in complete)
        yield replace(standing, rank=1 + above) if standing in complete else standing


def _is_above(first: Standing, second: Standing) -> bool:
    """Whether another model is better beyond chance; without intervals none is."""
    bounds = [standing.overall.bounds if standing.overall else None for standing in (first, second)]
    return bool(bounds[0] and bounds[1] and bounds[0][0] > bounds[1][1])
