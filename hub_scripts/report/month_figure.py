"""The plot of scores by month of publication, with the months before each model's cut-off marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from hub_scripts.report.board import TASK_LABELS
from hub_scripts.report.drawing import BLUE, MARKS, Plot, Sheet
from lm_eval_tasks.base.intervals import SHARES, interval

if TYPE_CHECKING:
    from hub_scripts.report.cells import Group

Row = tuple[Any, ...]


def month_rows(groups: Sequence[Group], metric: str, cutoffs: Mapping[str, str]) -> Iterator[Row]:
    """model, setting, month of publication, mean, low, high, samples, cut-off; settings stay apart, and one month is no line.

    A sample that several rounds have counts once, as the newest of them has it.
    """
    scores: dict[tuple[str, str, str], tuple[list[float], list[str]]] = {}
    seen: set[tuple[str, str, str]] = set()
    for group in sorted(groups, key=lambda group: group.key.round, reverse=True):
        months = {id_: day[:7] for id_, day in zip(group.ids, group.published, strict=True)}
        authors = dict(zip(group.ids, group.clusters, strict=True))
        for cell in group.cells:
            for id_, value in cell.values.get(metric, {}).items():
                if (cell.model, group.key.setting, id_) in seen:
                    continue
                seen.add((cell.model, group.key.setting, id_))
                key = (cell.model, group.key.setting, months[id_])
                values, clusters = scores.setdefault(key, ([], []))
                values.append(value)
                clusters.append(authors[id_])
    months_of = Counter((model, setting) for model, setting, _ in scores)
    for (model, setting, month), (values, clusters) in sorted(scores.items()):
        if months_of[model, setting] == 1:
            continue
        over = interval(values, clusters, SHARES)
        yield model, setting, month, over.mean, over.low, over.high, over.samples, cutoffs.get(model, "")


def by_month(sheet: Sheet, rows: Sequence[Row], metric: str, task: str, label: str, cutoffs: Mapping[str, str]) -> Plot:
    """Score by month on one task, a panel for each model, a line for each setting; a model may have seen in training what lies before
    its cut-off.
    """
    models = sorted({row[0] for row in rows})
    settings = sorted({row[1] for row in rows})
    known = {model: cutoffs[model] for model in models if model in cutoffs}
    months = sorted({row[2] for row in rows} | set(known.values()))
    across = min(4, len(models))
    down = -(-len(models) // across)
    figure, axes = sheet.panels(down, across, 10, 0.6 + 1.9 * down, sharex=True, sharey=True)
    for axis, model in zip(axes.flat, models, strict=False):
        for setting, mark in zip(settings, cycle(MARKS)):
            points = [(months.index(row[2]), *row[3:6]) for row in rows if row[:2] == (model, setting)]
            if points:
                at, mean, *_ = zip(*points, strict=True)
                axis.plot(at, mean, color=BLUE, marker=mark, markersize=4, linewidth=1, label=setting)
            for i, middle, low, high in points:
                if low is not None:
                    axis.errorbar(i, middle, yerr=[[middle - low], [high - middle]], color=BLUE, capsize=2, linewidth=1)
        if model in known:
            last = months.index(known[model])
            axis.axvline(last, color="black", linestyle="--", linewidth=1)
            axis.axvspan(-0.5, last, facecolor="#e6e6e6", edgecolor="#9a9a9a", hatch="///", linewidth=0)
        axis.set_title(model, fontsize=8)
        axis.set_xlim(-0.5, len(months) - 0.5)
        step = max(1, len(months) // 4)
        axis.set_xticks(range(0, len(months), step), months[::step], rotation=45, fontsize=7)
    for axis in axes.flat[len(models) :]:
        axis.set_visible(False)
    figure.supylabel(label, fontsize=9)
    if len(settings) > 1:
        sheet.add_legend(figure, list(axes.flat[: len(models)]))
    title = f"{TASK_LABELS[task]}: {label} by month of publication; 95 % intervals from ten first authors on"
    listed = ", ".join(f"{model} {month}" for model, month in known.items())
    alt = (
        f"{title}, a panel for each of {len(models)} models, a line for each of {len(settings)} settings. Months up to a model's "
        f"cut-off are hatched: {listed or 'no cut-off is known'}."
    )
    head = ("model", "setting", "month", metric, "low", "high", "samples", "cutoff")
    seen = [model for model, cutoff in known.items() if any(row[0] == model and row[2] <= cutoff for row in rows)]
    takeaway = (
        f"{len(seen)} of {len(known)} models with a known cut-off were tested on papers that they may have seen"
        f"{': ' if seen else ''}{', '.join(seen)}."
    )
    return sheet.save(figure, Plot(f"months_{metric}_{task}", title, alt, takeaway if known else ""), head, rows)
