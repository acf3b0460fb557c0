"""A round of made-up papers that state numbers and names, in their abstracts and in their bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from builder.round.source import JatsTable
from builder.sources.sample.world import WorldPaper, make_world
from lm_eval_tasks.engines.registry import LocalEngine
from standins.jats_world import article
from standins.rounds import run, small_round

_LETTERS = "abcdefghijklmnopqrst"


def stating(paper: WorldPaper, number: int) -> WorldPaper:
    """Return the paper with what its abstract and its body state."""
    name = f"Zy{_LETTERS[number % 20]}{_LETTERS[number // 20]}Net"
    score, minutes = f"{10 + number}.{3 + number % 7}9", 300 + number
    told = f"On {name} the tuned sieve reaches {score} points with {minutes} labelled minutes."
    shown = f"We observe that the tuned sieve reaches {score} points when {name} grants {minutes} labelled minutes."
    first = paper.sections[0]
    sections = (replace(first, paragraphs=(*first.paragraphs, shown)), *paper.sections[1:])
    return replace(paper, abstract=f"{paper.abstract} {told}", sections=sections)


def recall_round(folder: Path, sizes: Sequence[str]) -> Path:
    """Build it; its dataset folder."""
    papers = folder / "papers"
    papers.mkdir()
    for number, paper in enumerate(make_world(3, 60, 70)):
        if not paper.flaw:
            (papers / f"{paper.id}.xml").write_text(article(stating(paper, number)), encoding="utf-8")
    round_ = small_round(
        folder,
        settings=["Abs-9K"],
        source=JatsTable(kind="jats", path=str(papers)),
        split={"validation": 0.05, "test": 0.7},
        graph={"component": "all"},
        recall={"sizes": list(sizes)},
    )
    return run(round_, LocalEngine(2)).output
