"""The pictures of the docs.

  python docs/images/draw.py

That of months.md is drawn from made-up runs with planted effects, that of reading.md from benchmarks/results.json, that of results.md from
docs/results/kept.csv.
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

from docs.results.page_tables import PROGRAMS  # noqa: E402
from hub_scripts.report.drawing import MARKS, STYLE  # noqa: E402
from lm_eval_tasks.families.recall import KEPT  # noqa: E402

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
    "Gemma-3-270M": "#cc79a7",
    "Qwen2.5-Coder-0.5B-Instruct": "#d55e00",
    "Qwen2.5-Coder-1.5B-Instruct": "#009e73",
    "ppmd": "#8a8a8a",
}


def main() -> None:
    """Draw the pictures."""
    place = Path(__file__).parent
    with mpl.rc_context({**STYLE, "svg.hashsalt": "academiceval", "svg.fonttype": "none"}):
        drawn = {"seen-papers": seen_papers(), "without-a-model": without_a_model()}
        drawn["recall"] = recall()
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


def recall() -> Figure:
    """Share of what each model recalls alone that it keeps in longer contexts, with its 95 % interval: over all rows, and by place."""
    rows = [row for row in table("kept.csv") if row["configuration"].removeprefix("Recall-")[:-1].isdigit()]
    rows = [row for row in rows if row["papers"] == "new-pdf"]
    figure = Figure(figsize=(7, 3), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
    for i, (model, colour) in enumerate(MODELS.items()):
        own = [row for row in rows if row["model"] == model]
        sizes = [int(row["configuration"].removeprefix("Recall-")[:-1]) for row in own]
        shares = [float(row["share"]) for row in own]
        ends = [[float(row[name]) for row in own] for name in ("share low", "share high")]
        reach = [np.subtract(shares, ends[0]), np.subtract(ends[1], shares)] if own else [[], []]
        looks = {"color": colour, "marker": MARKS[i], "markersize": 5}
        if own:
            # Lines of several models lie beside one another.
            beside = [size * 1.03 ** (i - 1) for size in sizes]
            panels[0].errorbar(beside, shares, yerr=reach, capsize=2, label=PROGRAMS.get(model, model), **looks)
            panels[1].plot(KEPT.parts, [float(own[-1][place]) for place in KEPT.parts], linestyle="--", **looks)
    sizes = sorted({int(row["configuration"].removeprefix("Recall-")[:-1]) for row in rows})
    panels[0].set_xscale("log", base=2)
    panels[0].set_xticks(sizes, [f"{size}K" for size in sizes], minor=False)
    panels[0].set(xlabel="tokens of context", ylabel="share kept", title="all rows", ylim=(0.6, 1.1))
    panels[1].set(xlabel="place of the evidence", title="at the largest size; different texts")
    for panel in panels:
        panel.axhline(0.85, color="#8a8a8a", linewidth=0.8, linestyle=":")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=8)
    return figure


def table(name: str) -> list[dict[str, str]]:
    """Return the rows of a table of docs/results that are of models."""
    with (ROOT / "docs" / "results" / name).open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["model"] in MODELS]


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
