"""From reference strings to records: precision, recall, speed; requests for each citation; the yield of real PDFs.

  python benchmarks/linking.py [DATA] [--quick]

DATA: default ../shared/data, with arxiv_meta.jsonl.xz (152,736 records) and pdf/. The strings are made from records in six
styles with the damage that PDFs do; 500 more are made from records that the store does not contain. The last line is
JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from dataclasses import replace
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from rapidfuzz import fuzz  # noqa: E402

from builder.citations.resolve import resolve_entry  # noqa: E402
from builder.extract.references import parse_entry  # noqa: E402
from builder.extract.sections import role_span  # noqa: E402
from builder.extract.workers import extract_files  # noqa: E402
from builder.pipeline import STORE, prepare  # noqa: E402
from builder.records import Document, Paper  # noqa: E402
from builder.round.model import Round  # noqa: E402
from builder.sources.metadata_file import read_metadata  # noqa: E402
from builder.sources.sample.source import SampleSource  # noqa: E402
from builder.store import Store  # noqa: E402
from lm_eval_tasks.core.text import title_key  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from tests.helpers.citations import citation  # noqa: E402
from tests.helpers.loopback import World, serve  # noqa: E402

KNOWN, UNKNOWN = 2000, 500
_MARKER = re.compile(r"\[\s*\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\]|\((?:[^()]*?,? )?(?:19|20)\d{2}[a-z]?[^()]{0,80}\)")
_AUTHOR_YEAR = re.compile(r"[A-Z][^\W\d_]+[^()]{0,60}(?:19|20)\d{2}|^\((?:19|20)\d{2}[a-z]?\)$|\d")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="a quarter of the records, four PDFs")
    arguments = parser.parse_args()
    metadata = arguments.data / "arxiv_meta.jsonl.xz"
    if not metadata.is_file():
        parser.exit(1, f"error: no metadata file {metadata}\n")
    with tempfile.TemporaryDirectory() as folder:
        figures = strings(metadata, Path(folder), arguments.quick)
        figures |= world(Path(folder) / "world", arguments.quick)
        figures |= papers(sorted((arguments.data / "pdf").glob("*.pdf"))[: 4 if arguments.quick else None])
    print(json.dumps(figures))


def strings(metadata: Path, folder: Path, quick: bool) -> dict[str, float]:
    """Resolve strings made from records, a fifth of which the store does not contain."""
    rng = random.Random(7)
    records = [item for item in read_metadata(metadata) if isinstance(item, Paper)][:: 4 if quick else 1]
    unknown = {paper.id for paper in rng.sample(records, UNKNOWN)}
    known = rng.sample([paper for paper in records if paper.id not in unknown], KNOWN)
    cases = [(p, citation(p, rng)) for p in [*known, *(p for p in records if p.id in unknown)]]
    citing = replace(records[0], id="9901.00001", published=date(2030, 1, 1))
    with Store.open(folder / STORE) as store:
        store.add_papers((paper for paper in records if paper.id not in unknown), since="", look_up=False)
        started = time.perf_counter()
        with store.transaction():
            store.titles.update()
        store.titles.frequency("word")
        index_seconds = time.perf_counter() - started
        started = time.perf_counter()
        entries = [parse_entry(text) for _, (text, _, _) in cases]
        parsing = time.perf_counter() - started
        started = time.perf_counter()
        found = [resolve_entry(store, citing, entry).paper for entry in entries]
        seconds = time.perf_counter() - started
    right = sum(hit is not None and hit.id == paper.id for (paper, _), hit in zip(cases, found, strict=True))
    wrong = sum(hit is not None for hit in found) - right
    # For comparison: the best of a plain scan with the usual fuzzy ratio, for a few strings.
    keys = [title_key(paper.title) for paper in records]
    started = time.perf_counter()
    for entry in entries[:20]:
        max(fuzz.ratio(title_key(entry.title), key) for key in keys)
    scan = (time.perf_counter() - started) / 20
    per_second = len(cases) / (seconds + parsing)
    print(
        f"{len(cases)} strings against {len(records) - UNKNOWN} records: {right} right, {wrong} wrong, "
        f"{KNOWN - right} missed; {per_second:.0f} a second, {scan * per_second:.0f} times a fuzzy scan"
    )
    return {
        "precision": round(right / max(1, right + wrong), 4),
        "recall": round(right / KNOWN, 4),
        "per_second": round(per_second, 1),
        "ratio_to_scan": round(scan * per_second, 1),
        "index_seconds": round(index_seconds, 2),
    }


def world(folder: Path, quick: bool) -> dict[str, float]:
    """Requests that linking makes on a made-up arXiv of which the store knows a part."""
    with serve(
        World(SampleSource(folder / "sample", authors=30, papers=60) if quick else SampleSource(folder / "sample"))
    ) as server:
        seeds = sorted({paper.authors[0] for paper in server.world.papers})[:2]
        round_ = Round.model_validate(
            {
                "round": "2026.11",
                "workspace": folder / "work",
                "source": server.tables(),
                "papers": {"published_from": date(2026, 6, 1)},
                "crawl": {"seeds": seeds, "authors": 20},
            }
        )
        figures: dict[str, float] = {}
        for name, link in (
            ("alone", {"fetch": False, "searches": 0}),
            ("by_ids", {"searches": 0}),
            ("by_searches", {}),
        ):
            before = len(server.log)
            *_, linked = prepare(
                round_.model_copy(update={"link": round_.link.model_copy(update=link)}), LocalEngine(2)
            )
            requests = len(server.log) - before if figures else 0
            figures[f"resolved_{name}"] = round(linked.kept / max(1, linked.total), 4)
            figures[f"requests_per_citation_{name}"] = round(requests / max(1, linked.total), 4)
            print(f"sample world, {name}: {requests} requests, {linked.line()}")
    return figures


def papers(files: list[Path]) -> dict[str, float]:
    """Of real PDFs: related-work markers that point to an entry, entries whose title was read."""
    entries = titled = markers = pointing = 0
    for result in extract_files(map(str, files), LocalEngine(2), 60.0, 2048):
        if result.document is not None:
            entries += len(result.document.references)
            titled += sum(bool(entry.title) for entry in result.document.references)
            seen, told = count_markers(result.document)
            markers += seen
            pointing += told
    share, titles = pointing / max(1, markers), titled / max(1, entries)
    print(f"{len(files)} PDFs: {pointing} of {markers} markers point to an entry, {titled} of {entries} have a title")
    return {"mentions_resolved": round(share, 4), "titles_parsed": round(titles, 4)}


def count_markers(document: Document) -> tuple[int, int]:
    """What looks like a citation in the related work, and how much of it is a mention."""
    seen = told = 0
    for section in role_span(document, "related_work"):
        spans = [(one.start, one.end) for one in document.mentions if one.section == section]
        for match in _MARKER.finditer(document.sections[section].text):
            if _AUTHOR_YEAR.search(match.group()):
                seen += 1
                told += any(start < match.end() and match.start() < end for start, end in spans)
    return seen, told


if __name__ == "__main__":
    main()
