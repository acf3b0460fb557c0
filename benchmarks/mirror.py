"""A mirror of the size of arXiv: its index, look-ups, the papers of one archive, a monthly update, the co-author graph.

  python benchmarks/mirror.py [METADATA] [--records N] [--quick]

METADATA: default ../shared/data/arxiv_meta.jsonl.xz. The records are repeated with other ids, months, titles and author names until
there are N (default 3,000,000). Each step is a separate process. The last line is JSON; times in seconds, memory in MB.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.pipeline import crawl_only, update_only  # noqa: E402
from builder.records import Paper  # noqa: E402
from builder.round.model import Round  # noqa: E402
from builder.sources.metadata_file import read_metadata  # noqa: E402
from builder.sources.mirror import MirrorSource  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data" / "arxiv_meta.jsonl.xz"
FIRST_YEAR, YEARS = 2008, 18
LOOK_UPS = 200


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metadata", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--quick", action="store_true", help="20,000 records")
    parser.add_argument("--step", choices=["make", *STEPS], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.step:
        started = time.perf_counter()
        figures = make(arguments) if arguments.step == "make" else STEPS[arguments.step](arguments.folder)
        used = resource.getrusage(resource.RUSAGE_SELF)
        peak = round(used.ru_maxrss / 1024)
        print(json.dumps({"seconds": round(time.perf_counter() - started, 2), "peak_mb": peak, **figures}))
        return
    if not arguments.metadata.is_file():
        parser.exit(1, f"error: no metadata file {arguments.metadata}\n")
    with tempfile.TemporaryDirectory() as folder:
        records = 20_000 if arguments.quick else arguments.records
        child("make", Path(folder), str(arguments.metadata), "--records", str(records))
        figures = {"records": records}
        for step in STEPS:
            found = child(step, Path(folder))
            print(f"{step}: {found}", flush=True)
            figures |= {f"{step}_{name}": value for name, value in found.items()}
        print(json.dumps(figures))


def child(step: str, folder: Path, *arguments: str) -> dict[str, float]:
    """One step in a separate process; the memory of a process counts towards the peak of those that it starts."""
    command = [sys.executable, str(Path(__file__)), *arguments, "--step", step, "--folder", str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def make(arguments: argparse.Namespace) -> dict[str, float]:
    """Write the records, in the order of their copies."""
    papers = [one for one in read_metadata(arguments.metadata) if isinstance(one, Paper)]
    of_month: Counter[str] = Counter()
    rng = random.Random(0)
    words = sorted({word for paper in papers[:5000] for word in paper.title.split()})
    abstracts = [" ".join(rng.choices(words, k=150)) for _ in range(2000)]
    with (arguments.folder / "meta.jsonl").open("w") as file:
        for i, (copy, paper) in enumerate(islice(_repeated(papers), arguments.records)):
            year = FIRST_YEAR + (paper.published.year - FIRST_YEAR - copy) % YEARS
            month = f"{year % 100:02d}{paper.published.month:02d}"
            of_month[month] += 1
            day = f"{year}-{paper.published.month:02d}-{min(28, paper.published.day):02d}"
            names = [f"{name} {chr(65 + copy)}" if copy and rng.random() < 0.7 else name for name in paper.authors]
            record = {
                "id": f"{month}.{of_month[month]:05d}",
                "title": f"{paper.title} {copy or ''}".strip(),
                "abstract": abstracts[i % len(abstracts)],
                "authors": names,
                "categories": paper.categories,
                "published": day,
                "updated": day,
                "license": "http://creativecommons.org/licenses/by/4.0/",
            }
            file.write(json.dumps(record) + "\n")
    return {}


def _repeated(papers: list[Paper]) -> Iterator[tuple[int, Paper]]:
    copy = 0
    while True:
        for paper in papers:
            yield copy, paper
        copy += 1


# --- the steps


def _round(folder: Path, month: str) -> Round:
    return Round.model_validate(
        {
            "round": month,
            "workspace": folder / "work",
            "source": {"kind": "mirror", "path": folder},
            "papers": {"categories": ["cs"]},
        }
    )


def _source(folder: Path) -> MirrorSource:
    return MirrorSource(folder, index=folder / "work" / "mirror.sqlite3")


def index(folder: Path) -> dict[str, float]:
    """Read the metadata for the first time."""
    _source(folder).fingerprint()
    return {}


def again(folder: Path) -> dict[str, float]:
    """What a later command reads of it."""
    _source(folder).fingerprint()
    return {}


def look_up(folder: Path) -> dict[str, float]:
    """Papers of an author, of a title, and the first paper of a month."""
    source = _source(folder)
    rng = random.Random(1)
    first = [one for one in islice(source.submitted_between(None, None), 50_000) if isinstance(one, Paper)]
    papers = rng.sample(first, LOOK_UPS)
    looks: dict[str, Callable[[Paper], object]] = {
        "author": lambda one: list(source.by_author(one.authors[0])),
        "title": lambda one: list(source.search_titles([one.title])),
        "month": lambda one: next(iter(source.submitted_between(one.published.replace(day=1), one.published))),
    }
    figures = {}
    for name, look in looks.items():
        taken = []
        for paper in papers:
            started = time.perf_counter()
            look(paper)
            taken.append(1000 * (time.perf_counter() - started))
        figures |= {f"{name}_ms": round(median(taken), 2), f"{name}_worst_ms": round(max(taken), 2)}
    return figures


def crawl(folder: Path) -> dict[str, float]:
    """Take the papers of one archive into the workspace, and draw the graph."""
    graph, _ = crawl_only(_round(folder, "2025.11"))
    return {"authors": graph.authors, "nodes": len(graph.nodes)}


def update(folder: Path) -> dict[str, float]:
    """The month after it."""
    _, reports = update_only(_round(folder, "2025.12"))
    return {"new_papers": reports[0].kept, "without_graph_seconds": round(reports[0].seconds, 2)}


STEPS: dict[str, Callable[[Path], dict[str, float]]] = {
    "index": index,
    "again": again,
    "look_up": look_up,
    "crawl": crawl,
    "update": update,
}


if __name__ == "__main__":
    main()
