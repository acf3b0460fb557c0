"""Crawl and monthly update against a loopback arXiv: requests, time in the store, memory, kills.

The loopback server is another process, knows 152,736 real records, and answers at once.
"""

from __future__ import annotations

import json
import lzma
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.shared.data import METADATA, papers_of
from benchmarks.shared.running import ACADEMICEVAL, ROOT, Figures, call, command, interrupt, run
from builder.round.model import Round
from builder.store import STORE, Store
from builder.store.tables import AnswerTable
from lm_eval_tasks.engines.registry import LocalEngine
from tests.helpers.dump import content
from tests.helpers.rounds import stages

SEEDS = 5
# A fifth of the records of the last months.
QUICK = re.compile(r'"id": "[^"]*[14]",.*"published": "2026-0[2-5]')
CRAWLED_TO, UPDATED_TO = date(2026, 4, 30), date(2026, 5, 31)


def measure(folder: Path, quick: bool) -> Figures:
    """Walk, update, and kill both."""
    authors, ways, kills = (100, ["harvest"], 1) if quick else (5000, ["harvest", "author"], 50)
    with lzma.open(METADATA, "rt", encoding="utf-8") as lines, (folder / "meta.jsonl").open("w") as copy:
        copy.writelines(line for line in lines if not quick or QUICK.search(line))
    seeds = seeds_of(folder / "meta.jsonl")
    with server(folder) as source:
        walked = call(walk, folder / "walk", source, seeds, authors)
        return {
            **walked.result,
            "peak_mb": round(walked.peak_mb, 1),
            **killed(folder / "kills", source, seeds, ways, kills),
        }


@contextmanager
def server(folder: Path) -> Iterator[dict[str, Any]]:
    """A loopback arXiv over the records; what `[source]` must say to ask it."""
    line = [sys.executable, "-m", "tests.helpers.loopback", str(folder), "meta.jsonl"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, cwd=ROOT, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline()) | {"timeout": 60.0}
    finally:
        process.kill()
        process.wait()


def seeds_of(metadata: Path) -> list[str]:
    """The authors with the most first-author papers of two months."""
    papers = papers_of(metadata)
    counts = Counter(paper.authors[0] for paper in papers if date(2026, 3, 1) <= paper.published <= CRAWLED_TO)
    return sorted(counts, key=lambda name: (-counts[name], name))[:SEEDS]


def walk(workspace: Path, source: dict[str, Any], seeds: list[str], authors: int) -> Figures:
    """Breadth-first over so many authors, then the month after it."""
    fields: dict[str, Any] = {"workspace": workspace, "source": source, "crawl": {"seeds": seeds, "authors": authors}}
    fields["update"] = {"papers": authors // 4}
    window = {"published_from": date(2025, 3, 1), "published_to": CRAWLED_TO}
    first = Round.model_validate({"round": "2026.05", "papers": window, **fields})
    with timed_store() as seconds:
        crawled, _ = stages(first, LocalEngine(), ["crawl"])
    with Store.open(workspace / STORE) as store:
        requests = sum(n for n, _ in store.answers.requests().values())
        visited, waiting = store.frontier.counts()
    print(f"breadth-first: {visited} authors, {waiting} waiting, {requests} requests; {crawled.line()}", flush=True)
    later = Round.model_validate({"round": "2026.06", "papers": {**window, "published_to": UPDATED_TO}, **fields})
    updated, _ = stages(later, LocalEngine(), ["crawl"])
    print(updated.line(), flush=True)
    return {
        "bfs_authors": visited,
        "bfs_requests_per_author": round(requests / visited, 4),
        "bfs_store_ms_per_author": round(1000 * sum(seconds) / visited, 3),
    }


@contextmanager
def timed_store() -> Iterator[list[float]]:
    """Collect the seconds inside transactions and of keeping answers."""
    seconds: list[float] = []
    transaction = Store.transaction

    @contextmanager
    def timed_transaction(self: Store) -> Iterator[None]:
        started = time.perf_counter()
        with transaction(self):
            yield
        seconds.append(time.perf_counter() - started)

    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                seconds.append(time.perf_counter() - started)

        return call

    with (
        patch.object(Store, "transaction", timed_transaction),
        patch.object(AnswerTable, "get", timed(AnswerTable.get)),
        patch.object(AnswerTable, "put", timed(AnswerTable.put)),
    ):
        yield seconds


def killed(folder: Path, source: dict[str, Any], seeds: list[str], ways: Sequence[str], times: int) -> Figures:
    """Kill crawl and each way of updating at random points, start them again, compare with undisturbed ones."""
    table = "\n".join(f"{key} = {json.dumps(value)}" for key, value in source.items())
    # What is done, its line up to the workspace -> seconds, the store before it, and the store after it.
    calm: dict[tuple[object, ...], tuple[float, Path | None, Path]] = {}
    for by in ways:
        file = folder / by / "round.toml"
        file.parent.mkdir(parents=True)
        file.write_text(
            f'round = "2026.05"\n[source]\n{table}\n[papers]\npublished_from = 2026-03-01\n'
            f"[crawl]\nseeds = {json.dumps(seeds)}\nauthors = 60\nneighbours = 10\n"
            f'[update]\nby = "{by}"\npapers = 60\noverlap_days = 2\n'
        )
        crawl = (*ACADEMICEVAL, "run", file, "--until", "crawl", "--workspace")
        update = (*ACADEMICEVAL, "run", file, "--until", "crawl", "--round", "2026.06", "--workspace")
        crawled, updated = folder / by / "crawled", folder / by / "updated"
        calm[crawl] = command(*crawl, crawled).seconds, None, crawled
        shutil.copytree(crawled, updated)
        calm[update] = command(*update, updated).seconds, crawled, updated
    rng = random.Random(1)
    same = 0
    for i in range(times):
        line, (seconds, before, after) = rng.choice(list(calm.items()))
        workspace = folder / f"killed-{i}"
        if before:
            shutil.copytree(before, workspace)
        interrupt((*line, workspace), rng.uniform(0.3, 1.0) * seconds)
        same += content(workspace / STORE) == content(after / STORE)
        shutil.rmtree(workspace)
    print(f"{times} kills, {same} stores identical")
    return {"kills": times, "kills_identical": same}


if __name__ == "__main__":
    run(measure, METADATA)
