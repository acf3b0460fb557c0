"""Build rounds of made-up papers: processor time against its floor, how it grows, memory, `--jobs`, kills.

  python benchmarks/build.py [--quick]

Papers of 8,000 words, all sixteen settings; documents are put into the workspace as if they had been read. Each build is a
separate process. The floor is what no build can do without: each text tokenized once by the tokenizer's own batches, and the
same rows written by `pyarrow.parquet.write_table`. The last line is JSON: floor_ratio (our processor time over the floor's, the
middle size), growth (processor seconds per paper at the largest size over those at the smallest), peak_mb and
jobs_identical.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.collect.coverage import Covered, finish  # noqa: E402
from builder.extract.stage import EXTRACTOR  # noqa: E402
from builder.records import Document, Link, Mention, Paper, Quality, Reference, Section  # noqa: E402
from builder.sources.tokenizer import load_tokenizer  # noqa: E402
from builder.stage_report import StageReport  # noqa: E402
from builder.store import STORE, Store, StoredDocument  # noqa: E402

WORDS = 8000
CITED = 8
_ROUND = """round = "2026.11"
seed = 1
[source]
kind = "sample"
[split]
validation = 0.2
test = 0.1
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="20 to 60 papers, 1 kill")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--floor", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--jobs", type=int, default=1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build:
        build_here(arguments.build, arguments.jobs)
    elif arguments.floor:
        print(json.dumps({"seconds": floor_here(arguments.floor)}))
    else:
        sizes, kills = ((20, 40, 60), 1) if arguments.quick else ((500, 2000, 5000), 30)
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), sizes, kills)))


def measure(folder: Path, sizes: tuple[int, ...], kills: int) -> dict[str, object]:
    """Build rounds of each size; the floor and another number of jobs at the middle one; kills with small ones."""
    seconds, peak, figures = {}, 0.0, {}
    for size in sizes:
        place = folder / str(size)
        fill_workspace(place, size)
        built = child("--build", place)
        seconds[size], peak = built["seconds"] - built["imports"], built["peak_mb"]
        written = sum(path.stat().st_size for path in (place / "academiceval").rglob("*.parquet"))
        print(
            f"{size} papers: {built['seconds']:.1f} s of processor time, {built['wall']:.1f} s, {peak:.0f} MB, "
            f"{written / 2**20:.0f} MB written",
            flush=True,
        )
        if size == sizes[1]:
            floor = child("--floor", place)["seconds"]
            once = hashes(place / "academiceval")
            shutil.rmtree(place / "academiceval")
            spread = child("--build", place, "--jobs", "4")
            figures = {
                "floor_ratio": round(seconds[size] / floor, 3),
                "jobs_identical": hashes(place / "academiceval") == once,
                "speedup_4_jobs": round(built["wall"] / spread["wall"], 2),
                "processors": os.cpu_count(),
            }
            print(f"floor {floor:.1f} s; 4 jobs {spread['wall']:.1f} s", flush=True)
        shutil.rmtree(place)
    small, large = sizes[0], sizes[-1]
    figures |= {
        "growth": round((seconds[large] / large) / (seconds[small] / small), 3),
        "peak_mb": round(peak, 1),
        "cpu_seconds": {size: round(value, 1) for size, value in seconds.items()},
    }
    return figures | kill(folder / "kills", kills, 10 if kills == 1 else 60)


