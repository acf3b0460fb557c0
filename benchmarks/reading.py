"""What reading questions yield, and what they cost.

Walk and Next over the papers of the folder `lab` (paper sets of 48 months, because these papers are of many years), Match over SCALAR's
papers. Then the memory of a paper set of 1M tokens. With `--quick` Walk and Next alone, over a small made-up world.
"""

from __future__ import annotations

import lzma
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow.parquet as pq

from benchmarks.scalar import FILES
from benchmarks.shared.running import Figures, call, processor_seconds, run
from builder.families.reading.papers_read import PaperRead
from builder.imports.scalar import import_papers
from builder.round.model import Round
from builder.store import STORE, Store
from lm_eval_tasks.base.contract import PAPERS
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.reading_row import ReadingRow
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.families.scalar.shortcuts import choosers_of
from standins.places import DATA
from standins.rounds import build, prepare, small_round

# Family -> what its shortcut scores for a row.
SCORES = {name: reading_answering(name.lower()).shortcut_score for name in ("Walk", "Next", "Match")}
SEED = 1
Row = Mapping[str, Any]
Rows = dict[str, list[Row]]
Texts = dict[tuple[str, str], str]


def measure(folder: Path, quick: bool) -> Figures:
    """Return all of it."""
    if quick:
        return of_round(made_up(folder / "round", 50, ["Walk-128K", "Next-128K"], 50), folder)
    masks, _ = opened(scalar_papers(folder))
    return {
        **of_round(lab(folder / "lab"), folder),
        **of_match(masks["Match-256K"]),
        "build_1m_peak_mb": round(call(build_1m, folder / "1m").peak_mb),
    }


# --- rounds


def made_up(place: Path, papers: int, configurations: Sequence[str], paper_sets: int) -> Round:
    """Return a round over a made-up world."""
    source = {"kind": "sample", "authors": papers // 2, "papers": papers}
    reading = {"configurations": configurations, "contexts": paper_sets}
    return small_round(place, seed=SEED, settings=["Title-10K"], source=source, reading=reading)


def lab(place: Path) -> Round:
    """Return a round over the papers of one group, three in five of them asked about."""
    return small_round(
        place,
        seed=SEED,
        settings=["Title-10K"],
        source={"kind": "mirror", "path": DATA / "lab", "metadata": "meta.jsonl"},
        reading={"configurations": ["Walk-128K", "Walk-256K", "Next-128K"], "contexts": 50, "window_months": 48},
        split={"test": 0.6},
        audit={"waive": ["title_in_content"]},
    )


def of_round(round_: Round, folder: Path) -> Figures:
    """Measure Walk and Next over a round; how the two ways of finding citations agree; time and bytes."""
    reading = round_.reading.model_copy(update={"configurations": ()})
    without = round_.model_copy(update={"reading": reading, "output": folder / "without"})
    started = processor_seconds()
    with LocalEngine(1) as engine:
        prepare(round_, engine)
    build(without)
    other = processor_seconds() - started
    build(round_)
    both = processor_seconds() - started - other
    started = processor_seconds()
    build(without, replace=True)
    reading_seconds = both - (processor_seconds() - started)
    rows, _ = opened(round_.output)
    sizes = {
        configuration.name: sum(file.bytes for file in configuration.every_file)
        for configuration in read_manifest(round_.output).configurations
    }
    return {
        "gold_agreement": agreement(round_),
        "build_ratio": round(reading_seconds / (other + reading_seconds), 3),
        "dataset_ratio": round(sum(sizes[name] for name in (*rows, PAPERS)) / sizes[PAPERS], 3),
        "walk_questions": sum(len(of_name) for name, of_name in rows.items() if name.startswith("Walk")),
        "next_questions": sum(len(row["asked"]) for row in rows["Next-128K"]),
    }


def agreement(round_: Round) -> float:
    """Return, of the titled entries that a way finds cited, or may, the share that both find cited in the same places."""
    counts: Counter[str] = Counter()
    with Store.open(round_.workspace / STORE) as store:
        for paper in store.papers():
            document = store.document(paper.id, "html") or store.document(paper.id, "pdf")
            if document is not None:
                read = PaperRead(paper, document, {})
                found = [read.locations(entry.number) for entry in read.entries]
                counts.update("unsure" if places is None else "agree" if places else "nowhere" for places in found)
    print(f"two ways of finding where an entry is cited: {dict(counts)}")
    return round(counts["agree"] / max(1, counts.total() - counts["nowhere"]), 4)


def scalar_papers(folder: Path) -> Path:
    """Return the dataset that is made of SCALAR's papers."""
    source = folder / "papers.jsonl"
    source.write_bytes(b"".join(lzma.decompress((DATA / "scalar" / name).read_bytes()) for name in FILES))
    import_papers(source, folder / "scalar", SEED, choosers_of(embed_local=False))
    return folder / "scalar"


def build_1m(place: Path) -> None:
    """Build paper sets of 1M tokens, each of which takes seconds."""
    round_ = made_up(place, 400, ["Walk-1M"], 4)
    with LocalEngine(2) as engine:
        prepare(round_, engine)
    build(round_)


def opened(folder: Path) -> tuple[Rows, Texts]:
    """Return the rows of a dataset's reading configurations in their first order, and the texts; prints the shortcut's score by kind."""
    tables = {
        configuration.name: [
            row for file in configuration.every_file for row in pq.read_table(folder / file.path).to_pylist()
        ]
        for configuration in read_manifest(folder).configurations
        if configuration.name.startswith((*SCORES, PAPERS))
    }
    texts = {(PAPERS, row["id"]): row["text"] for row in tables.pop(PAPERS, [])}
    rows = {name: [row for row in of_name if row["order"] == 0] for name, of_name in tables.items()}
    for name, of_name in rows.items():
        for kind in sorted({row["kind"] for row in of_name}):
            score = SCORES[name.partition("-")[0]]
            scores = [score(typed(ReadingRow, row)) for row in of_name if row["kind"] == kind]
            print(f"{name}, {kind}: {len(scores)} rows, shortcut {fmean(scores):.3f}", flush=True)
    return rows, texts


def of_match(rows: Sequence[Row]) -> Figures:
    """Return how many masks there are, and how many only full texts solve."""
    tags = Counter(tag for row in rows for tag in row["tags"])
    return {"match_masks": tags.total(), "match_body_masks": tags["body"]}


if __name__ == "__main__":
    run(measure, DATA / "lab", DATA / "scalar")
