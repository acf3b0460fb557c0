"""What reading is worth to each model of a round: its gains over the shortcuts of what boards count."""

from __future__ import annotations

from collections.abc import Sequence

from hub_scripts.report.cells import Cell, Group, is_baseline
from lm_eval_tasks.base.contexts import FULL
from lm_eval_tasks.families import of_task, registry, target_of
from lm_eval_tasks.stats.columns import BEST_PROGRAM
from lm_eval_tasks.stats.gains import Gain, gains_over


def model_gains(groups: Sequence[Group], settings: Sequence[str]) -> tuple[tuple[str, Gain], ...]:
    """(Model, gain) of all models that were asked with less to read, setting by setting.

    Args:
        groups: of one round.
        settings: those that a board counts.
    """
    return tuple(
        (cell.model, gain)
        for group in groups
        if group.key.setting in settings
        for cell in group.cells
        if not (cell.shown or is_baseline(cell.model))
        and (gains := gains_of_cell(group, cell, groups))
        and gains[0].by == "model"
        for gain in gains
    )


def shorter_cell(group: Group, model: str, context: str, groups: Sequence[Group]) -> Cell | None:
    """What a model scored on a setting with less to read; None if it was not asked so."""
    name = f"{group.key.setting} {context}"
    short = next((other for other in groups if other.key.setting == name), None)
    if short:
        return next((cell for cell in short.cells if cell.model == model), None)
    # Where the retriever is named, it counts as a part of the model.
    return next((cell for cell in group.cells if cell.shown == context and cell.reader == model), None)


def gains_of_cell(group: Group, cell: Cell, groups: Sequence[Group]) -> list[Gain]:
    """The gains of a model on a setting."""
    metric = of_task(group.task).ranking
    short_cells = {
        context: short
        for context in target_of(group.task).shorter
        if (short := shorter_cell(group, cell.model, context, groups))
    }
    return gains_over(
        group.key.setting,
        group.task,
        cell.values.get(metric, {}),
        {context: short.values.get(metric, {}) for context, short in short_cells.items()},
        {
            **{registry.label(name): cell.shortcuts.get(name, {}) for name in registry.floors_of(metric)},
            BEST_PROGRAM: cell.floors.get(metric, {}),
        },
        dict(zip(group.ids, group.clusters, strict=True)),
        {FULL: cell.prompts, **{context: short.prompts for context, short in short_cells.items()}},
    )
