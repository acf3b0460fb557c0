"""Build SCALAR's three levels from made-up papers, and measure how well citations are classified.

  python benchmarks/scalar.py [LABELS] [--quick]

200 question papers of 6,000 words that cite 30 papers each out of 600, whose documents are put into the workspace as if they had
been read; the build is a separate process, and is done twice. LABELS: default
../shared/data/scalar/citation_labels.jsonl.xz; the agreement is that on papers left out of the training, in ten folds
(two with --quick). The last line is JSON.
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
from datetime import date, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.build import hashes  # noqa: E402
from builder.collect.coverage import Covered, finish  # noqa: E402
from builder.dataset.manifest import read_manifest  # noqa: E402
from builder.extract.stage import EXTRACTOR  # noqa: E402
from builder.records import Document, Link, Mention, Paper, Quality, Reference, Section  # noqa: E402
from builder.stage_report import StageReport  # noqa: E402
from builder.store import (  # noqa: E402
    STORE,
    Store,
    StoredDocument,
)

LABELS = ROOT.parent / "shared" / "data" / "scalar" / "citation_labels.jsonl.xz"
WORDS = 6000
CITED = 30
SHARE = 0.25
_ROUND = """round = "2026.11"
seed = 1
settings = ["Title-10K"]
[source]
kind = "sample"
[graph]
component = "all"
[split]
validation = 0.1
test = 0.25
[scalar]
levels = ["SCALAR-Easy", "SCALAR-Medium", "SCALAR-Hard"]
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="?", default=LABELS)
    parser.add_argument("--quick", action="store_true", help="20 question papers, two folds")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build:
        build_here(arguments.build)
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder), 20 if arguments.quick else 200)
    if arguments.labels.is_file():
        from builder.scalar import train

        agreement = train.measure(train.read_labels(arguments.labels), 2 if arguments.quick else 10)
        figures |= {name: agreement[name] for name in ("type_agreement", "single_agreement")}
    else:
        print(f"no labels at {arguments.labels}: agreement not measured")
    print(json.dumps(figures))


def measure(place: Path, papers: int) -> dict[str, object]:
    """Build twice; seconds and memory of the slower and larger one, and whether both gave the same bytes."""
    fill_workspace(place, round(papers / SHARE))
    seconds, peaks, made = [], [], []
    for turn in ("one", "two"):
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, str(Path(__file__)), "--build", str(place / turn)],
            check=True,
            capture_output=True,
            text=True,
        )
        seconds.append(time.perf_counter() - started)
        peaks.append(float(done.stdout.splitlines()[-1]))
        made.append(hashes(place / turn))
    manifest = read_manifest(place / "one")
    questions = {one.name: one.statistics("test").samples for one in manifest.configurations if one.task == "cloze"}
    print(f"{papers} question papers: {max(seconds):.1f} s, {max(peaks):.0f} MB, questions {questions}", flush=True)
    return {
        "seconds": round(max(seconds), 1),
        "peak_mb": round(max(peaks), 1),
        "identical": made[0] == made[1],
        "questions": sum(questions.values()),
    }


def build_here(output: Path) -> None:
    """Build in this process, and print the peak of its memory in MB."""
    from builder.pipeline import build
    from builder.round.model import load_round

    build(load_round(output.parent / "round.toml").model_copy(update={"output": output}))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def fill_workspace(place: Path, size: int) -> None:
    """A workspace of `size` papers, the newest of which cite the others."""
    (place / "round.toml").write_text(_ROUND)
    rng = random.Random(size)
    vocabulary = ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(4, 9))) for _ in range(20_000)]
    vocabulary += ["the", "of", "and", "to", "in", "a", "is", "that", "for", "we"] * 700
    older = range(round(size * (1 - SHARE)))
    with Store.open(place / "work" / STORE) as store:
        papers = [make_paper(i, size, rng, vocabulary) for i in range(size)]
        store.add_papers(papers, since="2026.11")
        for paper in papers:
            quality = Quality(WORDS, 0.9, 0.0, 0.0, 1.0, 0.2, in_order=True)
            document = make_document(paper, rng, vocabulary)
            store.put_document(StoredDocument(paper.id, "html", EXTRACTOR, paper.id, "", "", quality, document))
            cited = rng.sample(older, min(CITED, len(older)))
            with store.transaction():
                links = [
                    Link(paper.id, n, papers[k].id, "title", 1.0) for n, k in enumerate(cited) if papers[k] != paper
                ]
                store.put_links(paper.id, links, "made up")
        finish(store, "2026.11", Covered(date(2026, 10, 31), StageReport("crawl", size)))


def make_paper(i: int, size: int, rng: random.Random, vocabulary: list[str]) -> Paper:
    """A paper of two authors, day after day."""
    day = date(2025, 9, 1) + timedelta(days=400 * i // size)
    return Paper(
        id=f"2509.{i:05d}",
        version=1,
        title=" ".join(rng.choices(vocabulary, k=9)).title(),
        abstract=" ".join(rng.choices(vocabulary, k=180)),
        authors=(f"Author {i}", f"Author {i + 1}"),
        categories=("cs.CL",),
        published=day,
        updated=day,
        license="http://creativecommons.org/licenses/by/4.0/",
    )


def make_document(paper: Paper, rng: random.Random, vocabulary: list[str]) -> Document:
    """Five sections, in which each cited work is named once, every other time by an acronym."""
    names = ("Introduction", "Related Work", "Method", "Results", "Conclusion")
    roles = ("introduction", "related_work", "body", "body", "conclusion")
    sections, mentions = [], []
    for s, (name, role) in enumerate(zip(names, roles, strict=True)):
        text = ""
        for n in range(s * CITED // 5, (s + 1) * CITED // 5):
            text += " ".join(rng.choices(vocabulary, k=WORDS // CITED)) + (" with BERT-Net " if n % 2 else " ")
            mark = f"[{n + 1}]"
            mentions.append(Mention(s, len(text), len(text) + len(mark), (n,), False))
            text += f"{mark}. "
        sections.append(Section(f"{s + 1} {name}", role, 1, text))  # type: ignore[arg-type]
    references = tuple(Reference(f"[{n}] Entry number {n}", str(n)) for n in range(1, CITED + 1))
    return Document(paper.title, paper.abstract, tuple(sections), references, tuple(mentions))


if __name__ == "__main__":
    main()
