"""Tables for display: made once, shown as Markdown or on a page."""

import csv
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lm_eval_tasks.base.redaction import redact
from lm_eval_tasks.base.text import guarded

_RULES = {"l": "---", "r": "---:"}
# A number, with an interval perhaps, or a dash: no formula.
_FIGURE = re.compile(r"[-+]?\d[\d.,]*(?: \[[-+\d., ]+\])?|-")
# What means something else in LaTeX.
_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
    }
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        head: the columns' names.
        align: a letter for each column, "l" for text and "r" for numbers.
        rows: cells of any kind; None is an empty cell.
        main: the columns that a command prints, at most seven; () if it prints the table only where all columns are asked for.
    """

    head: Sequence[str]
    align: str
    rows: Sequence[Sequence[object]]
    main: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if {len(self.align), *map(len, self.rows)} != {len(self.head)}:
            raise ValueError(f"the table {', '.join(self.head)} has rows of different widths")

    @property
    def printed(self) -> "Table | None":
        """The table with its main columns; None if it has none."""
        if self.main is None:
            return self
        columns = [self.head.index(name) for name in self.main]
        if not columns:
            return None
        rows = [[row[i] for i in columns] for row in self.rows]
        return Table(self.main, "".join(self.align[i] for i in columns), rows)


def with_bounds(value: float, low: float | None, high: float | None, form: str = ".4f") -> str:
    """Return a figure for display, followed by its interval if there is one."""
    return f"{value:{form}}" + ("" if low is None or high is None else f" [{low:{form}}, {high:{form}}]")


def markdown(table: Table) -> Iterator[str]:
    """Yield the lines of a table in Markdown; what a cell contains cannot break its row."""
    yield _line([_cell(cell) for cell in table.head])
    yield _line([_RULES[letter] for letter in table.align])
    yield from (_line([_cell(cell) for cell in row]) for row in table.rows)


def text_lines(item: str | Table | Mapping[str, object], form: str, *, all_columns: bool = False) -> Iterator[str]:
    """Yield the lines of what a command shows.

    Args:
        item: a table, a line, or what is shown as JSON alone.
        form: "terminal", "markdown", "latex", "csv" or "json". JSON has one line for each table, with all columns. LaTeX makes lines that
            are no table's comments; with CSV and JSON they belong on another stream, see `is_beside`, without empty ones.
    """
    if is_beside(item, form) and not item:
        return
    if isinstance(item, str) and form == "latex":
        yield from (f"% {part}" if part else "" for part in item.split("\n"))
    elif isinstance(item, str):
        yield item
    elif form == "json":
        content = item if isinstance(item, Mapping) else [dict(zip(item.head, row, strict=True)) for row in item.rows]
        yield json.dumps(content, ensure_ascii=False, default=str)
    elif isinstance(item, Table):
        table = item if all_columns else item.printed
        if table:
            yield from _FORMS[form](table)


def is_beside(item: object, form: str) -> bool:
    """Tell whether what a command shows would be in the way of a program that reads its tables."""
    return isinstance(item, str) and form in ("csv", "json")


def latex(table: Table) -> Iterator[str]:
    """Yield the lines of a table for LaTeX with the package booktabs (https://ctan.org/pkg/booktabs)."""
    yield from (rf"\begin{{tabular}}{{{table.align}}}", r"\toprule", _latex_line(table.head), r"\midrule")
    yield from map(_latex_line, table.rows)
    yield from (r"\bottomrule", r"\end{tabular}")


def _latex_line(cells: Sequence[object]) -> str:
    texts = ("" if cell is None else str(redact(str(cell))) for cell in cells)
    return " & ".join(" ".join(text.translate(_LATEX).split()) for text in texts) + r" \\"


def _csv_lines(table: Table) -> Iterator[str]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_csv_cell(cell) for cell in row] for row in (table.head, *table.rows))
    # A cell may contain characters that `splitlines` takes for line ends.
    yield from text.getvalue().split("\n")


def _csv_cell(cell: object) -> str:
    text = "" if cell is None else str(redact(str(cell))).replace("\r", " ")
    return text if _FIGURE.fullmatch(text) else guarded(text)


def _draw_table(table: Table) -> Iterator[str]:
    from rich import console, text
    from rich.table import Table as Drawn

    drawn = Drawn(box=None, pad_edge=False)
    for name, letter in zip(table.head, table.align, strict=True):
        drawn.add_column(text.Text(name), justify="right" if letter == "r" else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(text.Text("" if cell is None else str(cell)) for cell in row))
    wide = sum(
        2 + max(len(str(cell)) for cell in (name, *cells)) for name, *cells in zip(table.head, *table.rows, strict=True)
    )
    if wide > shutil.get_terminal_size().columns and len(table.head) > 4:
        yield "\n\n".join(_below(table.head, row) for row in table.rows)
        return
    screen = console.Console(color_system=None, width=max(60, shutil.get_terminal_size().columns))
    with screen.capture() as captured:
        screen.print(drawn)
    yield captured.get().rstrip("\n")


def _below(head: Sequence[str], row: Sequence[object]) -> str:
    """Return a row of a table that is too wide for a terminal, one cell below another."""
    width = max(map(len, head)) + 2
    return "\n".join(f"{name:<{width}}{'' if cell is None else cell}" for name, cell in zip(head, row, strict=True))


def _line(cells: Sequence[str]) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


def _cell(cell: object) -> str:
    return "" if cell is None else " ".join(str(redact(str(cell))).replace("|", "\\|").split())


_FORMS: dict[str, Callable[[Table], Iterator[str]]] = {
    "terminal": _draw_table,
    "markdown": markdown,
    "latex": latex,
    "csv": _csv_lines,
}