def child(*arguments: object) -> dict[str, float]:
    """What this file prints when it is started with these arguments."""
    command = [sys.executable, str(Path(__file__)), *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def build_here(place: Path, jobs: int) -> None:
    """Build in this process; print processor seconds of it and its children, seconds, and the peak of memory in MB."""
    from builder.pipeline import build
    from builder.round.model import load_round
    from lm_eval_tasks.engines.local import LocalEngine

    imports, started = time.process_time(), time.perf_counter()
    with LocalEngine(jobs) as engine:
        build(load_round(place / "round.toml"), engine)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    figures = {
        "imports": imports,
        "seconds": sum(one.ru_utime + one.ru_stime for one in used),
        "wall": time.perf_counter() - started,
        "peak_mb": max(one.ru_maxrss for one in used) / 1024,
    }
    print(json.dumps(figures))


def floor_here(place: Path) -> float:
    """Processor seconds of tokenizing every text of a workspace once, and of writing the rows of its dataset folder again."""
    tokenizer = load_tokenizer()
    seconds = 0.0
    with Store.open(place / "work" / STORE) as store:
        for paper in store.papers():
            document = store.document(paper.id, "html")
            assert document
            texts = [paper.title, paper.abstract, *(section.text for section in document.sections)]
            started = time.process_time()
            tokenizer.encode_batch_fast(texts, add_special_tokens=False)
            seconds += time.process_time() - started
    for path in sorted((place / "academiceval").rglob("*.parquet")):
        table = pq.read_table(path)
        started = time.process_time()
        pq.write_table(table, place / "plain.parquet", compression="zstd", row_group_size=64)
        seconds += time.process_time() - started
    return seconds


def fill_workspace(place: Path, size: int, own: str = "", group_papers: int = 24, settings: str = "") -> None:
    """A workspace of `size` papers, linked, by authors who write together.

    Args:
        own: lines of `round.toml` for settings of its own.
        group_papers: how many papers each group of authors writes.
        settings: the list of published settings; left out, all.
    """
    place.mkdir(parents=True)
    (place / "round.toml").write_text((f"settings = {settings}\n" if settings else "") + _ROUND + own)
    rng = random.Random(size)
    vocabulary = ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(4, 9))) for _ in range(20_000)]
    vocabulary += ["the", "of", "and", "to", "in", "a", "is", "that", "for", "we"] * 700
    with Store.open(place / "work" / STORE) as store:
        papers = [make_paper(i, size, rng, vocabulary, group_papers) for i in range(size)]
        store.add_papers(papers, since="2026.11")
        for i, paper in enumerate(papers):
            quality = Quality(WORDS, 0.9, 0.0, 0.0, 1.0, 0.2, in_order=True)
            document = make_document(paper, rng, vocabulary)
            store.put_document(StoredDocument(paper.id, "html", EXTRACTOR, paper.id, "", "", quality, document))
            links = [Link(paper.id, n, papers[rng.randrange(i)].id, "title", 1.0) for n in range(CITED)] if i else []
            with store.transaction():
                store.put_links(paper.id, links, "made up")
        finish(store, "2026.11", Covered(date(2026, 10, 31), StageReport("crawl", size)))


def make_paper(i: int, size: int, rng: random.Random, vocabulary: list[str], group_papers: int) -> Paper:
    """Authors come in groups of eight, whose members sign together; neighbouring groups share one."""
    groups = max(1, size // group_papers)
    group = i % groups
    names = [f"Author {(group * 8 + k) % (8 * groups)}" for k in rng.sample(range(9), 3)]
    day = date(2025, 9, 1) + timedelta(days=400 * i // size)
    return Paper(
        id=f"{2509 + i // 90000:04d}.{i:05d}",
        version=1,
        title=" ".join(rng.choices(vocabulary, k=9)).title(),
        abstract=" ".join(rng.choices(vocabulary, k=180)),
        authors=tuple(names),
        categories=("cs.CL",),
        published=day,
        updated=day,
        license="http://creativecommons.org/licenses/by/4.0/",
    )


def make_document(paper: Paper, rng: random.Random, vocabulary: list[str]) -> Document:
    """Introduction, related work, method, results and conclusion."""
    shares = (
        ("1 Introduction", "introduction", 0.1),
        ("2 Related Work", "related_work", 0.08),
        ("3 Method", "body", 0.4),
        ("4 Results", "body", 0.36),
        ("5 Conclusion", "conclusion", 0.06),
    )
    sections = tuple(
        Section(heading, role, 1, " ".join(rng.choices(vocabulary, k=int(WORDS * share))))  # type: ignore[arg-type]
        for heading, role, share in shares
    )
    references = tuple(Reference(f"[{n}] Entry number {n}", str(n)) for n in range(1, CITED + 1))
    mentions = tuple(Mention(1, n, n + 1, (n,), False) for n in range(CITED))
    return Document(paper.title, paper.abstract, sections, references, mentions)


def kill(place: Path, times: int, papers: int) -> dict[str, object]:
    """Kill builds at random points, start them again, compare every file with an undisturbed build."""
    fill_workspace(place, papers)
    line = [sys.executable, "-m", "builder.cli", "build", str(place / "round.toml"), "--output"]
    started = time.perf_counter()
    subprocess.run([*line, str(place / "calm")], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    took = time.perf_counter() - started
    rng = random.Random(3)
    same = 0
    for i in range(times):
        output = place / f"rough-{i}"
        process = subprocess.Popen([*line, str(output)], stdout=subprocess.DEVNULL, cwd=ROOT)
        try:
            process.wait(rng.uniform(0.2, 1.0) * took)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        subprocess.run([*line, str(output)], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
        same += hashes(output) == hashes(place / "calm")
        shutil.rmtree(output)
    print(f"{times} kills, {same} folders identical")
    return {"kills": times, "kills_identical": same}


def hashes(folder: Path) -> dict[str, str]:
    """Path -> hash of every file."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


if __name__ == "__main__":
    main()
