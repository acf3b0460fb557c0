"""The plots of the results: what each shows, and its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from hub_scripts.report.board import LABELS, TASK_LABELS, published
from hub_scripts.report.cells import TASKS, Group, task_of
from hub_scripts.report.drawing import BLUE, MARKS, STYLE, Plot, add_legend, looks, save
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.runs.intervals import interval

_PAIRS = {
    "title": ("Title-30K", "Title-31K-G"), "abs": ("Abs-28K", "Abs-29K-G"), "intro": ("Intro-28K", "Intro-28K-G"),
    "related": ("Related-53K", "Related-53K-G"),
}  # fmt: skip
_Row = tuple[Any, ...]
_Looks = Mapping[str, Mapping[str, Any]]


def draw_all(groups: Sequence[Group], cutoffs: Mapping[str, str], place: Path) -> list[Plot]:
    """Draw every plot that there is data for, below `place`."""
    place.mkdir(parents=True, exist_ok=True)
    styles = looks({cell.model for group in groups for cell in group.cells})
    with mpl.rc_context(STYLE):
        drawn: list[Plot] = []
        for round_ in sorted({group.key.round for group in groups}, reverse=True):
            own = [group for group in groups if group.key.round == round_]
            for metric in registry.headline("writing"):
                drawn += _drawn(_by_length, length_rows(own, metric), place, round_, metric, styles)
                drawn += _drawn(_demonstrations, demonstration_rows(own, metric), place, round_, metric, styles)
            drawn += _drawn(_judge_and_overlap, judge_rows(own), place, round_)
            drawn += _drawn(_scalar, scalar_rows(own), place, round_, styles)
        for metric in registry.headline():
            drawn += _drawn(_by_month, month_rows(groups, metric, cutoffs), place, metric, cutoffs)
    return drawn


def _drawn(draw: Callable[..., Plot], rows: Iterable[_Row], *arguments: Any) -> list[Plot]:
    known = list(rows)
    return [draw(known, *arguments)] if known else []


def length_rows(groups: Sequence[Group], metric: str) -> Iterator[_Row]:
    """task, setting, thousands of tokens, model, score, low, high, samples."""
    for group in groups:
        for cell in group.cells:
            one = cell.scores.get(metric)
            if group.context and one is not None:
                yield group.task, group.key.setting, group.context, cell.model, one.mean, one.low, one.high, one.samples


def _by_length(rows: Sequence[_Row], place: Path, round_: str, metric: str, styles: _Looks) -> Plot:
    """Score against context length, a panel for each task."""
    tasks = _tasks(rows)
    figure = Figure(figsize=(10, 3.2 + 0.12 * len(styles)))
    axes = figure.subplots(1, len(tasks), squeeze=False)[0]
    for axis, task in zip(axes, tasks, strict=True):
        for model, style in styles.items():
            points = sorted((row[2], row[4]) for row in rows if row[0] == task and row[3] == model)
            if points:
                axis.plot(*zip(*points, strict=True), label=model, **style)
        axis.set(title=TASK_LABELS[task], xlabel="context (thousand tokens)")
    axes[0].set_ylabel(LABELS[metric])
    add_legend(figure, axes)
    best = max(rows, key=lambda row: float(row[4]))
    title = f"{LABELS[metric]} against context length, round {round_}"
    alt = (
        f"{title}: one line for each of {len(styles)} models, one panel for each of {len(tasks)} tasks. "
        f"The highest score is {best[4]:.3f}, by {best[3]} on {best[1]}."
    )
    head = ("task", "setting", "thousand_tokens", "model", metric, "low", "high", "samples")
    return save(figure, place, Plot(f"length_{metric}_{round_}", title, alt), head, rows)


def demonstration_rows(groups: Sequence[Group], metric: str) -> Iterator[_Row]:
    """task, model, mean difference of co-author and random demonstrations over the same papers, low, high, p, papers."""
    by_name = {group.key.setting: group for group in groups}
    for task, (random, co_author) in _PAIRS.items():
        if random not in by_name or co_author not in by_name:
            continue
        clusters = dict(zip(by_name[random].ids, by_name[random].clusters, strict=True))
        theirs = {cell.model: cell.values.get(metric, {}) for cell in by_name[co_author].cells}
        for cell in by_name[random].cells:
            mine, other = cell.values.get(metric, {}), theirs.get(cell.model, {})
            common = [id_ for id_ in mine if id_ in other]
            if not common:
                continue
            over = interval([other[id_] - mine[id_] for id_ in common], [clusters[id_] for id_ in common])
            if over.bounds:
                yield task, cell.model, over.mean, over.low, over.high, over.p, over.samples


def _demonstrations(rows: Sequence[_Row], place: Path, round_: str, metric: str, styles: _Looks) -> Plot:
    """Paired differences with intervals, a panel for each task, a line for each model."""
    tasks = _tasks(rows)
    models = [model for model in reversed(list(styles)) if any(row[1] == model for row in rows)]
    figure = Figure(figsize=(10, 1.4 + 0.26 * len(models)))
    axes = figure.subplots(1, len(tasks), sharey=True, squeeze=False)[0]
    for axis, task in zip(axes, tasks, strict=True):
        for _, model, mean, low, high, *_ in (row for row in rows if row[0] == task):
            axis.errorbar(mean, models.index(model), xerr=[[mean - low], [high - mean]], capsize=2, **styles[model])
        axis.axvline(0, color="black", linewidth=0.8)
        axis.xaxis.set_major_locator(MaxNLocator(3))
        axis.set(title=TASK_LABELS[task], xlabel=f"difference in {LABELS[metric]}")
    axes[0].set_yticks(range(len(models)), models)
    title = f"Co-author less random demonstrations, {LABELS[metric]}, round {round_}"
    alt = (
        f"{title}: paired differences with 95 % intervals. Of {len(rows)}, {sum(row[3] > 0 for row in rows)} lie wholly above "
        f"zero, where co-author demonstrations help, and {sum(row[4] < 0 for row in rows)} wholly below."
    )
    head = ("task", "model", "difference", "low", "high", "p", "papers")
    return save(figure, place, Plot(f"demonstrations_{metric}_{round_}", title, alt), head, rows)


def judge_rows(groups: Sequence[Group]) -> Iterator[_Row]:
    """task, setting, model, whose, ROUGE-L, win rate; the published ones only where there are some of ours."""
    ours = [
        (group.task, group.key.setting, cell.model, "ours", cell.scores["rouge_l"].mean, cell.scores["win_rate"].mean)
        for group in groups
        for cell in group.cells
        if {"rouge_l", "win_rate"} <= cell.scores.keys()
    ]
    yield from ours
    printed = {(one.model, one.setting, one.metric): one.value for one in published()}
    for (model, setting, metric), value in printed.items():
        if ours and metric == "rouge_l" and (model, setting, "win_rate") in printed:
            yield (
                task_of(setting),
                setting,
                model,
                "published",
                value,
                printed[model, setting, "win_rate"],
            )


def _judge_and_overlap(rows: Sequence[_Row], place: Path, round_: str) -> Plot:
    """Win rate against ROUGE-L, the published points beside ours."""
    figure = Figure(figsize=(8, 5))
    axis = figure.subplots()
    for task, mark in zip(TASKS, MARKS, strict=False):
        for origin, fill in (("ours", BLUE), ("published", "none")):
            points = [(row[4], row[5]) for row in rows if row[0] == task and row[3] == origin]
            if points:
                axis.scatter(
                    *zip(*points, strict=True), marker=mark, facecolors=fill, edgecolors="black", linewidths=0.7,
                    label=f"{TASK_LABELS[task]}, {origin}",
                )  # fmt: skip
    axis.axhline(0.5, color="black", linewidth=0.8)
    axis.set(xlabel="ROUGE-L", ylabel="judge win rate")
    axis.legend(ncols=2, fontsize=8)
    title = f"Judge win rate against ROUGE-L, round {round_}"
    alt = f"{title}: a filled mark for each model and setting of ours, an empty one for each published; marks differ by task."
    head = ("task", "setting", "model", "origin", "rouge_l", "win_rate")
    return save(figure, place, Plot(f"judge_{round_}", title, alt), head, rows)


def scalar_rows(groups: Sequence[Group]) -> Iterator[_Row]:
    """level, model, accuracy, low, high, samples."""
    for group in groups:
        for cell in group.cells:
            one = cell.scores.get("accuracy")
            if one is not None:
                yield group.key.setting, cell.model, one.mean, one.low, one.high, one.samples


def _scalar(rows: Sequence[_Row], place: Path, round_: str, styles: _Looks) -> Plot:
    """Accuracy by SCALAR level and configuration, with the chance of guessing."""
    names = list(dict.fromkeys(row[0] for row in rows))
    models = [model for model in styles if any(row[1] == model for row in rows)]
    figure = Figure(figsize=(10, 3.6 + 0.12 * len(models)))
    axis = figure.subplots()
    for i, model in enumerate(models):
        shift = (i - (len(models) - 1) / 2) * 0.7 / len(models)
        for n, (name, _, mean, low, high, _) in enumerate(row for row in rows if row[1] == model):
            spread = None if low is None else [[mean - low], [high - mean]]
            style = {**styles[model], "linestyle": "none", "label": model if n == 0 else None}
            axis.errorbar(names.index(name) + shift, mean, yerr=spread, capsize=2, **style)
    axis.axhline(0.25, color="black", linewidth=0.8, linestyle=":")
    axis.annotate("guessing", (-0.48, 0.26), fontsize=8)
    axis.set_xticks(range(len(names)), names)
    axis.set(ylabel="accuracy", ylim=(0, 1.02), xlim=(-0.5, len(names) - 0.5))
    add_legend(figure, [axis])
    title = f"SCALAR by level and configuration, round {round_}"
    alt = f"{title}: accuracy of {len(models)} models with 95 % intervals; one of four candidates guessed gives 0.25."
    return save(
        figure,
        place,
        Plot(f"scalar_{round_}", title, alt),
        ("level", "model", "accuracy", "low", "high", "samples"),
        rows,
    )


def month_rows(groups: Sequence[Group], metric: str, cutoffs: Mapping[str, str]) -> Iterator[_Row]:
    """model, month of publication, mean over all settings, low, high, samples, cut-off."""
    found: dict[tuple[str, str], tuple[list[float], list[str]]] = {}
    for group in groups:
        months = {id_: day[:7] for id_, day in zip(group.ids, group.published, strict=True)}
        authors = dict(zip(group.ids, group.clusters, strict=True))
        for cell in group.cells:
            for id_, value in cell.values.get(metric, {}).items():
                values, clusters = found.setdefault((cell.model, months[id_]), ([], []))
                values.append(value)
                clusters.append(authors[id_])
    for (model, month), (values, clusters) in sorted(found.items()):
        over = interval(values, clusters)
        yield model, month, over.mean, over.low, over.high, over.samples, cutoffs.get(model, "")


def _by_month(rows: Sequence[_Row], place: Path, metric: str, cutoffs: Mapping[str, str]) -> Plot:
    """Score by month, a panel for each model; what lies before its cut-off it may have seen in training."""
    models = sorted({row[0] for row in rows})
    known = {model: cutoffs[model] for model in models if model in cutoffs}
    months = sorted({row[1] for row in rows} | set(known.values()))
    across = min(4, len(models))
    figure = Figure(figsize=(10, 0.6 + 1.9 * -(-len(models) // across)))
    axes = figure.subplots(-(-len(models) // across), across, sharex=True, sharey=True, squeeze=False)
    for axis, model in zip(axes.flat, models, strict=False):
        own = [(months.index(row[1]), *row[2:5]) for row in rows if row[0] == model]
        at, mean, *_ = zip(*own, strict=True)
        axis.plot(at, mean, color=BLUE, marker="o", markersize=3, linewidth=1)
        for i, (_, middle, low, high) in enumerate(own):
            if low is not None:
                axis.errorbar(at[i], middle, yerr=[[middle - low], [high - middle]], color=BLUE, capsize=2, linewidth=1)
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
    figure.supylabel(LABELS[metric], fontsize=9)
    title = f"{LABELS[metric]} by month of publication"
    listed = ", ".join(f"{model} {month}" for model, month in known.items())
    alt = (
        f"{title}, a panel for each of {len(models)} models, means over all settings with 95 % intervals. Months up to a "
        f"model's cut-off are hatched: {listed or 'no cut-off is known'}."
    )
    head = ("model", "month", metric, "low", "high", "samples", "cutoff")
    return save(figure, place, Plot(f"months_{metric}", title, alt), head, rows)


def _tasks(rows: Sequence[_Row]) -> list[str]:
    return [task for task in TASKS if any(row[0] == task for row in rows)]
