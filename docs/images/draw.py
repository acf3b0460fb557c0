"""The pictures of the docs.

  python docs/images/draw.py

That of months.md is drawn from made-up runs with planted effects, that of reading.md from benchmarks/results.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from hub_scripts.report.drawing import STYLE  # noqa: E402

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


def main() -> None:
    """Draw the pictures."""
    place = Path(__file__).parent
    with mpl.rc_context({**STYLE, "svg.hashsalt": "academiceval", "svg.fonttype": "none"}):
        drawn = {"seen-papers": seen_papers(), "without-a-model": without_a_model()}
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
