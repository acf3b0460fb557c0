"""The pictures of the docs.

  python docs/images/draw.py

That of months.md is drawn from made-up runs with planted effects, that of reading.md from benchmarks/results.json, that of results.md from
docs/results/scores.csv.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from hub_scripts.report.drawing import MARKS, STYLE  # noqa: E402

MONTHS = 12
CUTOFFS = {"model A": 2, "model B": 8}
LOOKS = {"model A": ("#0072b2", "o", "-"), "model B": ("#d55e00", "s", "--")}
FAMILIES = {
    "scalar_easy": "SCALAR-Easy",
    "scalar_medium": "SCALAR-Medium",
    "scalar_hard": "SCALAR-Hard",
    "walk": "Walk",
    "next": "Next",
    "match": "Match",
}
# Of results.md, from small to large: colour of each model.
MODELS = {
    "SmolLM2-135M-Instruct": "#56b4e9",
    "Qwen2.5-Coder-0.5B-Instruct": "#d55e00",
    "Qwen2.5-Coder-1.5B-Instruct": "#009e73",
}


def main() -> None:
    """Draw the pictures."""
    place = Path(__file__).parent
    with mpl.rc_context({**STYLE, "svg.hashsalt": "academiceval", "svg.fonttype": "none"}):
        drawn = {"seen-papers": seen_papers(), "without-a-model": without_a_model(), "first-results": first_results()}
        for name, figure in drawn.items():
            figure.savefig(place / f"{name}.svg", metadata={"Date": None}, facecolor="white")


def without_a_model() -> Figure:
    """What programs get on exact questions about real papers: those that only compare words, a parser for Walk, and guessing."""
    measured = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))["floors"]["figures"]
    looks = {
        "rules": ("#d55e00", 0.8, "a parser of papers"),
        "floor": ("#0072b2", 0.8, "the best program that compares words"),
    }
    looks["chance"] = ("#8a8a8a", 0.4, "guessing")
    figure = Figure(figsize=(7, 2.8))
    axis = figure.subplots()
    for key, (colour, height, label) in looks.items():
        axis.barh(
            list(FAMILIES.values()),
            [measured[name].get(key, 0) for name in FAMILIES],
            color=colour,
            height=height,
            label=label,
        )
    axis.invert_yaxis()
    axis.set(xlabel="share right", xlim=(0, 1))
    axis.legend(loc="lower right")
    return figure


def first_results() -> Figure:
    """Score of each model in each task with its 95 % interval, and what the best program gets on the same rows."""
    with (ROOT / "docs" / "results" / "scores.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] in MODELS]
    tasks = list(dict.fromkeys((row["task"], row["papers"]) for row in reversed(rows)))
    figure = Figure(figsize=(7, 0.8 + 0.42 * len(tasks)), layout="constrained")
    axis = figure.subplots()
    for row in rows:
        place, i = tasks.index((row["task"], row["papers"])), list(MODELS).index(row["model"])
        score, low, high = (float(row[name] or row["score"]) for name in ("score", "low", "high"))
        looks = {"color": MODELS[row["model"]], "marker": MARKS[i], "linestyle": "", "markersize": 5, "capsize": 2}
        axis.errorbar(
            [score], [place + 0.2 * (1 - i)], xerr=[[score - low], [high - score]], label=row["model"], **looks
        )
        if row["best program"]:
            ends = [place - 0.35, place + 0.35]
            axis.plot([float(row["best program"])] * 2, ends, color="#8a8a8a", linewidth=2, label="best program")
    named = dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=2, fontsize=8)
    axis.set_yticks(range(len(tasks)), [f"{task.replace('_', '-').title()}, {papers}" for task, papers in tasks])
    axis.set(xlabel="score", xlim=(0, None))
    return figure


def seen_papers() -> Figure:
    """Two models by month: the one that was trained later gains on papers between the two cut-offs, and only there."""
    chance = np.random.default_rng(3)
    papers = 0.25 + chance.normal(0, 0.015, MONTHS)
    figure = Figure(figsize=(7, 3))
    axis = figure.subplots()
    for model, last in CUTOFFS.items():
        colour, mark, dash = LOOKS[model]
        months = np.arange(MONTHS)
        scores = (
            papers + (0.02 if model == "model B" else 0) + 0.06 * (months <= last) + chance.normal(0, 0.003, MONTHS)
        )
        axis.plot(months, scores, color=colour, marker=mark, linestyle=dash, markersize=4, label=model)
        axis.axvline(last + 0.5, color=colour, linestyle=dash, linewidth=1)
        axis.annotate(f"{model}\ntrained up to here", (last + 0.6, 0.395), color=colour, fontsize=8, va="top")
    axis.set(xlabel="month of publication", ylabel="score", ylim=(0.2, 0.4))
    axis.set_xticks(range(MONTHS), [f"{month + 1}" for month in range(MONTHS)])
    axis.legend(loc="lower left")
    return figure


if __name__ == "__main__":
    main()
