"""A round of made-up papers with rows of recall, from a folder of articles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from builder.round.source import JatsTable
from builder.sources.sample.world import make_world
from lm_eval_tasks.engines.registry import LocalEngine
from standins.jats_world import article
from standins.rounds import run, small_round


def recall_round(folder: Path, sizes: Sequence[str]) -> Path:
    """Build it; its dataset folder."""
    papers = folder / "papers"
    papers.mkdir(parents=True)
    for paper in make_world(3, 60, 70):
        if not paper.flaw:
            (papers / f"{paper.id}.xml").write_text(article(paper), encoding="utf-8")
    round_ = small_round(
        folder,
        settings=["Abs-9K"],
        source=JatsTable(kind="jats", path=str(papers)),
        split={"validation": 0.05, "test": 0.7},
        graph={"component": "all"},
        recall={"sizes": list(sizes)},
    )
    return run(round_, LocalEngine(2)).output
