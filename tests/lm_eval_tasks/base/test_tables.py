"""Tables in each form that a command prints them in."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from lm_eval_tasks.base.tables import Table, text_lines
from tests.helpers.served import Command

ROOT = Path(__file__).parents[3]
TABLE = Table(
    ("Task", "Score_x", "Other"), "lrl", [("a & b", "50 %", None), ("c|d, e", "=1+1", 3)], main=("Task", "Score_x")
)


def lines(form: str, *, all_columns: bool = False) -> list[str]:
    return [line for item in ("A line.", TABLE) for line in text_lines(item, form, all_columns=all_columns)]


def test_latex_has_a_tabular_whose_cells_cannot_break_it() -> None:
    assert lines("latex") == [
        "% A line.",
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"Task & Score\_x \\",
        r"\midrule",
        r"a \& b & 50 \% \\",
        r"c|d, e & =1+1 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_csv_is_what_a_reader_of_csv_reads() -> None:
    rows = [row for row in csv.reader(text_lines(TABLE, "csv", all_columns=True)) if row]
    assert rows == [["Task", "Score_x", "Other"], ["a & b", "50 %", ""], ["c|d, e", "'=1+1", "3"]]
    odd = Table(("a", "b"), "ll", [("x\x1cy\u2028", "z")])
    assert list(csv.reader(text_lines(odd, "csv")))[1] == ["x\x1cy\u2028", "z"]


def test_figures_are_numbers_in_csv() -> None:
    table = Table(("a", "b"), "rr", [("-0.086", "+0.01 [-0.02, +0.03]"), ("-", "-1+1")])
    assert list(csv.reader(list(text_lines(table, "csv"))[1:3])) == [
        ["-0.086", "+0.01 [-0.02, +0.03]"],
        ["-", "'-1+1"],
    ]


def test_markdown_keeps_lines_and_rows() -> None:
    assert lines("markdown") == [
        "A line.",
        "| Task | Score_x |",
        "| --- | ---: |",
        "| a & b | 50 % |",
        "| c\\|d, e | =1+1 |",
    ]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_sentences_stay_out_of_the_way_of_programs_and_are_not_lost(command: Command, form: str) -> None:
    anchor = ROOT / "docs" / "results" / "anchor"
    _, shown, _ = command("show", anchor, "--format", "markdown")
    code, out, err = command("show", anchor, "--format", form)
    sentences = [line for line in shown.splitlines() if line and not line.startswith("|")]
    assert (code, [line for line in sentences if line not in err or line in out]) == (0, [])
    assert sentences
    if form == "csv":
        assert min(len(row) for row in csv.reader(out.splitlines()) if row) > 1
    else:
        assert all(json.loads(line) for line in out.splitlines())
