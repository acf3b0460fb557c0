"""Do contexts of the reading families share papers? Over the co-author graph of 24,000 real papers of computational linguistics.

50 contexts of each size are chosen around papers of the newest month as a round chooses them, and, to compare, each by itself. Half of
the papers, drawn by lot, cannot be shown; the others have 6,000 to 19,000 tokens. Contexts that share papers are one cluster: intervals
need at least ten. `--quick` chooses over the newest six months.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from benchmarks.shared.data import DATA, papers_of
from benchmarks.shared.running import Figures, run
from builder.collect.graph import build_graph
from builder.families.reading.choose import Chooser
from builder.families.reading.contexts import Neighbourhoods, PaperSet
from builder.families.reading.paper_library import PaperLibrary
from builder.records import Paper, ReadingReason
from builder.round.tables import READINGS
from builder.seeding import row_order, share_of
from tests.helpers.contexts import ContextsAlone

RECORDS = DATA / "arxiv_meta_cl_ir_abstracts.jsonl.xz"
NEWEST, SEED, CONTEXTS, MONTHS, MOST_AUTHORS = date(2026, 5, 1), 7, 50, 14, 30
FIT, LEAST_TOKENS, MORE_TOKENS = 0.5, 6_000, 13_000
SIZES = [reading for reading in READINGS if reading.task == "walk" and not reading.controls]


class Neighbours(ContextsAlone):
    """Contexts alone; what is asked does not matter."""

    task = "walk"
    unfit: ReadingReason = "doubtful_references"

    def tokens(self, paper: Paper) -> int | None:
        if share_of(SEED, paper.id, "fit") > FIT:
            return None
        return LEAST_TOKENS + int(MORE_TOKENS * share_of(SEED, paper.id, "tokens"))

    def questions(self, context: PaperSet, preferred: Sequence[str]) -> list[str]:
        return [context.paper.id]


class ByThemselves(Neighbours):
    """Each context without regard to the others."""

    keeps_apart = False

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, PaperSet] | ReadingReason:
        self.shown.clear()
        return super().contexts(paper, sizes)


def measure(_: Path, quick: bool) -> Figures:
    """How many clusters the contexts of each size are, chosen together and each by itself."""
    since = date(2025, 12, 1) if quick else date.min
    papers = [paper for paper in papers_of(RECORDS) if paper.published >= since]
    graph, _report = build_graph(papers, MOST_AUTHORS, "largest")
    on_graph = {id_ for ids in graph.papers.values() for id_ in ids}
    papers = [paper for paper in papers if paper.id in on_graph]
    new = sorted((paper for paper in papers if paper.published >= NEWEST), key=lambda paper: row_order(paper.id))
    library = PaperLibrary({}, lambda _: [], lambda _: None, Neighbourhoods(papers, graph, SEED, MONTHS).around)
    figures: Figures = {"papers": len(papers)}
    for name, asking in (("", Neighbours(library, SEED)), ("themselves_", ByThemselves(library, SEED))):
        for chosen in Chooser(asking, SIZES, CONTEXTS).choose(new, {}):
            key = f"{name}{chosen.reading.name.partition('-')[2].lower()}"
            figures[key] = len({context.paper.authors[0] for context in chosen.contexts})
            print(f"{key}: {len(chosen.contexts)} contexts in {figures[key]} clusters, {dict(chosen.report.dropped)}")
    return figures


if __name__ == "__main__":
    run(measure, RECORDS)
