"""What reading is worth to each model of a round: its gains over the shortcuts of what boards count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hub_scripts.report.cells import is_baseline
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.prompts.registry import kind_of
from lm_eval_tasks.stats.gains import Gain, Verdict, gain_over, verdict_of
from lm_eval_tasks.tasks.records import HEADLINE, SHORTER

if TYPE_CHECKING:
    from hub_scripts.report.cells import Cell, Group


@dataclass(frozen=True, slots=True)
class ModelGains:
    """A model's gains on one setting."""

    model: str
    setting: str
    gains: tuple[Gain, ...]
    verdict: Verdict


def model_gains(groups: Sequence[Group], settings: Sequence[str]) -> list[ModelGains]:
    """The gains of all models that were asked with less to read, setting by setting.

    Args:
        groups: of one round.
        settings: those that a board counts.
    """
    return [
        ModelGains(cell.model, group.key.setting, tuple(gains), verdict_of(group.key.setting, task_of(group), gains))
        for group in groups
        if group.key.setting in settings
        for cell in group.cells
        if not (cell.shown or is_baseline(cell.model))
        and (gains := list(_gains(group, cell, groups)))
        and gains[0].by == "model"
    ]


def shorter_cell(group: Group, model: str, context: str, groups: Sequence[Group]) -> Cell | None:
    """What a model scored on a setting with less to read; None if it was not asked so."""
    name = f"{group.key.setting} {context}"
    short = next((other for other in groups if other.key.setting == name), None)
    if short:
        return next((cell for cell in short.cells if cell.model == model), None)
    # Where the retriever is named, it counts as a part of the model.
    return next((cell for cell in group.cells if cell.shown == context and cell.reader == model), None)


def task_of(group: Group) -> str:
    """What `tasks.records` calls the task whose contexts a group has."""
    return "cloze" if kind_of(group.task) == "cloze" else group.task


def _gains(group: Group, cell: Cell, groups: Sequence[Group]) -> Iterator[Gain]:
    metric = registry.ranking(kind_of(group.task))
    full = cell.values.get(metric, {})
    clusters = dict(zip(group.ids, group.clusters, strict=True))
    task = task_of(group)
    for context in SHORTER.get(task, ()):
        short = shorter_cell(group, cell.model, context, groups)
        if short and (
            gain := gain_over(
                group.key.setting,
                metric,
                context,
                "model",
                full,
                short.values.get(metric, {}),
                clusters,
                is_headline=context == HEADLINE[task],
            )
        ):
            yield gain
    registered = registry.find_metric(metric)
    for name in registered.floors if registered else ():
        floor = cell.shortcuts.get(name, {})
        if gain := gain_over(group.key.setting, metric, name, "program", full, floor, clusters):
            yield replace(gain, shortcut=registry.label(name))
