"""The plot of scores by the length of prompts, and by the place of what answers the question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from statistics import fmean
from typing import Any

from hub_scripts.report.cells import TASK_LABELS, TASKS, Group, is_baseline
from hub_scripts.report.drawing import REFERENCE, Plot, Sheet
from lm_eval_tasks.families import of_task
from lm_eval_tasks.stats.scores import BINS, LONGER, PLACES

Row = tuple[Any, ...]
_LENGTH, _PLACE = "length of the uncut prompt, at most", "place of what answers"
_ORDER = {_LENGTH: (*BINS.values(), LONGER), _PLACE: PLACES}


def place_rows(groups: Sequence[Group]) -> Iterator[Row]:
    """axis, task, setting, bin, model, mean, low, high, samples, floor; of settings with more than one bin, asked as usual."""
    for group in (group for group in groups if " " not in group.key.setting):
        metric = of_task(group.task).ranking
        for cell in group.cells:
            floors = cell.floors.get(metric)
            for axis, bins in ((_LENGTH, cell.lengths), (_PLACE, cell.places)):
                for name, found in bins.items() if len(bins) > 1 else ():
                    figures = (found.mean, found.low, found.high, found.n)
                    # What is found of an answer's parts has another floor than whole answers.
                    floor = fmean(floors.values()) if floors and axis == _LENGTH else None
                    yield axis, group.task, group.key.setting, name, cell.model, *figures, floor


def by_place(sheet: Sheet, rows: Sequence[Row], round_: str, styles: Mapping[str, Mapping[str, Any]]) -> Plot:
    """A row of panels for lengths and one for places, a panel for each task, a line for each model and setting."""
    axes_shown = [axis for axis in _ORDER if any(row[0] == axis for row in rows)]
    tasks = [task for task in TASKS if any(row[1] == task for row in rows)]
    height = 0.8 + 2.4 * len(axes_shown) + 0.12 * len(styles)
    figure, panels = sheet.panels(len(axes_shown), len(tasks), 10, height)
    for panel, (axis, task) in zip(panels.flat, product(axes_shown, tasks), strict=True):
        of_panel = [row for row in rows if row[:2] == (axis, task)]
        _draw(panel, of_panel, _ORDER[axis], styles)
        panel.set(title=TASK_LABELS[task], xlabel=axis)
        panel.set_visible(bool(of_panel))
        if task == tasks[0]:
            panel.set_ylabel("score")
    sheet.add_legend(figure, list(panels.flat))
    title = f"Scores by length and by place, round {round_}"
    alt = (
        f"{title}: {len(rows)} points with 95 % intervals where there are any, for {len(tasks)} tasks, by the metric that models are "
        "ranked by. Dotted lines are the floors, what is scored without reading."
    )
    takeaway = (
        "A model that reads all of its context scores alike wherever the answer stands; compare with the dotted floors."
    )
    head = ("by", "task", "setting", "bin", "model", "mean", "low", "high", "samples", "floor")
    return sheet.save(figure, Plot(f"places_{round_}", title, alt, takeaway), head, rows)


def _draw(panel: Any, rows: Sequence[Row], order: Sequence[str], styles: Mapping[str, Mapping[str, Any]]) -> None:
    shown = [name for name in order if any(row[3] == name for row in rows)]
    for model, setting in dict.fromkeys((row[4], row[2]) for row in rows):
        line = sorted((shown.index(row[3]), *row[5:8]) for row in rows if (row[4], row[2]) == (model, setting))
        style = {**styles[model], **(REFERENCE if is_baseline(model) else {})}
        panel.plot([point[0] for point in line], [point[1] for point in line], **style, label=model)
        for at, mean, low, high in line:
            if low is not None:
                panel.errorbar(
                    at, mean, yerr=[[mean - low], [high - mean]], color=style["color"], capsize=2, linewidth=1
                )
    for floor in sorted({row[9] for row in rows if row[9] is not None}):
        panel.axhline(floor, color="black", linewidth=0.8, linestyle=":", label="floor")
    panel.set_xticks(range(len(shown)), shown)
