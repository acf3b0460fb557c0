"""How plots look and are saved: vector, with marks and dashes besides colours, each with its data as CSV."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

# Names of models and authors may contain any character: none may begin a formula.
PLAIN: dict[Any, Any] = {"font.size": 9.0, "text.parse_math": False, "figure.constrained_layout.use": True}
STYLE: dict[Any, Any] = {
    **PLAIN,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
# The same figure gives the same bytes.
_SAVED: dict[Any, Any] = {"svg.hashsalt": "academiceval", "svg.fonttype": "path"}
BLUE = "#0072b2"
# Of baselines, which are there to compare with.
REFERENCE: dict[str, Any] = {"color": "#8a8a8a", "linewidth": 0.8, "markersize": 3}
# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
_DASHES = ("-", "--", "-.", ":")


@dataclass(frozen=True, slots=True)
class Plot:
    """One drawn plot.

    Attributes:
        name: of its files, without ending.
        alt: what it shows, for those who cannot see it.
        takeaway: one sentence on what it means.
    """

    name: str
    title: str
    alt: str
    takeaway: str = ""


def looks(models: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Colour, mark and dash of each model; their periods have no common factor, so that pairs do not repeat early."""
    styles = zip(cycle(_COLOURS), cycle(MARKS), cycle(_DASHES), strict=False)
    return {
        model: {"color": color, "marker": mark, "linestyle": dash, "markersize": 4, "linewidth": 1}
        for model, (color, mark, dash) in zip(sorted(models), styles, strict=False)
    }


def add_legend(figure: Figure, axes: Sequence[Any]) -> None:
    """One legend below, for what any panel shows."""
    handles = {label: handle for axis in axes for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)), fontsize=7)


def save(figure: Figure, place: Path, plot: Plot, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Plot:
    """Write a plot and its data; the name that is returned is fit for a file."""
    plot = replace(plot, name=re.sub(r"[^\w.-]+", "-", plot.name))
    with mpl.rc_context(_SAVED), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a letter that the font does not have is drawn as a box
        figure.savefig(place / f"{plot.name}.svg", format="svg", metadata={"Date": None}, facecolor="white")
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    (place / f"{plot.name}.csv").write_text(table.getvalue(), encoding="utf-8")
    return plot


def _cell(cell: object) -> object:
    """A cell that a spreadsheet takes for text or a number, never for a formula."""
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell
