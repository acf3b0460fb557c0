"""Build rounds of made-up papers: memory, how time grows, writing against pyarrow, counting against the tokenizer, kills.

  python benchmarks/build.py [--quick]

Papers of 8,000 words, all sixteen settings; documents are put into the workspace as if they had been read. Each build is a
process of its own. The last line is JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
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

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.collect.coverage import Covered, finish  # noqa: E402
from builder.dataset.write import SampleWriter  # noqa: E402
from builder.dataset.writing_rows import columns, to_rows  # noqa: E402
from builder.extract.stage import EXTRACTOR  # noqa: E402
from builder.records import Document, Link, Mention, Paper, Quality, Reference, Sample, Section  # noqa: E402
from builder.report import StageReport  # noqa: E402
from builder.round.settings import Setting  # noqa: E402
from builder.samples.tokens import TokenCounter  # noqa: E402
from builder.sources.tokenizer import load_tokenizer  # noqa: E402
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
    parser.add_argument("--quick", action="store_true", help="10 and 30 papers, 1 kill")
    parser.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.build:
        build_here(arguments.build)
        return
    sizes, kills = ((10, 30), 1) if arguments.quick else ((500, 2000, 5000), 30)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), sizes, kills)))


def measure(folder: Path, sizes: tuple[int, ...], kills: int) -> dict[str, object]:
    """Build rounds of each size, then the ratios and the kills with small ones."""
    seconds, peak = {}, 0.0
    for size in sizes:
        place = folder / str(size)
        fill_workspace(place, size)
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, str(Path(__file__)), "--build", str(place)], check=True, capture_output=True, text=True
        )
        seconds[size] = time.perf_counter() - started
        peak = float(done.stdout.splitlines()[-1])
        written = sum(path.stat().st_size for path in (place / "academiceval").rglob("*.parquet"))
        print(f"{size} papers: {seconds[size]:.1f} s, {peak:.0f} MB, {written / 2**20:.0f} MB written", flush=True)
        shutil.rmtree(place)
    small, large = sizes[0], sizes[1]
    figures: dict[str, object] = {
        "peak_mb": round(peak, 1),
        "scale": large / small,
        "scale_ratio": round(seconds[large] / seconds[small], 2),
        "seconds": round(seconds[sizes[-1]], 1),
    }
    quick = kills == 1
    return figures | ratios(folder, 48 if quick else 256) | kill(folder / "kills", kills, 10 if quick else 60)


def build_here(place: Path) -> None:
    """Build in this process, and print the peak of its memory in MB."""
    from builder.pipeline import build
    from builder.round.model import load_round

    build(load_round(place / "round.toml"))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def fill_workspace(place: Path, size: int) -> None:
    """A workspace of so many papers, linked, by authors who write together."""
    place.mkdir(parents=True)
    (place / "round.toml").write_text(_ROUND)
    rng = random.Random(size)
    vocabulary = ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(4, 9))) for _ in range(20_000)]
    vocabulary += ["the", "of", "and", "to", "in", "a", "is", "that", "for", "we"] * 700
    with Store.open(place / "work" / STORE) as store:
        papers = [make_paper(i, size, rng, vocabulary) for i in range(size)]
        store.add_papers(papers, since="2026.11")
        for i, paper in enumerate(papers):
            quality = Quality(WORDS, 0.9, 0.0, 0.0, 1.0, 0.2, in_order=True)
            document = make_document(paper, rng, vocabulary)
            store.put_document(StoredDocument(paper.id, "html", EXTRACTOR, paper.id, "", "", quality, document))
            links = [Link(paper.id, n, papers[rng.randrange(i)].id, "title", 1.0) for n in range(CITED)] if i else []
            with store.transaction():
                store.put_links(paper.id, links, "made up")
        finish(store, "2026.11", Covered(date(2026, 10, 31), StageReport("crawl", size)))


def make_paper(i: int, size: int, rng: random.Random, vocabulary: list[str]) -> Paper:
    """Authors come in groups of eight, whose members sign together; neighbouring groups share one."""
    group = i % max(1, size // 24)
    names = [f"Author {(group * 8 + k) % (8 * max(1, size // 24))}" for k in rng.sample(range(9), 3)]
    day = date(2025, 9, 1) + timedelta(days=400 * i // size)
    return Paper(
        id=f"{2509 + i // 90000:04d}.{i:05d}", version=1, title=" ".join(rng.choices(vocabulary, k=9)).title(),
        abstract=" ".join(rng.choices(vocabulary, k=180)), authors=tuple(names), categories=("cs.CL",), published=day,
        updated=day, license="http://creativecommons.org/licenses/by/4.0/",
    )  # fmt: skip


def make_document(paper: Paper, rng: random.Random, vocabulary: list[str]) -> Document:
    """Introduction, related work, method, results and conclusion."""
    shares = (
        ("1 Introduction", "introduction", 0.1), ("2 Related Work", "related_work", 0.08), ("3 Method", "body", 0.4),
        ("4 Results", "body", 0.36), ("5 Conclusion", "conclusion", 0.06),
    )  # fmt: skip
    sections = tuple(
        Section(heading, role, 1, " ".join(rng.choices(vocabulary, k=int(WORDS * share))))  # type: ignore[arg-type]
        for heading, role, share in shares
    )
    references = tuple(Reference(f"[{n}] Entry number {n}", str(n)) for n in range(1, CITED + 1))
    mentions = tuple(Mention(1, n, n + 1, (n,), False) for n in range(CITED))
    return Document(paper.title, paper.abstract, sections, references, mentions)


def ratios(folder: Path, papers: int) -> dict[str, float]:
    """Our writer against pyarrow with the same rows; our counting against the tokenizer's own batches."""
    rng = random.Random(0)
    vocabulary = ["".join(rng.choices("bcdfglmnprstvaeiou", k=rng.randint(4, 9))) for _ in range(20_000)]
    samples = []
    for i in range(papers):
        paper = make_paper(i, papers, rng, vocabulary)
        document = make_document(paper, rng, vocabulary)
        body = "\n\n".join(section.text for section in document.sections)
        samples.append(Sample(paper, body, (), (), paper.abstract))
    counter = TokenCounter(load_tokenizer())
    texts = [sample.content for sample in samples]
    ours, theirs = [], []
    for _ in range(3):
        counter._known.clear()
        started = time.perf_counter()
        counter(texts)
        ours.append(time.perf_counter() - started)
        started = time.perf_counter()
        counter._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        theirs.append(time.perf_counter() - started)
    token_ratio = min(theirs) / min(ours)
    rows = to_rows(samples, "abs", "2026.11", counter)
    mine, arrows = [], []
    for turn in range(3):
        (place := folder / f"write-{turn}").mkdir()
        writer = SampleWriter(place, Setting("Abs-9K", "abs"), "2026.11", counter)
        started = time.perf_counter()
        for sample in samples:
            writer.add("test", sample)
        writer.close()
        mine.append(time.perf_counter() - started)
        started = time.perf_counter()
        table = pa.Table.from_pylist(rows, schema=columns("abs"))
        pq.write_table(table, place / "plain.parquet", compression="zstd", row_group_size=64)
        arrows.append(time.perf_counter() - started)
    print(f"counting {token_ratio:.2f}, writing {min(arrows) / min(mine):.2f} of the libraries' own speed")
    return {"write_ratio": round(min(arrows) / min(mine), 3), "token_ratio": round(token_ratio, 3)}


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
