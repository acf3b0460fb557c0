"""A mirror of the size of arXiv: its index, look-ups, the papers of one archive, a monthly update, the co-author graph.

152,736 real records are repeated with other ids, months, titles and author names until there are 3,000,000. Each step is a separate
process.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from statistics import median

from benchmarks.shared.data import METADATA, papers_of
from benchmarks.shared.running import Figures, call, run
from builder.records import Paper
from builder.round.model import Round
from builder.sources.mirror import MirrorSource
from lm_eval_tasks.engines.registry import LocalEngine
from standins.rounds import graph_of, stages

FIRST_YEAR, YEARS = 2008, 18
LOOK_UPS = 200


def measure(folder: Path, quick: bool) -> Figures:
    """Return what each step takes and finds."""
    figures: Figures = {"records": 20_000 if quick else 3_000_000}
    call(make, folder, figures["records"])
    for name, step in STEPS.items():
        used = call(step, folder)
        figures |= {f"{name}_seconds": round(used.seconds, 2), f"{name}_peak_mb": round(used.peak_mb)}
        figures |= {f"{name}_{key}": value for key, value in used.result.items()}
        print(f"{name}: {used.seconds:.2f} s, {used.peak_mb:.0f} MB, {used.result}", flush=True)
    return figures


def make(folder: Path, records: int) -> None:
    """Write the records, in the order of their copies."""
    papers = papers_of(METADATA)
    of_month: Counter[str] = Counter()
    rng = random.Random(0)
    words = sorted({word for paper in papers[:5000] for word in paper.title.split()})
    abstracts = [" ".join(rng.choices(words, k=150)) for _ in range(2000)]
    with (folder / "meta.jsonl").open("w") as file:
        for i, paper in enumerate(islice(cycle(papers), records)):
            copy = i // len(papers)
            year = FIRST_YEAR + (paper.published.year - FIRST_YEAR - copy) % YEARS
            month = f"{year % 100:02d}{paper.published.month:02d}"
            of_month[month] += 1
            day = f"{year}-{paper.published.month:02d}-{min(28, paper.published.day):02d}"
            record = {
                "id": f"{month}.{of_month[month]:05d}",
                "title": f"{paper.title} {copy or ''}".strip(),
                "abstract": abstracts[i % len(abstracts)],
                "authors": [
                    f"{name} {chr(65 + copy)}" if copy and rng.random() < 0.7 else name for name in paper.authors
                ],
                "categories": paper.categories,
                "published": day,
                "updated": day,
                "license": "http://creativecommons.org/licenses/by/4.0/",
            }
            file.write(json.dumps(record) + "\n")


# --- the steps


def read(folder: Path) -> Figures:
    """Read the metadata, into an index the first time."""
    _source(folder).fingerprint()
    return {}


def look_up(folder: Path) -> Figures:
    """Return the papers of an author, of a title, and the first paper of a month."""
    source = _source(folder)
    first = [one for one in islice(source.submitted_between(None, None), 50_000) if isinstance(one, Paper)]
    papers = random.Random(1).sample(first, LOOK_UPS)
    looks: dict[str, Callable[[Paper], object]] = {
        "author": lambda paper: list(source.by_author(paper.authors[0])),
        "title": lambda paper: list(source.search_titles([paper.title])),
        "month": lambda paper: next(iter(source.submitted_between(paper.published.replace(day=1), paper.published))),
    }
    figures = {}
    for name, look in looks.items():
        taken = []
        for paper in papers:
            started = time.perf_counter()
            look(paper)
            taken.append(1000 * (time.perf_counter() - started))
        figures[f"{name}_ms"] = round(median(taken), 2)
    return figures


def crawl(folder: Path) -> Figures:
    """Take the papers of one archive into the workspace, and draw the graph."""
    list(stages(_round(folder, "2025.11"), LocalEngine(), ["crawl"]))
    return {}


def graph(folder: Path) -> Figures:
    """Draw the graph again."""
    return {"nodes": len(graph_of(_round(folder, "2025.11")).nodes)}


def update(folder: Path) -> Figures:
    """Return the month after it."""
    updated, _ = stages(_round(folder, "2025.12"), LocalEngine(), ["crawl"])
    return {"without_graph_seconds": round(updated.seconds, 2)}


def _round(folder: Path, month: str) -> Round:
    source = {"kind": "mirror", "path": folder}
    fields = {"round": month, "workspace": folder / "work", "source": source, "papers": {"categories": ["cs"]}}
    return Round.model_validate(fields)


def _source(folder: Path) -> MirrorSource:
    return MirrorSource(folder, index=folder / "work" / "mirror.sqlite3")


STEPS = {"index": read, "again": read, "look_up": look_up, "crawl": crawl, "graph": graph, "update": update}


if __name__ == "__main__":
    run(measure, METADATA)
