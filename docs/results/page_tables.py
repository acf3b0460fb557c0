"""The tables of docs/results.md and README.md, from the CSV files of this folder: `python docs/results/tables.py` writes them in place."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lm_eval_tasks.base.contract import NONE
from lm_eval_tasks.families.recall import KEPT

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md")
_BLOCK = re.compile(r"(?<=<!-- results: )(\w+)( -->\n).*?(?=<!-- end of results -->)", re.DOTALL)
PROGRAMS = {"ppmd": "PPMd, a compressor"}
# Column of kept.csv -> of the page.
PARTS = {"first": "evidence first", "middle": "middle", "last": "last", "rare words": "rare words"}
Rows = Sequence[Mapping[str, str]]


def pages(tables: Mapping[str, str]) -> dict[Path, str]:
    """Each page with its tables filled in.

    Args:
        tables: name of each CSV file -> its content.
    """
    rows = {name: list(csv.DictReader(io.StringIO(text))) for name, text in tables.items()}

    def filled(match: re.Match[str]) -> str:
        lines = "\n".join(_TABLES[match[1]](rows))
        return f"{match[1]}{match[2]}{lines}\n"

    return {page: _BLOCK.sub(filled, page.read_text(encoding="utf-8")) for page in PAGES}


def recall(rows: Mapping[str, Rows]) -> Iterator[str]:
    """What each model recalls, and which share it keeps at each size, by place at the largest."""
    kept = [row for row in rows["kept.csv"] if row["papers"] == "new-pdf"]
    sizes = _sizes(kept)
    heads = ["model", "rows", "recalled", *(f"kept at {size}" for size in sizes), *PARTS.values()]
    yield from _head(heads)
    for model in dict.fromkeys(row["model"] for row in kept):
        own = {row["configuration"].removeprefix("Recall-"): row for row in kept if row["model"] == model}
        largest = next((own[size] for size in reversed(sizes) if size in own), {})
        shares = [_bounded(own[size], "share", "share low", "share high", 2) if size in own else "" for size in sizes]
        parts = [_rounded(largest.get(part, ""), 2) for part in PARTS]
        yield _line(_name(model), own["Alone"]["rows"], _recalled(model, own["Alone"]), *shares, *parts)


def reading(rows: Mapping[str, Rows]) -> Iterator[str]:
    """Bits per byte with less and more to read, and what the paper's own words save over another's."""
    # Of a step that several runs took, that over most rows.
    saved = sorted((row for row in rows["savings.csv"] if row["papers"] == "new"), key=lambda row: int(row["rows"]))
    yield from _head(["model", "rows", "title", "other", "own", "saved over other", "of which copied"])
    for model in dict.fromkeys(row["model"] for row in rows["savings.csv"]):
        own = {(row["less"], row["more"]): row for row in saved if row["model"] == model}
        other = own.get(("other", "start"))
        if other is None:
            continue
        title = own.get(("none", "start"), {})
        # A mean over other rows says nothing beside it.
        of_title = title["bits less"] if title.get("rows") == other["rows"] else ""
        bits = (of_title, other["bits less"], other["bits more"])
        yield _line(
            _name(model),
            other["rows"],
            *(_rounded(value, 3) for value in bits),
            _bounded(other, "saved", "low", "high", 3),
            _rounded(other["copied"], 3),
        )


def answers(rows: Mapping[str, Rows], papers: Sequence[str], metrics: Sequence[str]) -> Iterator[str]:
    """The score of each model in each task over some papers, beside the best program."""
    own = [row for row in rows["scores.csv"] if row["papers"] in papers and row["metric"] in metrics]
    models = list(dict.fromkeys(row["model"] for row in own))
    yield from _head(["task, papers", "rows", "program", *map(_name, models)])
    names = dict.fromkeys((row["task"], row["papers"]) for row in own)
    for name in sorted(names, key=lambda name: papers.index(name[1])):
        # Of a model that was asked twice, the run over most rows; the program is over those of the largest run, too.
        largest = sorted((row for row in own if (row["task"], row["papers"]) == name), key=lambda row: int(row["rows"]))
        of_task = {row["model"]: row for row in largest}
        best = next((row["best program"] for row in reversed(largest) if row["best program"]), "")
        # A program reads what the context `none` does not show.
        program = "" if name[0].endswith(f" {NONE}") else _rounded(best, 3)
        values = [_bounded(of_task[model], "score", "low", "high", 3) if model in of_task else "" for model in models]
        asked = ", ".join(dict.fromkeys(_asked(row) for row in of_task.values()))
        yield _line(", ".join(name), asked, program, *values)


def overview(rows: Mapping[str, Rows]) -> Iterator[str]:
    """For each model what it recalls and keeps, and what reading saves it."""
    kept = [row for row in rows["kept.csv"] if row["papers"] == "new-pdf"]
    sizes = _sizes(kept)
    # Of a step that several runs took, that over most rows.
    steps = sorted(rows["savings.csv"], key=lambda row: int(row["rows"]))
    saved = {row["model"]: row for row in steps if (row["papers"], row["less"], row["more"]) == _MAIN}
    yield from _head(["model", "bits recalled", *(f"kept at {size}" for size in sizes), "bits saved by reading"])
    for model in dict.fromkeys([*(row["model"] for row in kept), *saved]):
        own = {row["configuration"].removeprefix("Recall-"): row for row in kept if row["model"] == model}
        shares = [_bounded(own[size], "share", "share low", "share high", 2) if size in own else "" for size in sizes]
        recalled = _recalled(model, own["Alone"]) if own else ""
        reads = _bounded(saved[model], "saved", "low", "high", 3) if model in saved else ""
        yield _line(_name(model), recalled, *shares, reads)


_MAIN = ("new", "other", "start")
_TABLES = {
    "overview": overview,
    "recall": recall,
    "reading": reading,
    "choosing": lambda rows: answers(rows, ["scalar-mc"], ["accuracy"]),
    "answers": lambda rows: answers(rows, ["new", "zero", "pdf"], ["rouge_l_content"]),
}


def _sizes(kept: Rows) -> list[str]:
    names = {row["configuration"].removeprefix("Recall-") for row in kept}
    return sorted((name for name in names if name[:-1].isdigit()), key=lambda name: KEPT.sizes[f"Recall-{name}"])


def _recalled(model: str, row: Mapping[str, str]) -> str:
    # A program's are counted in whole bytes, beside which a model's say nothing.
    return "" if model in PROGRAMS else _bounded(row, "recalled", "low", "high", 1)


def _name(model: str) -> str:
    return PROGRAMS.get(model, model)


def _asked(row: Mapping[str, str]) -> str:
    return row["rows"] if row["rows"] == row["of"] else f"{row['rows']} of {row['of']}"


def _rounded(value: str, digits: int) -> str:
    return f"{float(value):.{digits}f}" if value else ""


def _bounded(row: Mapping[str, str], value: str, low: str, high: str, digits: int) -> str:
    bounds = f" [{_rounded(row[low], digits)}, {_rounded(row[high], digits)}]" if row[low] and row[high] else ""
    return f"{_rounded(row[value], digits)}{bounds}"


def _head(names: Sequence[str]) -> Iterator[str]:
    yield _line(*names)
    yield _line("---", *["---:"] * (len(names) - 1))


def _line(*cells: str) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"
