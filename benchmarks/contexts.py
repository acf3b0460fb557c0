"""Do contexts of the reading families share papers? Over the co-author graph of 24,000 real papers of computational linguistics.

  python benchmarks/contexts.py [DATA] [--quick]

50 contexts of each size are chosen around papers of the newest month as a round chooses them, and, to compare, each by itself. Half of
the papers, drawn by lot, cannot be shown; the others have 6,000 to 19,000 tokens. Contexts that share papers are one cluster: intervals
need at least ten. `--quick` chooses over the newest six months. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.collect.graph import build_graph  # noqa: E402
from builder.reading.choose import Chooser, Chosen  # noqa: E402
from builder.reading.contexts import Context, Neighbourhoods, clusters  # noqa: E402
from builder.reading.shelf import Shelf  # noqa: E402
from builder.records import Paper, ReadingReason  # noqa: E402
from builder.seeding import row_order, share_of  # noqa: E402
from lm_eval_tasks.tasks.records import READINGS  # noqa: E402
from tests.helpers.contexts import ContextsAlone  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
RECORDS = "arxiv_meta_cl_ir_abstracts.jsonl.xz"
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

    def questions(self, context: Context, preferred: Sequence[str]) -> list[str]:
        return [context.paper.id]


class ByThemselves(Neighbours):
    """Each context without regard to the others."""

    keeps_apart = False

    def contexts(self, paper: Paper, sizes: Sequence[int]) -> dict[int, Context] | ReadingReason:
        self.shown.clear()
        return super().contexts(paper, sizes)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--quick", action="store_true", help="the newest six months alone")
    arguments = parser.parse_args()
    file = arguments.data / RECORDS
    if not file.is_file():
        parser.exit(1, f"error: {file} is not there: name the folder of the data\n")
    since = date(2025, 12, 1) if arguments.quick else date.min
    papers = [paper for paper in read(file) if paper.published >= since]
    graph, _ = build_graph(papers, MOST_AUTHORS, "largest")
    on_graph = {id_ for ids in graph.papers.values() for id_ in ids}
    papers = [paper for paper in papers if paper.id in on_graph]
    new = sorted((paper for paper in papers if paper.published >= NEWEST), key=lambda paper: row_order(paper.id))
    shelf = Shelf({}, lambda _: [], lambda _: None, Neighbourhoods(papers, graph, SEED, MONTHS).around)
    figures: dict[str, int] = {"papers": len(papers)}
    for name, asking in (("", Neighbours(shelf, SEED)), ("themselves_", ByThemselves(shelf, SEED))):
        for chosen in Chooser(asking, SIZES, CONTEXTS).choose(new, {}):
            key = f"{name}{chosen.reading.name.partition('-')[2].lower()}"
            figures[key] = count(asking, chosen)
            print(f"{key}: {len(chosen.contexts)} contexts in {figures[key]} clusters, {dict(chosen.report.dropped)}")
    print(json.dumps(figures))


def read(file: Path) -> Iterator[Paper]:
    """The papers of a file of metadata."""
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            day = date.fromisoformat(record["published"])
            authors, categories = tuple(record["authors"]), tuple(record["categories"])
            if authors:
                yield Paper(record["id"], 1, record["title"], record["abstract"], authors, categories, day, day)


def count(asking: Neighbours, chosen: Chosen) -> int:
    """How many clusters the contexts are."""
    return len(set(clusters({context.paper.id: asking.joined(context) for context in chosen.contexts}).values()))


if __name__ == "__main__":
    main()
