"""What a board counts of a setting: its core if anybody was asked no more than that, else all; where scores lie, and what reading gains."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from hub_scripts.report.cells import Cell, Group, is_baseline
from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.base.row_format import FULL
from lm_eval_tasks.families import target_of
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL
from lm_eval_tasks.samples.results import Results
from lm_eval_tasks.stats import placed
from lm_eval_tasks.stats.columns import Column, Gain, gains_over


def counted_rows(group: Group, core: int | None) -> Group:
    """A setting with its cells over the rows that count; a cell that lacks some of them has no score.

    Of the sets of answers that are as large as the core or as the whole setting, the one that most models have answers to: a
    window of days, or samples that somebody chose, take nothing from the others.

    Args:
        core: how many samples every model is asked at least; None for all.
    """
    answered = [
        frozenset(cell.columns[group.metric].scores if group.metric in cell.columns else ()) for cell in group.cells
    ]
    wholes = [cell.of or len(group.ids) for cell in group.cells]
    sets = [ids for ids, whole in zip(answered, wholes, strict=True) if len(ids) in (whole, min(core or whole, whole))]
    ids = max(sets, key=lambda ids: (sum(ids <= other for other in answered), len(ids)), default=frozenset(group.ids))
    return replace(group, cells=[cell_over(cell, ids, group.metric) for cell in group.cells])


def cell_over(cell: Cell, ids: Collection[str], metric: str) -> Cell:
    """A cell over some samples; it has no score if it lacks any of them."""
    scores = cell.columns[metric].scores if metric in cell.columns else {}
    if not ids or not all(id_ in scores for id_ in ids):
        return replace(cell, columns={}, samples=0)

    def over(columns: Mapping[str, Column]) -> dict[str, Column]:
        return {name: part for name, column in columns.items() if (part := column.over(ids))}

    return replace(cell, samples=len(ids), of=len(ids), columns=over(cell.columns), floors=over(cell.floors))


def part_of(group: Group, cell: Cell) -> placed.PlacedTask | None:
    """A model's part; None if it has no scores with a floor, or the floor leaves no room."""
    metric = group.metric
    return placed.part_of(group.key.setting, group.task, cell.columns.get(metric), cell.floors.get(metric))


def has_room(group: Group) -> bool:
    """Whether scores can be placed above the floor of a setting."""
    columns = [cell.floors[group.metric] for cell in group.cells if group.metric in cell.floors]
    floors = {id_: floor for column in columns for id_, floor in column.scores.items()}
    return not floors or fmean(floors.values()) <= placed.HIGHEST_FLOOR


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """The BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}


def model_gains(groups: Sequence[Group], settings: Sequence[str]) -> tuple[tuple[str, Gain], ...]:
    """(Model, gain) of all models that were asked with less to read, for the settings of a round that a board counts."""
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
    shorter = {context: shorter_cell(group, cell.model, context, groups) for context in target_of(group.task).shorter}
    cells: dict[str, Cell] = {FULL: cell, **{context: short for context, short in shorter.items() if short}}
    columns = {context: asked.columns for context, asked in cells.items()}
    return gains_over(
        group.key.setting, group.task, columns, {context: asked.prompts for context, asked in cells.items()}
    )
