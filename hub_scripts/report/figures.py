"""The plots: vector, told apart by marks and dashes and not by colour alone, each with its data as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import fmean
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hub_scripts.report.board import LABELS, TASK_LABELS, published
from hub_scripts.report.gather import TASKS, Group
from lm_eval_tasks.intervals import clustered_error, interval

_SAVED: dict[Any, Any] = {"svg.hashsalt": "academiceval", "svg.fonttype": "path"}
_STYLE: dict[Any, Any] = {
    "font.size": 9.0, "axes.grid": True, "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False,
    "legend.frameon": False, "figure.constrained_layout.use": True,
}  # fmt: skip
# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
_DASHES = ("-", "--", "-.", ":")
_PARITY = ("rouge_l", "bertscore")
_Z95 = 1.959964
_PAIRS = {
    "title": ("Title-30K", "Title-31K-G"), "abs": ("Abs-28K", "Abs-29K-G"), "intro": ("Intro-28K", "Intro-28K-G"),
    "related": ("Related-53K", "Related-53K-G"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Plot:
    """One drawn plot.

    Attributes:
        name: of its files, without ending.
        alt: what it shows, for who cannot see it.
    """

    name: str
    title: str
    alt: str


@dataclass(frozen=True, slots=True)
class _Look:
    color: str
    marker: str
    linestyle: str


def draw_all(groups: Sequence[Group], cutoffs: Mapping[str, str], place: Path) -> list[Plot]:
    """Draw every plot that there is data for, below `place`."""
    place.mkdir(parents=True, exist_ok=True)
    looks = _looks({cell.model for group in groups for cell in group.cells})
    drawn: list[Plot | None] = []
    for round_ in sorted({group.key.round for group in groups}, reverse=True):
        own = [group for group in groups if group.key.round == round_]
        for metric in _PARITY:
            drawn.append(_by_length(own, round_, metric, looks, place))
            drawn.append(_demonstrations(own, round_, metric, looks, place))
        drawn.append(_judge_and_overlap(own, round_, looks, place))
        drawn.append(_scalar(own, round_, looks, place))
    drawn += [_by_month(groups, metric, cutoffs, place) for metric in (*_PARITY, "accuracy")]
    return [plot for plot in drawn if plot is not None]


def _by_length(
    groups: Sequence[Group], round_: str, metric: str, looks: Mapping[str, _Look], place: Path
) -> Plot | None:
    """Score against context length, a panel for each task."""
    rows = [
        (group.task, group.key.setting, group.context, cell.model, one.mean, one.low, one.high, one.samples)
        for group in groups
        for cell in group.cells
        if group.context and (one := cell.scores.get(metric)) is not None
    ]
    tasks = [task for task in TASKS if any(row[0] == task for row in rows)]
    if not rows:
        return None
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 3.2 + 0.12 * len(looks)))
        axes = figure.subplots(1, len(tasks), squeeze=False)[0]
        for axis, task in zip(axes, tasks, strict=True):
            for model in looks:
                points = sorted((row[2], row[4]) for row in rows if row[0] == task and row[3] == model)
                axis.plot(*zip(*points, strict=True), label=model, **_line(looks[model])) if points else None
            axis.set(title=TASK_LABELS[task], xlabel="context (thousand tokens)")
        axes[0].set_ylabel(LABELS[metric])
        _legend(figure, axes)
        title = f"{LABELS[metric]} against context length, round {round_}"
        head = ("task", "setting", "thousand_tokens", "model", metric, "low", "high", "samples")
        alt = f"{title}: one line for each of {len(looks)} models, one panel for each of {len(tasks)} tasks. {_best(rows)}"
        return _save(figure, place, f"length_{metric}_{round_}", title, alt, head, rows)


def _demonstrations(
    groups: Sequence[Group], round_: str, metric: str, looks: Mapping[str, _Look], place: Path
) -> Plot | None:
    """Co-author against random demonstrations: differences over the same papers, with intervals."""
    by_name = {group.key.setting: group for group in groups}
    rows = []
    for task, (random, co_author) in _PAIRS.items():
        if random not in by_name or co_author not in by_name:
            continue
        clusters = dict(zip(by_name[random].ids, by_name[random].clusters, strict=True))
        theirs = {cell.model: cell.values.get(metric, {}) for cell in by_name[co_author].cells}
        for cell in by_name[random].cells:
            mine, other = cell.values.get(metric, {}), theirs.get(cell.model, {})
            common = [id_ for id_ in mine if id_ in other]
            if common:
                over = interval([other[id_] - mine[id_] for id_ in common], [clusters[id_] for id_ in common])
                rows.append((task, cell.model, over.mean, over.low, over.high, over.p, over.samples))
    if not rows:
        return None
    tasks = [task for task in TASKS if any(row[0] == task for row in rows)]
    models = [model for model in looks if any(row[1] == model for row in rows)]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 1.4 + 0.26 * len(models)))
        axes = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
        for axis, task in zip(axes, tasks, strict=True):
            own = {row[1]: row for row in rows if row[0] == task}
            for y, model in enumerate(reversed(models)):
                if model in own:
                    _, _, mean, low, high, _, _ = own[model]
                    axis.errorbar(mean, y, xerr=[[mean - low], [high - mean]], capsize=2, **_line(looks[model]))
            axis.axvline(0, color="black", linewidth=0.8)
            axis.xaxis.set_major_locator(MaxNLocator(3))
            axis.set(title=TASK_LABELS[task], xlabel=f"difference in {LABELS[metric]}")
        axes[0].set_yticks(range(len(models)), list(reversed(models)))
        title = f"Co-author less random demonstrations, {LABELS[metric]}, round {round_}"
        above = sum(row[3] > 0 for row in rows)
        below = sum(row[4] < 0 for row in rows)
        alt = (
            f"{title}: paired differences with 95 % intervals. Of {len(rows)}, {above} lie wholly above zero, where "
            f"co-author demonstrations help, and {below} wholly below."
        )
        head = ("task", "model", "difference", "low", "high", "p", "papers")
        return _save(figure, place, f"demonstrations_{metric}_{round_}", title, alt, head, rows)


def _judge_and_overlap(groups: Sequence[Group], round_: str, looks: Mapping[str, _Look], place: Path) -> Plot | None:
    """Win rate against ROUGE-L, the published points beside ours."""
    rows: list[tuple[Any, ...]] = [
        (group.task, group.key.setting, cell.model, "ours", cell.scores["rouge_l"].mean, cell.scores["win_rate"].mean)
        for group in groups
        for cell in group.cells
        if {"rouge_l", "win_rate"} <= cell.scores.keys()
    ]
    if not rows:
        return None
    printed = {(one.model, one.setting, one.metric): one.value for one in published()}
    rows += [
        (setting.partition("-")[0].lower(), setting, model, "published", value, printed[model, setting, "win_rate"])
        for (model, setting, metric), value in printed.items()
        if metric == "rouge_l" and (model, setting, "win_rate") in printed
    ]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8, 5))
        axis = figure.subplots()
        for task, marker in zip(TASKS, _MARKS, strict=False):
            for origin, fill in (("ours", "#0072b2"), ("published", "none")):
                points = [(row[4], row[5]) for row in rows if row[0] == task and row[3] == origin]
                if points:
                    axis.scatter(
                        *zip(*points, strict=True), marker=marker, facecolors=fill, edgecolors="black", linewidths=0.7,
                        label=f"{TASK_LABELS[task]}, {origin}",
                    )  # fmt: skip
        axis.axhline(0.5, color="black", linewidth=0.8)
        axis.set(xlabel="ROUGE-L", ylabel="judge win rate")
        axis.legend(ncols=2, fontsize=8)
        title = f"Judge win rate against ROUGE-L, round {round_}"
        alt = f"{title}: a filled mark for each model and setting of ours, an empty one for each published; marks differ by task."
        return _save(
            figure,
            place,
            f"judge_{round_}",
            title,
            alt,
            ("task", "setting", "model", "origin", "rouge_l", "win_rate"),
            rows,
        )


def _scalar(groups: Sequence[Group], round_: str, looks: Mapping[str, _Look], place: Path) -> Plot | None:
    """Accuracy by SCALAR level and configuration, with the chance of guessing."""
    own = [
        group for group in groups if group.task == "scalar" and any("accuracy" in cell.scores for cell in group.cells)
    ]
    rows = [
        (group.key.setting, cell.model, one.mean, one.low, one.high, one.samples)
        for group in own
        for cell in group.cells
        if (one := cell.scores.get("accuracy")) is not None
    ]
    if not rows:
        return None
    names = list(dict.fromkeys(row[0] for row in rows))
    models = [model for model in looks if any(row[1] == model for row in rows)]
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 3.6 + 0.12 * len(models)))
        axis = figure.subplots()
        for i, model in enumerate(models):
            shift = (i - (len(models) - 1) / 2) * 0.7 / max(1, len(models))
            points = [(names.index(row[0]) + shift, *row[2:5]) for row in rows if row[1] == model]
            x, mean, low, high = zip(*points, strict=True)
            spread = [[m - a for m, a in zip(mean, low, strict=True)], [b - m for m, b in zip(mean, high, strict=True)]]
            axis.errorbar(x, mean, yerr=spread, label=model, capsize=2, **{**_line(looks[model]), "linestyle": "none"})
        axis.axhline(0.25, color="black", linewidth=0.8, linestyle=":")
        axis.annotate("guessing", (-0.48, 0.26), fontsize=8)
        axis.set_xticks(range(len(names)), names)
        axis.set(ylabel="accuracy", ylim=(0, 1.02))
        _legend(figure, [axis])
        title = f"SCALAR by level and configuration, round {round_}"
        alt = (
            f"{title}: accuracy of {len(models)} models with 95 % intervals; one of four candidates guessed gives 0.25."
        )
        return _save(
            figure,
            place,
            f"scalar_{round_}",
            title,
            alt,
            ("level", "model", "accuracy", "low", "high", "samples"),
            rows,
        )


def _by_month(groups: Sequence[Group], metric: str, cutoffs: Mapping[str, str], place: Path) -> Plot | None:
    """Score by month of publication, a panel for each model, with its cut-off: what it may have seen in training."""
    found: dict[str, dict[str, list[tuple[float, str]]]] = {}
    for group in groups:
        facts = {
            id_: (day[:7], author) for id_, day, author in zip(group.ids, group.published, group.clusters, strict=True)
        }
        for cell in group.cells:
            for id_, value in cell.values.get(metric, {}).items():
                month, author = facts[id_]
                found.setdefault(cell.model, {}).setdefault(month, []).append((value, author))
    rows = [
        (
            model,
            month,
            fmean(value for value, _ in own),
            clustered_error(*_columns(own)),
            len(own),
            cutoffs.get(model, ""),
        )
        for model, months in sorted(found.items())
        for month, own in sorted(months.items())
    ]
    if not rows:
        return None
    models, months = sorted(found), sorted({row[1] for row in rows} | {c for m, c in cutoffs.items() if m in found})
    across = min(4, len(models))
    down = -(-len(models) // across)
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(10, 0.6 + 1.9 * down))
        axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        for axis, model in zip(axes.flat, models, strict=False):
            own = [row for row in rows if row[0] == model]
            axis.errorbar(
                [months.index(row[1]) for row in own], [row[2] for row in own], yerr=[_Z95 * row[3] for row in own],
                color="#0072b2", marker="o", markersize=3, capsize=2, linewidth=1,
            )  # fmt: skip
            if model in cutoffs:
                at = months.index(cutoffs[model])
                axis.axvline(at, color="black", linestyle="--", linewidth=1)
                axis.axvspan(-0.5, at, facecolor="#e6e6e6", edgecolor="#9a9a9a", hatch="///", linewidth=0)
            axis.set_title(model, fontsize=8)
            axis.set_xlim(-0.5, len(months) - 0.5)
            step = max(1, len(months) // 4)
            axis.set_xticks(range(0, len(months), step), months[::step], rotation=45, fontsize=7)
        for axis in axes.flat[len(models) :]:
            axis.set_visible(False)
        figure.supylabel(LABELS[metric], fontsize=9)
        title = f"{LABELS[metric]} by month of publication"
        known = [f"{model} {cutoffs[model]}" for model in models if model in cutoffs]
        alt = (
            f"{title}, a panel for each of {len(models)} models, means over all settings with 95 % intervals. Months up to a "
            f"model's cut-off are hatched: {', '.join(known) or 'no cut-off is known'}."
        )
        head = ("model", "month", metric, "standard_error", "samples", "cutoff")
        return _save(figure, place, f"months_{metric}", title, alt, head, rows)


def _looks(models: Iterable[str]) -> dict[str, _Look]:
    """A look for each model; the periods have no common factor, so that pairs do not repeat early."""
    styles = zip(cycle(_COLOURS), cycle(_MARKS), cycle(_DASHES), strict=False)
    return {model: _Look(*style) for model, style in zip(sorted(models), styles, strict=False)}


def _line(look: _Look) -> dict[str, Any]:
    return {
        "color": look.color, "marker": look.marker, "linestyle": look.linestyle, "markersize": 4, "linewidth": 1,
    }  # fmt: skip


def _legend(figure: Figure, axes: Sequence[Any]) -> None:
    """One legend below, for what any panel shows."""
    handles = {label: one for axis in axes for one, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)), fontsize=7)


def _best(rows: Sequence[tuple[Any, ...]]) -> str:
    best = max(rows, key=lambda row: float(row[4]))
    return f"The highest score is {best[4]:.3f}, by {best[3]} on {best[1]}."


def _columns(pairs: Sequence[tuple[float, str]]) -> tuple[list[float], list[str]]:
    return [value for value, _ in pairs], [name for _, name in pairs]


def _save(
    figure: Figure, place: Path, name: str, title: str, alt: str, head: Sequence[str], rows: Sequence[Sequence[Any]]
) -> Plot:
    save_svg(figure, place / f"{name}.svg")
    save_table(place / f"{name}.csv", head, rows)
    return Plot(name, title, alt)


def save_table(path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a plot's data."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([f"{cell:.6g}" if isinstance(cell, float) else cell for cell in row] for row in rows)
    path.write_text(table.getvalue(), encoding="utf-8")


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure; the same figure gives the same bytes."""
    with mpl.rc_context(_SAVED):
        figure.savefig(path, format="svg", metadata={"Date": None}, facecolor="white")
