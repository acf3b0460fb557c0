"""Crawl and monthly update against a loopback arXiv: requests, time in the store, memory, kills.

  python benchmarks/crawl.py [METADATA] [--quick]

METADATA: default ../shared/data/arxiv_meta.jsonl.xz (152,736 records). The loopback server is another process and keeps no
delay. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.ids import author_key  # noqa: E402
from builder.pipeline import STORE, crawl_only, update_only  # noqa: E402
from builder.records import Paper  # noqa: E402
from builder.round.model import Round  # noqa: E402
from builder.sources.metadata_file import read_metadata  # noqa: E402
from builder.store import Answers, Store  # noqa: E402
from tests.helpers.dump import content  # noqa: E402

DEFAULT = ROOT.parent / "shared" / "data" / "arxiv_meta.jsonl.xz"
SEEDS = 5
# A fifth of the records of the last months.
QUICK = re.compile(r'"id": "[^"]*[14]",.*"published": "2026-0[2-5]')
CRAWLED_TO, UPDATED_TO = date(2026, 4, 30), date(2026, 5, 31)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("metadata", type=Path, nargs="?", default=DEFAULT)
    parser.add_argument("--quick", action="store_true", help="a fifth of four months' records, fewer authors, 2 kills")
    arguments = parser.parse_args()
    if not arguments.metadata.is_file():
        parser.exit(1, f"error: no metadata file {arguments.metadata}\n")
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(arguments.metadata, Path(folder), arguments.quick)))


def measure(metadata: Path, folder: Path, quick: bool) -> dict[str, object]:
    """All figures, printing progress on the way."""
    authors, graph_authors, kills = (100, 100, 2) if quick else (5000, 2000, 50)
    with lzma.open(metadata, "rt", encoding="utf-8") as lines, (folder / "meta.jsonl").open("w") as copy:
        copy.writelines(line for line in lines if not quick or QUICK.search(line))
    with server(folder) as source:
        figures = walk(folder / "bfs", source, authors)
        figures |= update(folder, source, graph_authors)
        # Before the kills: their processes are not what is measured.
        figures["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
        figures |= kill(folder / "kills", source, kills)
    return figures


@contextmanager
def server(folder: Path) -> Iterator[dict[str, object]]:
    """A loopback arXiv over the records; what `[source]` must say to ask it."""
    command = [sys.executable, "-m", "tests.helpers.loopback", str(folder), "meta.jsonl"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline()) | {"timeout": 60.0}
    finally:
        process.kill()
        process.wait()


def make_round(workspace: Path, source: dict[str, object], name: str, last: date, **tables: object) -> Round:
    """A round over all categories from the usual seeds."""
    fields = {
        "round": name,
        "workspace": workspace,
        "output": workspace / "academiceval",
        "source": source,
        "papers": {"published_to": last, "published_from": date(2025, 3, 1)},
        "crawl": {"seeds": seeds(workspace.parent / "meta.jsonl"), **tables.pop("crawl", {})},  # type: ignore[dict-item]
        **tables,
    }
    return Round.model_validate(fields)


@cache
def seeds(metadata: Path) -> tuple[str, ...]:
    """The authors with the most first-author papers of two months."""
    counts: Counter[str] = Counter()
    for paper in read_metadata(metadata):
        if isinstance(paper, Paper) and date(2026, 3, 1) <= paper.published <= CRAWLED_TO:
            counts[paper.authors[0]] += 1
    return tuple(sorted(counts, key=lambda name: (-counts[name], name))[:SEEDS])


def walk(workspace: Path, source: dict[str, object], authors: int) -> dict[str, object]:
    """Breadth-first over `authors` authors."""
    started = time.perf_counter()
    with timed_store() as seconds:
        _, reports = crawl_only(make_round(workspace, source, "2026.05", CRAWLED_TO, crawl={"authors": authors}))
    took = time.perf_counter() - started
    with Store.open(workspace / STORE) as store:
        requests = sum(n for n, _ in store.answers.requests().values())
        visited, waiting = store.frontier.counts()
    print(
        f"breadth-first: {visited} authors, {waiting} waiting, {requests} requests, {took:.0f} s; {reports[0].line()}"
    )
    return {
        "bfs_authors": visited,
        "bfs_requests_per_author": round(requests / visited, 4),
        "bfs_store_ms_per_author": round(1000 * seconds[0] / visited, 3),
        "bfs_store_share": round(seconds[0] / took, 3),
    }


@contextmanager
def timed_store() -> Iterator[list[float]]:
    """Sum up the seconds inside transactions and in keeping answers."""
    seconds = [0.0]
    transaction, get, put = Store.transaction, Answers.get, Answers.put

    @contextmanager
    def timed(self: Store) -> Iterator[None]:
        started = time.perf_counter()
        with transaction(self):
            yield
        seconds[0] += time.perf_counter() - started

    def clocked(function: object) -> object:
        def call(*arguments: object) -> object:
            started = time.perf_counter()
            try:
                return function(*arguments)  # type: ignore[operator]
            finally:
                seconds[0] += time.perf_counter() - started

        return call

    Store.transaction, Answers.get, Answers.put = timed, clocked(get), clocked(put)  # type: ignore[method-assign,assignment]
    try:
        yield seconds
    finally:
        Store.transaction, Answers.get, Answers.put = transaction, get, put  # type: ignore[method-assign]


def update(folder: Path, source: dict[str, object], authors: int) -> dict[str, object]:
    """One graph, updated both ways."""
    crawl = {"authors": authors}
    crawl_only(make_round(folder / "harvest", source, "2026.05", CRAWLED_TO, crawl=crawl))
    with Store.open(folder / "harvest" / STORE) as store:
        members = store.frontier.members("2026.05")
    shutil.copytree(folder / "harvest", folder / "author")
    expected = {
        paper.id
        for paper in read_metadata(folder / "meta.jsonl")
        if isinstance(paper, Paper)
        and CRAWLED_TO < paper.published <= UPDATED_TO
        and author_key(paper.authors[0]) in members
    }
    figures: dict[str, object] = {"update_authors": len(members), "new_papers_in_records": len(expected)}
    shares, graphs = [], []
    for way in ("harvest", "author"):
        workspace = folder / way
        round_ = make_round(
            workspace, source, "2026.06", UPDATED_TO, crawl=crawl, update={"by": way, "papers": authors // 4}
        )
        with Store.open(workspace / STORE) as store:
            before = sum(n for n, _ in store.answers.requests().values())
        started = time.perf_counter()
        graph, reports = update_only(round_)
        took = time.perf_counter() - started
        with Store.open(workspace / STORE) as store:
            requests = sum(n for n, _ in store.answers.requests().values()) - before
            joined = {paper.id for paper in store.joined("2026.06")}
        graphs.append((graph.papers, sorted(map(sorted, graph.graph.edges))))
        shares.append(len(expected & joined) / len(expected) if expected else 1.0)
        print(f"update by {way}: {requests} requests, {took:.0f} s; {reports[0].line()}; {reports[1].line()}")
        figures[f"update_requests_{'harvest' if way == 'harvest' else 'by_author'}"] = requests
    return figures | {"new_papers_found_share": round(min(shares), 4), "both_ways_agree": graphs[0] == graphs[1]}


def kill(folder: Path, source: dict[str, object], times: int) -> dict[str, object]:
    """Kill the commands at random points, start them again, compare with undisturbed ones."""
    files = {}
    for by in ("harvest", "author"):
        (folder / by).mkdir(parents=True)
        files[by] = folder / by / "round.toml"
        table = "\n".join(f"{key} = {json.dumps(value)}" for key, value in source.items())
        files[by].write_text(
            f'round = "2026.05"\n[source]\n{table}\n[papers]\npublished_from = 2026-03-01\n'
            f"[crawl]\nseeds = {json.dumps(seeds(folder.parent / 'meta.jsonl'))}\nauthors = 60\nneighbours = 10\n"
            f'[update]\nby = "{by}"\npapers = 60\noverlap_days = 2\n'
        )
    rng = random.Random(1)
    stages = {}
    for by, file in files.items():
        crawled, updated = folder / f"{by}-crawled", folder / f"{by}-updated"
        took = command(file, crawled, "crawl")
        shutil.copytree(crawled, updated)
        stages[by, "crawl"] = took, crawled, None
        stages[by, "update"] = command(file, updated, "update", "--round", "2026.06"), updated, crawled
    same = 0
    for i in range(times):
        (by, stage), (took, reference, start) = rng.choice(sorted(stages.items(), key=lambda item: item[0]))
        workspace = folder / f"killed-{i}"
        if start:
            shutil.copytree(start, workspace)
        arguments = (files[by], workspace, stage, *(("--round", "2026.06") if stage == "update" else ()))
        command(*arguments, kill_after=rng.uniform(0.3, 1.0) * took)
        command(*arguments)
        same += content(workspace / STORE) == content(reference / STORE)
        shutil.rmtree(workspace)
    print(f"{times} kills, {same} stores identical")
    return {"kills": times, "kills_identical": same}


def command(file: Path, workspace: Path, *arguments: str, kill_after: float | None = None) -> float:
    """Run a command and return its seconds; with `kill_after`, kill it then."""
    line = [sys.executable, "-m", "builder.cli", arguments[0], str(file), "--workspace", str(workspace), *arguments[1:]]
    started = time.perf_counter()
    process = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, errors = process.communicate(timeout=kill_after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return time.perf_counter() - started
    if process.returncode:
        raise SystemExit(errors)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
