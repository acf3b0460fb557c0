"""How plots look and are saved: vector, light and dark, with marks and dashes besides colours, each with its data as CSV."""

import csv
import hashlib
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

from lm_eval_tasks.base.tables import Table
from lm_eval_tasks.base.text import guarded

_INK, _PAPER = "#1b1b1b", "#ffffff"
_INKED = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
# The colours of a picture for dark pages: black, white, greys, and the blue that is too dark there.
_DARK = {_INK: "#ececec", _PAPER: "#16181b", "#000000": "#ffffff", "#b0b0b0": "#6a7078", "#0072b2": "#56a5d8"}
STYLE: dict[Any, Any] = {
    "font.size": 9.0,
    "text.parse_math": False,
    "figure.constrained_layout.use": True,
    **dict.fromkeys(_INKED, _INK),
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
# The same figure gives the same bytes.
_SAVED: dict[Any, Any] = {"svg.hashsalt": "academiceval", "svg.fonttype": "path"}
# Of baselines, which are there to compare with.
REFERENCE: dict[str, Any] = {"color": "#8a8a8a", "linewidth": 0.8, "markersize": 3}
# Okabe and Ito's colours, which colour-blind readers can tell apart.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h")
# Inches of a plot on a page, and on a telephone: there its letters have the size of the text beside it.
_WIDE, _NARROW = 10, 4.2
_LONGEST_NAME, _LONGEST_LABEL = 100, 48


@dataclass(frozen=True, slots=True)
class Plot:
    """One drawn plot.

    Attributes:
        name: of its files, without ending.
        alt: what it shows, for those who cannot see it.
        takeaway: one sentence on what it means.
        leads: whether the first page shows it too, before the boards.
        table: its figures, shown below it.
    """

    name: str
    title: str
    alt: str
    takeaway: str = ""
    leads: bool = False
    table: Table | None = None


def looks(models: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return colour, mark and dash of each model; their periods have no common factor, so that pairs do not repeat early."""
    styles = zip(cycle(_COLOURS), cycle(MARKS), cycle(("-", "--", "-.", ":")), strict=False)
    return {
        model: {"color": color, "marker": mark, "linestyle": dash, "markersize": 4, "linewidth": 1}
        for model, (color, mark, dash) in zip(sorted(models), styles, strict=False)
    }


def in_plot(name: str) -> str:
    """Return what a plot calls a model: matplotlib shows no label that begins with "_", and one that is too long leaves no room."""
    short = name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 12]}...{name[-9:]}"
    return f"\u200a{short}" if short.startswith("_") else short


@dataclass(frozen=True, slots=True)
class Sheet:
    """Where plots are written, and how wide: each is drawn for a page, and for a telephone with its panels below one another.

    Attributes:
        folder: of the files.
        narrow: whether it is for a telephone.
    """

    folder: Path
    narrow: bool = False

    def panels(self, number: int, height: float, *, sharey: bool = False) -> tuple[Figure, list[Any]]:
        """Return a figure and its panels, beside one another; on a telephone below one another.

        Args:
            height: of the figure on a page, in inches.
            sharey: whether panels have one scale.
        """
        if self.narrow:
            # Beside the panels there is a legend, which needs as much as on a page.
            figure = Figure(figsize=(_NARROW, height * (1 + 0.75 * (number - 1))))
            return figure, list(figure.subplots(number, 1, squeeze=False, sharey=sharey).flat)
        figure = Figure(figsize=(_WIDE, height))
        return figure, list(figure.subplots(1, number, squeeze=False, sharey=sharey).flat)

    def add_legend(self, figure: Figure, across: int = 4) -> None:
        """Add one legend below, for what any panel shows.

        Args:
            across: the most names in a line on a page; a telephone has half as many.
        """
        handles = {
            label: handle
            for axis in figure.axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=min(across // 2 if self.narrow else across, len(handles)),
            fontsize=7,
        )

    def save(self, figure: Figure, plot: Plot, head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Plot:
        """Write a plot, and its data beside the one for a page; the name that is returned is fit for a file."""
        plot = replace(plot, name=file_name(plot.name))
        name = f"{plot.name}{'-narrow' * self.narrow}"
        picture = io.StringIO()
        with mpl.rc_context(_SAVED), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a letter that the font does not have is drawn as a box
            figure.savefig(picture, format="svg", metadata={"Date": None}, facecolor=_PAPER)
        light = picture.getvalue()
        dark = re.sub("|".join(_DARK), lambda colour: _DARK[colour[0]], light)
        (self.folder / f"{name}.svg").write_text(light, encoding="utf-8")
        (self.folder / f"{name}-dark.svg").write_text(dark, encoding="utf-8")
        if not self.narrow:
            (self.folder / f"{plot.name}.csv").write_text(csv_text(head, rows), encoding="utf-8")
        return plot


def file_name(text: str) -> str:
    """Return a name for a file, another one for each text: with a hash where letters had to go, or where it would be too long."""
    fit = re.sub(r"[^A-Za-z0-9_.-]+", "-", text)[:_LONGEST_NAME]
    return fit if fit == text else f"{fit}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """Return a CSV file whose cells a spreadsheet takes for texts or numbers, never for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_csv_cell(cell) for cell in line] for line in lines)
    return text.getvalue()


def _csv_cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return guarded(cell) if isinstance(cell, str) else cell
