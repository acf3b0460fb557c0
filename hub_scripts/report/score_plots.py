"""The plot of each task: every model's score with its interval, beside what the best program scores."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from hub_scripts.report.cells import LABELS, TASK_LABELS, Group, is_baseline
from hub_scripts.report.drawing import REFERENCE, Plot, Sheet
from lm_eval_tasks.families import of_task

_HEAD = "task setting metric model score low high samples floor".split()
# Settings of one plot, and models of one panel.
_MOST_PANELS, _MOST_MODELS = 6, 40
_Row = tuple[Any, ...]


def rows_of(groups: Sequence[Group]) -> dict[str, list[_Row]]:
    """Return for each task, by the metric that its models are ranked by: task, setting, metric, model, score, low, high, samples, floor.

    A task that fewer than two models were asked is no plot, and one whose scores rank nobody has none.
    """
    by_task: dict[str, list[_Row]] = {}
    for group in (group for group in groups if not of_task(group.task).kept):
        by_task.setdefault(f"{group.task} {group.metric}", []).extend(_rows_of_group(group))
    return {task: rows for task, rows in by_task.items() if len({row[3] for row in rows}) > 1}


def _rows_of_group(group: Group) -> Iterator[_Row]:
    for cell in group.cells:
        column = cell.columns.get(group.metric)
        if column and not cell.is_carried:
            score, floor = column.interval(), cell.floors.get(group.metric)
            bounds = score.bounds or (None, None)
            name = (group.task, group.key.setting, group.metric, cell.model)
            yield (*name, score.mean, *bounds, score.samples, floor.mean if floor else None)


def by_model(sheet: Sheet, rows: Sequence[_Row], round_: str, styles: Mapping[str, Mapping[str, Any]]) -> Plot:
    """Draw the scores of one task, a panel for each of its settings."""
    task, metric = rows[0][0], rows[0][2]
    settings = list(dict.fromkeys(row[1] for row in rows))[:_MOST_PANELS]
    models = [model for model in styles if any(row[3] == model for row in rows)][:_MOST_MODELS]
    figure, panels = sheet.panels(1, len(settings), 10, 1.4 + 0.26 * len(models), sharey=True)
    for panel, setting in zip(panels.flat, settings, strict=True):
        own = [row for row in rows if row[1] == setting and row[3] in models]
        for row in own:
            _draw(panel, row, len(models) - 1 - models.index(row[3]), styles[row[3]])
        floors = [row[8] for row in own if row[8] is not None]
        if floors:
            panel.axvline(fmean(floors), color="black", linewidth=0.8, linestyle=":")
        panel.set(title=setting)
    figure.supxlabel(LABELS.get(str(metric), str(metric)))
    panels.flat[0].set_yticks(range(len(models)), list(reversed(models)))
    panels.flat[0].set_ylim(-0.5, len(models) - 0.5)
    title = f"Scores: {TASK_LABELS[task]}, round {round_}"
    alt = f"{title}: the scores of {len(models)} models in {len(settings)} settings, with 95 % intervals where there are any."
    takeaway = "The dotted line is what the best program without a language model scores."
    return sheet.save(figure, Plot(f"scores_{task}_{metric}_{round_}", title, alt, takeaway), _HEAD, rows)


def _draw(panel: Any, row: _Row, place: int, style: Mapping[str, Any]) -> None:
    score, low, high = row[4:7]
    reach = None if low is None else [[score - low], [high - score]]
    look = {**style, **(REFERENCE if is_baseline(row[3]) else {})}
    panel.errorbar(score, place, xerr=reach, capsize=2, **look)
