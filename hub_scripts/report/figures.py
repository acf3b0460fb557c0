"""The plots of the results: what each shows, and its data."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib as mpl
from matplotlib.ticker import MaxNLocator

from hub_scripts.report import kept
from hub_scripts.report.cells import LABELS, TASK_LABELS, TASKS, Cell, Group, interval_cells, is_baseline
from hub_scripts.report.drawing import REFERENCE, STYLE, Plot, Sheet, in_plot, looks
from lm_eval_tasks.base.intervals import Interval
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.stats.columns import Column, column
from lm_eval_tasks.stats.scores import PLACES

_PAIRS = {
    "title": ("Title-30K", "Title-31K-G"),
    "abs": ("Abs-28K", "Abs-29K-G"),
    "intro": ("Intro-28K", "Intro-28K-G"),
    "related": ("Related-53K", "Related-53K-G"),
}
# Of families whose configurations ask the same questions over contexts of several sizes.
_OF_SIZES = tuple(
    dict.fromkeys(family.ranking for family in FAMILIES if family.board == "reading" and not family.is_multiple_choice)
)
# Prompts that differ by less count as equally long.
_LONGER = 1.2
# Settings of one plot of scores, and models of one of its panels.
_MOST_PANELS, _MOST_MODELS = 6, 40
_Row = tuple[Any, ...]
_Looks = Mapping[str, Mapping[str, Any]]


def draw_all(groups: Sequence[Group], draft: Path) -> list[Plot]:
    """Draw every plot for which there is data."""
    draft.mkdir(parents=True, exist_ok=True)
    styles = looks({cell.model for group in groups for cell in group.cells})
    with mpl.rc_context(STYLE):
        plots: list[Plot] = []
        for round_ in dict.fromkeys(group.key.round for group in groups):
            round_groups = [group for group in groups if group.key.round == round_]
            metric = _shown_metric(round_groups)
            for shown in filter(None, (metric, *_OF_SIZES)):
                plots += _draw_if_any(_by_length, length_rows(round_groups, shown), draft, round_, shown, styles)
            if metric:
                plots += _draw_if_any(
                    _demonstrations, demonstration_rows(round_groups, metric), draft, round_, metric, styles
                )
            plots += _draw_if_any(_by_place, _place_rows(round_groups), draft, round_, styles)
            plots += _draw_if_any(kept.by_length, kept.rows_of(round_groups), draft, round_, styles)
            for rows in _score_rows(round_groups).values():
                plots += _draw_if_any(_by_model, rows, draft, round_, styles)
    return plots


def _shown_metric(groups: Sequence[Group]) -> str:
    """Return the first headline metric of texts that any model has; one is enough for pictures, tables have them all."""
    metrics = [name for family in FAMILIES if family.board == "writing" for name in family.headline]
    return next((name for name in metrics if any(name in cell.columns for group in groups for cell in group.cells)), "")


def _draw_if_any(draw: Callable[..., Plot], rows: Iterable[_Row], draft: Path, *arguments: Any) -> list[Plot]:
    """Draw a plot for a page and for a telephone, if it has rows; `draw` takes a sheet, the rows and the arguments."""
    row_list = list(rows)
    if not row_list:
        return []
    draw(Sheet(draft, narrow=True), row_list, *arguments)
    return [draw(Sheet(draft), row_list, *arguments)]


def length_rows(groups: Sequence[Group], metric: str) -> Iterator[_Row]:
    """Yield task, setting, thousands of prompt tokens, model, score, low, high, samples, floor, and the change since the model's shortest
    prompts, over the same papers or questions, with its interval; where a model has several lengths.
    """
    asked = [
        (cell.tokens / 1000 if cell.tokens else float(group.context or 0), group, cell)
        for group in groups
        # What is asked with less to read has a name of two words.
        if " " not in group.key.setting
        for cell in group.cells
        if not cell.shown and metric in cell.columns and (cell.tokens or group.context)
    ]
    for pair in dict.fromkeys((group.task, cell.model) for _, group, cell in asked):
        # A model that was asked at one length is no line.
        of_pair = [(length, group, cell) for length, group, cell in asked if (group.task, cell.model) == pair]
        shortest = min(of_pair, key=itemgetter(0))
        if max(length for length, *_ in of_pair) <= _LONGER * shortest[0]:
            continue
        for length, group, cell in of_pair:
            score, floor = cell.columns[metric].interval(), cell.floors.get(metric)
            change = None if group is shortest[1] else _paired(metric, shortest[1:], (group, cell))
            yield (
                group.task,
                group.key.setting,
                round(length, 2),
                cell.model,
                *interval_cells(score),
                score.samples,
                floor.mean if floor else None,
                *interval_cells(change),
            )


def _paired(metric: str, first: tuple[Group, Cell], second: tuple[Group, Cell]) -> Interval | None:
    """Return how much more a model scores in the second setting than in the first, over what both ask; None if that is nothing."""
    before, after = _by_name(*first, metric), _by_name(*second, metric)
    common = after.over(before.scores) if before and after else None
    return common.minus(before) if common and before else None


def _by_length(sheet: Sheet, rows: Sequence[_Row], round_: str, metric: str, styles: _Looks) -> Plot:
    tasks = _tasks(rows)
    figure, axes = sheet.panels(len(tasks), 3.2 + 0.12 * len(styles))
    for axis, task in zip(axes, tasks, strict=True):
        for model, style in styles.items():
            points = sorted((row for row in rows if row[0] == task and row[3] == model), key=itemgetter(2))
            if points:
                look = {**style, **(REFERENCE if is_baseline(model) else {})}
                lengths, scores = [row[2] for row in points], [row[4] for row in points]
                reach = [[0 if row[10] is None else row[9] - row[10] for row in points]]
                axis.errorbar(lengths, scores, yerr=reach * 2, label=in_plot(model), capsize=2, elinewidth=0.6, **look)
        floors = [row[8] for row in rows if row[0] == task and row[8] is not None]
        # Programs, the floors of questions, have lines of their own.
        if floors and metric not in _OF_SIZES:
            axis.axhline(fmean(floors), color="black", linewidth=0.8, linestyle=":", label="floor (best program)")
        axis.set(title=TASK_LABELS[task], xlabel="prompt (thousand tokens)")
    axes[0].set_ylabel(LABELS[metric])
    sheet.add_legend(figure)
    best = max(rows, key=lambda row: float(row[4]))
    title = f"{LABELS[metric]} against context length, round {round_}"
    alt = (
        f"{title}: one line for each of {len({row[3] for row in rows})} models, one panel for each of {len(tasks)} tasks. "
        f"The highest score is {best[4]:.3f}, by {best[3]} on {best[1]}."
    )
    head = f"task setting thousand_tokens model {metric} low high samples floor change change_low change_high".split()
    return sheet.save(figure, Plot(f"length_{metric}_{round_}", title, alt, _length_takeaway(rows)), head, rows)


def _length_takeaway(rows: Sequence[_Row]) -> str:
    """Return what the longest prompts change for each model and task, compared with the shortest."""
    changes = []
    for pair in dict.fromkeys((row[0], row[3]) for row in rows if not is_baseline(row[3])):
        longest = max((row for row in rows if (row[0], row[3]) == pair), key=itemgetter(2))
        if longest[9] is not None:
            changes.append(longest[9])
    if not changes:
        return ""
    return (
        f"From the shortest prompts to the longest, scores rise in {sum(change > 0 for change in changes)} of {len(changes)} pairs of "
        f"model and task, by {fmean(changes):+.3f} on average. Bars are 95 % intervals of the change from the shortest, over the same "
        "papers or questions. Lengths are estimated from characters for runs without a tokenizer."
    )


def demonstration_rows(groups: Sequence[Group], metric: str) -> Iterator[_Row]:
    """Yield task, model, mean difference of co-author and random demonstrations over the same papers, low, high, p, papers."""
    by_name = {group.key.setting: group for group in groups}
    for task, (random, co_author) in _PAIRS.items():
        if random not in by_name or co_author not in by_name:
            continue
        theirs = {cell.model: cell for cell in by_name[co_author].cells}
        for cell in by_name[random].cells:
            other = theirs.get(cell.model)
            over = _paired(metric, (by_name[random], cell), (by_name[co_author], other)) if other else None
            if over and over.bounds:
                yield task, cell.model, over.mean, over.low, over.high, over.p, over.samples


def _by_name(group: Group, cell: Cell, metric: str) -> Column | None:
    """Return the scores by what the samples are called, which is the same in all settings of a paper."""
    names = dict(zip(group.ids, group.names, strict=True))
    over = cell.columns.get(metric)
    return over and column(metric, ((names[id_], score, over.clusters[id_]) for id_, score in over.scores.items()))


def _demonstrations(sheet: Sheet, rows: Sequence[_Row], round_: str, metric: str, styles: _Looks) -> Plot:
    tasks = _tasks(rows)
    models = [model for model in reversed(list(styles)) if any(row[1] == model for row in rows)]
    figure, axes = sheet.panels(len(tasks), 1.4 + 0.26 * len(models), sharey=True)
    for axis, task in zip(axes, tasks, strict=True):
        for _, model, mean, low, high, *_ in (row for row in rows if row[0] == task):
            axis.errorbar(mean, models.index(model), xerr=[[mean - low], [high - mean]], capsize=2, **styles[model])
        axis.axvline(0, color="black", linewidth=0.8)
        axis.xaxis.set_major_locator(MaxNLocator(3))
        axis.set(title=TASK_LABELS[task], xlabel=f"difference in {LABELS[metric]}")
    axes[0].set_yticks(range(len(models)), map(in_plot, models))
    title = f"Co-author minus random demonstrations, {LABELS[metric]}, round {round_}"
    alt = (
        f"{title}: paired differences with 95 % intervals. Of {len(rows)}, {sum(row[3] > 0 for row in rows)} lie entirely above "
        f"zero, where co-author demonstrations help, and {sum(row[4] < 0 for row in rows)} entirely below."
    )
    head = ("task", "model", "difference", "low", "high", "p", "papers")
    takeaway = (
        f"Co-author demonstrations beat random ones in {sum(row[3] > 0 for row in rows)} of {len(rows)} comparisons, random ones win "
        f"{sum(row[4] < 0 for row in rows)}; in the others the interval contains zero."
    )
    return sheet.save(figure, Plot(f"demonstrations_{metric}_{round_}", title, alt, takeaway), head, rows)


def _tasks(rows: Sequence[_Row]) -> list[str]:
    return [task for task in TASKS if any(row[0] == task for row in rows)]


def _place_rows(groups: Sequence[Group]) -> Iterator[_Row]:
    """Yield task, setting, third, model, mean, low, high, samples; of settings with more than one third, asked as usual."""
    for group in (group for group in groups if " " not in group.key.setting):
        for cell in group.cells:
            for name, found in cell.places.items() if len(cell.places) > 1 else ():
                yield group.task, group.key.setting, name, cell.model, found.mean, found.low, found.high, found.n


def _by_place(sheet: Sheet, rows: Sequence[_Row], round_: str, styles: _Looks) -> Plot:
    settings = list(dict.fromkeys(row[1] for row in rows))[:_MOST_PANELS]
    figure, panels = sheet.panels(len(settings), 3.2 + 0.12 * len(styles))
    for panel, setting in zip(panels, settings, strict=True):
        _draw_places(panel, [row for row in rows if row[1] == setting], styles)
        panel.set(title=setting, xlabel="place of the answer")
    panels[0].set_ylabel("score")
    sheet.add_legend(figure)
    title = f"Scores by place, round {round_}"
    alt = (
        f"{title}: {len(rows)} points with 95 % intervals where there are any, {len(settings)} settings, by the metric that models are "
        "ranked by."
    )
    takeaway = "A model that reads all of its context scores alike wherever the answer stands."
    head = ("task", "setting", "third", "model", "mean", "low", "high", "samples")
    return sheet.save(figure, Plot(f"places_{round_}", title, alt, takeaway), head, rows)


def _draw_places(panel: Any, rows: Sequence[_Row], styles: _Looks) -> None:
    shown = [name for name in PLACES if any(row[2] == name for row in rows)]
    for model in dict.fromkeys(row[3] for row in rows):
        line = sorted((shown.index(row[2]), *row[4:7]) for row in rows if row[3] == model)
        style = {**styles[model], **(REFERENCE if is_baseline(model) else {})}
        panel.plot([point[0] for point in line], [point[1] for point in line], **style, label=in_plot(model))
        for at, mean, low, high in line:
            if low is not None:
                panel.errorbar(
                    at, mean, yerr=[[mean - low], [high - mean]], color=style["color"], capsize=2, linewidth=1
                )
    panel.set_xticks(range(len(shown)), shown)


def _score_rows(groups: Sequence[Group]) -> dict[str, list[_Row]]:
    """Return for each task, by the metric that its models are ranked by: task, setting, metric, model, score, low, high, samples, floor.

    A task that fewer than two models were asked is no plot, and one whose scores rank nobody has none.
    """
    by_task: dict[str, list[_Row]] = {}
    for group in (group for group in groups if not of_task(group.task).kept):
        rows = by_task.setdefault(f"{group.task} {group.metric}", [])
        for cell in group.cells:
            scores = cell.columns.get(group.metric)
            if scores and not cell.is_carried:
                score, floor = scores.interval(), cell.floors.get(group.metric)
                name = (group.task, group.key.setting, group.metric, cell.model)
                rows.append((*name, *interval_cells(score), score.samples, floor.mean if floor else None))
    return {task: rows for task, rows in by_task.items() if len({row[3] for row in rows}) > 1}


def _by_model(sheet: Sheet, rows: Sequence[_Row], round_: str, styles: _Looks) -> Plot:
    """Draw the scores of one task with their intervals, a panel for each of its settings."""
    task, metric = rows[0][0], rows[0][2]
    every = list(dict.fromkeys(row[1] for row in rows))
    answered = [model for model in styles if any(row[3] == model for row in rows)]
    settings, models = every[:_MOST_PANELS], answered[:_MOST_MODELS]
    figure, panels = sheet.panels(len(settings), 1.4 + 0.26 * len(models), sharey=True)
    for panel, setting in zip(panels, settings, strict=True):
        own = [row for row in rows if row[1] == setting and row[3] in models]
        for _, _, _, model, score, low, high, *_ in own:
            reach = None if low is None else [[score - low], [high - score]]
            look = {**styles[model], **(REFERENCE if is_baseline(model) else {})}
            panel.errorbar(score, len(models) - 1 - models.index(model), xerr=reach, capsize=2, **look)
        floors = [row[8] for row in own if row[8] is not None]
        if floors:
            panel.axvline(fmean(floors), color="black", linewidth=0.8, linestyle=":")
        panel.set(title=setting)
    label = LABELS.get(str(metric), str(metric))
    figure.supxlabel(label)
    panels[0].set_yticks(range(len(models)), map(in_plot, reversed(models)))
    panels[0].set_ylim(-0.5, len(models) - 0.5)
    title = f"{TASK_LABELS[task]}: {label}, round {round_}"
    alt = f"{title}: the scores of {len(models)} models in {len(settings)} settings, with 95 % intervals where there are any."
    has_floor = any(row[8] is not None for row in rows)
    takeaway = "The dotted line is what the best program without a language model scores." if has_floor else ""
    if len(every) > len(settings) or len(answered) > len(models):
        shown = f"{len(settings)} of {len(every)} settings and {len(models)} of {len(answered)} models"
        takeaway += f"{' ' * has_floor}The plot has {shown}, its data all."
    head = "task setting metric model score low high samples floor".split()
    return sheet.save(figure, Plot(f"scores_{task}_{metric}_{round_}", title, alt, takeaway), head, rows)
