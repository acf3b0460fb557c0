"""From reference strings to records: precision, recall, speed; citations resolved in a made-up world; titles read from real PDFs.

The strings are made from 152,736 real records in six styles with the damage that PDFs do; 500 more are made from records that the store
does not contain.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

from rapidfuzz import fuzz

from benchmarks.shared.data import METADATA, PDF, papers_of, pdf_files
from benchmarks.shared.running import Figures, run
from builder.citations.resolve import resolve_entry
from builder.extract.references import parse_entry
from builder.extract.workers import extract_files
from builder.round.model import Round
from builder.sources.sample import SampleSource
from builder.store import STORE, Store
from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.engines.registry import LocalEngine
from standins.citations import citation
from standins.loopback import World, serve
from standins.rounds import prepare

KNOWN, UNKNOWN, SCANNED = 2000, 500, 20
WAYS = {"alone": {"fetch": False, "searches": 0}, "by_ids": {"searches": 0}, "by_searches": {}}


def measure(folder: Path, quick: bool) -> Figures:
    """Measure strings, a world, PDFs."""
    return {**strings(folder, quick), **world(folder / "world", quick), **titles(pdf_files(4 if quick else None))}


def strings(folder: Path, quick: bool) -> Figures:
    """Resolve strings made from records, a fifth of which the store does not contain."""
    rng = random.Random(7)
    records = papers_of(METADATA)[:: 4 if quick else 1]
    unknown = {paper.id for paper in rng.sample(records, UNKNOWN)}
    known = rng.sample([paper for paper in records if paper.id not in unknown], KNOWN)
    papers = [*known, *(paper for paper in records if paper.id in unknown)]
    texts = [citation(paper, rng)[0] for paper in papers]
    citing = replace(records[0], id="9901.00001", published=date(2030, 1, 1))
    with Store.open(folder / STORE) as store:
        store.add_papers((paper for paper in records if paper.id not in unknown), since="", look_up=False)
        with store.transaction():
            store.titles.update()
        store.titles.frequency("word")
        started = time.perf_counter()
        entries = [parse_entry(text) for text in texts]
        found = [resolve_entry(store, citing, entry).paper for entry in entries]
        per_second = len(papers) / (time.perf_counter() - started)
    right = sum(hit is not None and hit.id == paper.id for paper, hit in zip(papers, found, strict=True))
    # For comparison: the best of a plain scan with the usual fuzzy ratio, for a few strings.
    keys = [title_key(paper.title) for paper in records]
    started = time.perf_counter()
    for entry in entries[:SCANNED]:
        max(fuzz.ratio(title_key(entry.title), key) for key in keys)
    scan = (time.perf_counter() - started) / SCANNED
    return {
        "precision": round(right / max(1, sum(hit is not None for hit in found)), 4),
        "recall": round(right / KNOWN, 4),
        "per_second": round(per_second, 1),
        "ratio_to_scan": round(scan * per_second, 1),
    }


def world(folder: Path, quick: bool) -> Figures:
    """Return the share of citations that each way of linking resolves on a made-up arXiv, of which the store knows a part."""
    size = {"authors": 30, "papers": 60} if quick else {}
    since = date(2026, 6, 1)
    figures = {}
    with serve(World(SampleSource(folder / "sample", **size))) as server:
        seeds = sorted({paper.authors[0] for paper in server.world.papers if paper.published >= since})[:2]
        for name, link in WAYS.items():
            round_ = Round.model_validate(
                {
                    "round": "2026.11",
                    "workspace": folder / "work",
                    "source": server.tables(),
                    "papers": {"published_from": since},
                    "crawl": {"seeds": seeds, "authors": 20},
                    "link": link,
                }
            )
            *_, linked = prepare(round_, LocalEngine(2))
            figures[f"resolved_{name}"] = round(linked.kept / max(1, linked.total), 4)
            print(f"made-up world, {name}: {linked.line()}", flush=True)
    return figures


def titles(files: list[Path]) -> Figures:
    """Return, of the entries of real PDFs, the share whose title was read."""
    entries = [
        entry
        for result in extract_files(map(str, files), LocalEngine(2), 60.0, 2048)
        if result.document is not None
        for entry in result.document.references
    ]
    print(f"{len(files)} PDFs: {len(entries)} entries")
    return {"titles_parsed": round(sum(bool(entry.title) for entry in entries) / len(entries), 4)}


if __name__ == "__main__":
    run(measure, METADATA, PDF)
