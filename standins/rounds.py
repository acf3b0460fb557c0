"""A round over a small made-up world."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builder import pipeline
from builder.collect.graph import CoAuthorGraph
from builder.dataset.fill import fill
from builder.round.model import Round
from builder.round.source import SampleTable
from builder.round.tables import SplitTable
from builder.stage_report import STAGES, Stage, StageReport
from builder.workspace import Workspace
from lm_eval_tasks.base.manifest import Manifest
from lm_eval_tasks.engines.registry import Engine, LocalEngine

# As a table of round.toml.
SMALL_SOURCE = '[source]\nkind = "sample"\nauthors = 20\npapers = 50\n'


def hashes(folder: Path) -> dict[str, str]:
    """Return the path -> hash of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@dataclass(frozen=True)
class BuiltRound:
    output: Path
    manifest: Manifest
    reports: tuple[StageReport, ...]


def small_round(folder: Path, **changes: object) -> Round:
    """Return a round over a small made-up world that all tests share, in a workspace of its own."""
    fields: dict[str, object] = {
        "round": "2026.11",
        "seed": 7,
        "workspace": folder / "work",
        "output": folder / "academiceval",
        "source": SampleTable(kind="sample", authors=20, papers=50),
        "split": SplitTable(validation=0.2, test=0.25),
    }
    return Round.model_validate({**fields, **changes})


def stages(round_: Round, engine: Engine, wanted: Sequence[Stage] = STAGES) -> Iterator[StageReport]:
    with Workspace.open(round_) as workspace:
        yield from pipeline.stages(workspace, engine, wanted)


def build(round_: Round, engine: Engine | None = None, *, replace: bool = False) -> BuiltRound:
    with Workspace.open(round_) as workspace:
        return BuiltRound(round_.output, *pipeline.build(workspace, engine or LocalEngine(), replace=replace))


def run(round_: Round, engine: Engine, *, replace: bool = False) -> BuiltRound:
    """Return all stages and the build, as `academiceval run` does them."""
    prepare(round_, engine)
    return build(round_, engine, replace=replace)


def prepare(round_: Round, engine: Engine) -> list[StageReport]:
    """Return the stages before the build."""
    return list(stages(round_, engine))


def graph_of(round_: Round) -> CoAuthorGraph:
    """Return the graph of a crawled round."""
    with Workspace.open(round_) as workspace:
        return workspace.graph


def crawl_only(round_: Round) -> tuple[CoAuthorGraph, list[StageReport]]:
    """Return the first stage: the graph, with the reports of crawl or update and of the graph."""
    reports = list(stages(round_, LocalEngine(1), ["crawl"]))
    return graph_of(round_), reports


def fill_only(round_: Round, source: Path, output: Path, engine: Engine) -> StageReport:
    """Do as `academiceval fill` does."""
    with Workspace.open(round_) as workspace:
        return fill(source, output, workspace, engine)
