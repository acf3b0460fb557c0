"""A round over a small made-up world."""

from __future__ import annotations

from pathlib import Path

from builder.collect.graph import CoAuthorGraph
from builder.pipeline import graph_of, stages
from builder.round.model import Round
from builder.round.source import SampleTable
from builder.round.tables import SplitTable
from builder.stage_report import StageReport
from lm_eval_tasks.engines.local import LocalEngine

# As a table of round.toml.
SMALL_SOURCE = '[source]\nkind = "sample"\nauthors = 20\npapers = 50\n'


def small_round(folder: Path, **changes: object) -> Round:
    """A round over a small made-up world that all tests share, in a workspace of its own."""
    fields: dict[str, object] = {
        "round": "2026.11",
        "seed": 7,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": SampleTable(kind="sample", authors=20, papers=50),
        "split": SplitTable(validation=0.2, test=0.25),
    }
    return Round.model_validate({**fields, **changes})


def crawl_only(round_: Round) -> tuple[CoAuthorGraph, list[StageReport]]:
    """The first stage: the graph, with the reports of crawl or update and of the graph."""
    reports = list(stages(round_, LocalEngine(1), ["crawl"]))
    return graph_of(round_), reports
