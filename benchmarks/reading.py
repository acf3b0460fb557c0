"""What reading questions yield, what answers them without reading, and what they cost.

  python benchmarks/reading.py [DATA] [--quick]

DATA: default ../shared/data. Walk and Next over the papers of its folder `lab` (contexts of 48 months, because these papers are of many
years), Match and Select over SCALAR's papers; with --quick all but Select over a small made-up world. Intervals are over contexts that
share no paper. Then the yields of a made-up round from all papers and from those that may be redistributed, and in full runs the
time and memory of a context of 1M tokens. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from builder.dataset.manifest import Configuration, Manifest, read_manifest  # noqa: E402
from builder.pipeline import build, prepare  # noqa: E402
from builder.reading import match  # noqa: E402
from builder.reading.papers_read import PaperRead  # noqa: E402
from builder.round.model import Round  # noqa: E402
from builder.scalar.importers.scalar import import_papers  # noqa: E402
from builder.store import STORE, Store  # noqa: E402
from lm_eval_tasks.compat.minilm import minilm_path  # noqa: E402
from lm_eval_tasks.core.intervals import SHARES, interval  # noqa: E402
from lm_eval_tasks.core.row_format import ABSTRACTS, PAPERS  # noqa: E402
from lm_eval_tasks.core.text import sentences  # noqa: E402
from lm_eval_tasks.engines.local import LocalEngine  # noqa: E402
from lm_eval_tasks.metrics.reading import f1_of, r_precision_of, share_right_of, shortcut_score  # noqa: E402
from lm_eval_tasks.prompts.reading import part_texts  # noqa: E402
from lm_eval_tasks.retrieval.dense import encoder  # noqa: E402
from lm_eval_tasks.retrieval.shortcuts import choosers_of  # noqa: E402

DATA = ROOT.parent / "shared" / "data"
SCALAR_FILES = ("papers.jsonl.xz", "papers_more.jsonl.xz")
FAMILIES = ("Walk", "Next", "Match", "Select")
SEED = 1
# Enough for contexts of 1M tokens.
PAPERS_OF_WORLD = 400
Row = Mapping[str, Any]
Figures = dict[str, float | None]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=DATA)
    parser.add_argument("--quick", action="store_true", help="a small made-up world alone")
    arguments = parser.parse_args()
    if not arguments.quick and not arguments.data.is_dir():
        parser.exit(1, f"error: {arguments.data} is not there: name the folder of the data, or give --quick\n")
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if arguments.quick:
            figures |= of_round(made_up(place / "round", 50, ["Walk-128K", "Next-128K", "Match-128K"]), place)
        else:
            figures |= of_round(lab(place / "lab", arguments.data / "lab"), place)
            figures |= of_scalar(place, arguments.data / "scalar")
            # In a process of its own, for its peak memory.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                figures |= pool.submit(yields, place / "pools").result()
    print(json.dumps(figures))


# --- rounds


def made_up(place: Path, papers: int, configurations: Sequence[str], **changes: Any) -> Round:
    """A round over a made-up world."""
    source = {"kind": "sample", "authors": max(20, papers // 2), "papers": papers}
    return round_of(place, source, configurations, 14, **changes)


def lab(place: Path, data: Path) -> Round:
    """A round over the papers of one group, three in five of them asked about."""
    source = {"kind": "mirror", "path": data, "metadata": "meta.jsonl"}
    return round_of(
        place,
        source,
        ["Walk-128K", "Walk-256K", "Next-128K"],
        48,
        split={"test": 0.6},
        audit={"waive": ["title_in_content"]},
    )


def round_of(
    place: Path, source: Mapping[str, Any], configurations: Sequence[str], months: int, **changes: Any
) -> Round:
    """A round that builds one setting besides the reading families."""
    reading = {"configurations": list(configurations), "contexts": 50, "window_months": months}
    fields = {"round": "2026.11", "seed": SEED, "settings": ["Title-10K"], "source": source, "reading": reading}
    paths = {"workspace": place / "work", "output": place / "dataset"}
    return Round.model_validate({"split": {"test": 0.25}, **fields, **paths, **changes})


def processor_time() -> float:
    """Seconds of this process and its children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def of_round(round_: Round, place: Path) -> Figures:
    """Walk, Next and Match over a round; how the two ways of finding citations agree; time and bytes."""
    started = processor_time()
    with LocalEngine(1) as engine:
        prepare(round_, engine)
    without = round_.model_copy(
        update={"reading": round_.reading.model_copy(update={"configurations": ()}), "output": place / "without"}
    )
    build(without)
    other = processor_time() - started
    build(round_)
    both = processor_time() - started - other
    started = processor_time()
    build(without, replace=True)
    reading = both - (processor_time() - started)
    manifest, rows, texts = opened(round_.output)
    report(manifest, rows)
    sizes = {
        configuration.name: sum(file.bytes for file in configuration.every_file)
        for configuration in manifest.configurations
    }
    every = sum(sizes[name] for name in (*rows, PAPERS))
    figures = {
        "gold_agreement": agreement(round_),
        "build_ratio": round(reading / (other + reading), 3),
        "dataset_ratio": round(every / sizes[PAPERS], 3),
    }
    print(f"reading part: {reading:.1f} s of processor time, {figures['build_ratio']} of the whole build")
    print(
        f"files of rows and texts: {every / 2**20:.1f} MiB, {figures['dataset_ratio']} times those of the texts alone"
    )
    return {**figures, **of_walk(rows), **of_next(rows), **of_match(rows, texts)}


def of_scalar(place: Path, data: Path) -> Figures:
    """Match and Select over SCALAR's papers."""
    import lzma

    source = place / "papers.jsonl"
    source.write_bytes(b"".join(lzma.decompress((data / name).read_bytes()) for name in SCALAR_FILES))
    with patch.object(match, "_gives_away", return_value=False):
        import_papers(source, place / "unfiltered", SEED, choosers_of(embed_local=False))
    print("Match with masks that a name gives away:")
    before = {f"{key}_unfiltered": figure for key, figure in of_match(*opened(place / "unfiltered")[1:]).items()}
    import_papers(source, place / "scalar", SEED, choosers_of(embed_local=False))
    manifest, rows, texts = opened(place / "scalar")
    report(manifest, rows)
    return {**before, **of_match(rows, texts), **of_select(rows, texts)}


def opened(folder: Path) -> tuple[Manifest, dict[str, list[Row]], dict[tuple[str, str], str]]:
    """A dataset folder: its manifest, the rows of its reading configurations in their first order, and the texts."""
    manifest = read_manifest(folder)
    tables = {
        configuration.name: read_rows(folder, configuration)
        for configuration in manifest.configurations
        if configuration.name in (PAPERS, ABSTRACTS) or configuration.name.startswith(FAMILIES)
    }
    texts = {(name, row["id"]): row["text"] for name in (PAPERS, ABSTRACTS) for row in tables.pop(name, [])}
    return manifest, {name: [row for row in rows if row["order"] == 0] for name, rows in tables.items()}, texts


def read_rows(folder: Path, configuration: Configuration) -> list[Row]:
    """All rows of a configuration."""
    return [row for file in configuration.every_file for row in pq.read_table(folder / file.path).to_pylist()]


def agreement(round_: Round) -> float:
    """Of the titled entries that a way finds cited, or may, the share that both find cited in the same places."""
    counts: Counter[str] = Counter()
    with Store.open(round_.workspace / STORE) as store:
        for paper in store.papers():
            document = store.document(paper.id, "html") or store.document(paper.id, "pdf")
            if document is not None:
                counts += PaperRead(paper, document, {}).agreement
    print(f"two ways of finding where an entry is cited: {dict(counts)}")
    return round(counts["agree"] / max(1, counts.total() - counts["nowhere"]), 4)


# --- figures


def report(manifest: Manifest, rows: Mapping[str, Sequence[Row]]) -> None:
    """Counts by configuration with reasons, and by kind with floors and positions."""
    for counts in manifest.reports:
        if counts.stage.removeprefix("questions ").startswith(FAMILIES):
            print(f"{counts.stage}: {counts.given} in, {counts.kept} kept, {counts.dropped}")
    for name, of_name in rows.items():
        for kind in sorted({row["kind"] for row in of_name}):
            of_kind = [row for row in of_name if row["kind"] == kind]
            scores = [shortcut_score(row) for row in of_kind]
            shown = interval(scores, [row["cluster"] for row in of_kind], SHARES)
            places = [label / row["labels"] for row in of_kind for label in row["answer"]]
            labels = fmean(row["labels"] for row in of_kind)
            where = f"{fmean(places):.2f}" if places else "-"
            bounds = f" [{shown.low:.3f}, {shown.high:.3f}]" if shown.low is not None and shown.high is not None else ""
            print(
                f"{name}, {kind}: n {len(of_kind)}, labels {labels:.1f}, where {where}, shortcut {shown.mean:.3f}{bounds}"
            )


def _of(rows: Mapping[str, Sequence[Row]], family: str) -> list[Row]:
    return [row for name, of_name in rows.items() if name.startswith(family) for row in of_name]


def of_walk(rows: Mapping[str, Sequence[Row]]) -> Figures:
    """Title search over the questions of Walk."""
    walk = _of(rows, "Walk")
    f1 = fmean(f1_of(row["shortcut"], row["answer"]) for row in walk)
    print(f"Walk: title search exact {fmean(map(shortcut_score, walk)):.3f}, F1 {f1:.3f} of {len(walk)} questions")
    return {"walk_exact_titles": round(fmean(map(shortcut_score, walk)), 4), "walk_questions": len(walk)}


def of_next(rows: Mapping[str, Sequence[Row]]) -> Figures:
    """BM25 over the passages of Next."""
    calls = _of(rows, "Next")
    asked = sum(len(row["asked"]) for row in calls)
    return {"next_bm25": round(fmean(map(shortcut_score, calls)), 4), "next_questions": asked}


def of_match(rows: Mapping[str, Sequence[Row]], texts: Mapping[tuple[str, str], str]) -> Figures:
    """Shortcuts over titles and abstracts, and how many masks only full texts solve."""
    asked = [row for name, of_name in rows.items() if name == "Match-256K" for row in of_name] or _of(rows, "Match")
    if not asked:
        return {}
    tags = Counter(tag for row in asked for tag in row["tags"])
    print(f"Match: {dict(tags)} of {tags.total()} masks")
    embed = [
        share_right_of(dict(zip(row["asked"], named, strict=True)), row["asked"], row["answer"])
        for row, named in by_embedding(asked, texts)
    ]
    return {
        "match_chance": round(fmean(1 / row["labels"] for row in asked), 4),
        "match_bm25": round(fmean(map(shortcut_score, asked)), 4),
        "match_embed": round(fmean(embed), 4),
        "match_masks": tags.total(),
        "match_body_masks": tags["body"],
    }


def of_select(rows: Mapping[str, Sequence[Row]], texts: Mapping[tuple[str, str], str]) -> Figures:
    """Rankers over the pools of the smallest size."""
    select = next((list(of_name) for name, of_name in sorted(rows.items()) if name == "Select-64K"), [])
    if not select:
        return {}
    embed = [r_precision_of(named, row["answer"]) for row, named in by_embedding(select, texts)]
    return {
        "select_bm25": round(fmean(map(shortcut_score, select)), 4),
        "select_embed": round(fmean(embed), 4),
        "select_questions": len(select),
    }


def by_embedding(rows: Sequence[Row], texts: Mapping[tuple[str, str], str]) -> Iterator[tuple[Row, list[int]]]:
    """What a small model finds among titles and abstracts: for each mask its best label, for an introduction the best ones."""
    encode = encoder(minilm_path("baseline"), "mean")
    for row in rows:
        shown = part_texts(row, texts)
        summaries = [text.partition("\n\n## ")[2].partition("\n\n## ")[0] for text in shown[: row["labels"]]]
        heads = [text.partition("\n")[0] for text in shown[: row["labels"]]]
        queries = [around(shown[-1], mask) for mask in row["asked"]] or [shown[-1]]
        vectors = encode([*queries, *(f"{head}\n{summary}" for head, summary in zip(heads, summaries, strict=True))])
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        scores = vectors[: len(queries)] @ vectors[len(queries) :].T
        if row["asked"]:
            yield row, [int(place) + 1 for place in scores.argmax(axis=1)]
        else:
            yield row, [int(place) + 1 for place in np.argsort(-scores[0], kind="stable")[: len(row["answer"])]]


def around(text: str, mask: int) -> str:
    """The sentences with a mask."""
    mark = f"[MASK {mask}]"
    lines = (line for line in text.split("\n") if mark in line)
    return " ".join(sentence.replace(mark, "") for line in lines for sentence in sentences(line) if mark in sentence)


def yields(place: Path) -> Figures:
    """Contexts and rows of a made-up round, from all papers and from those that may be redistributed."""
    names = ["Walk-128K", "Walk-256K", "Walk-1M", "Next-128K", "Match-128K", "Select-64K"]
    for licenses in ("all", "redistributable"):
        round_ = made_up(place, PAPERS_OF_WORLD, names, licenses=licenses, output=place / licenses)
        # Each context of 1M tokens takes seconds.
        round_ = round_.model_copy(update={"reading": round_.reading.model_copy(update={"contexts": 4})})
        with LocalEngine(2) as engine:
            prepare(round_, engine)
        outcome = build(round_)
        kept = {counts.stage: counts for counts in outcome.manifest.reports}
        for configuration in outcome.manifest.configurations:
            if configuration.name in names:
                counts = kept[configuration.name]
                of = f"{counts.kept} of {counts.given} contexts, {configuration.samples} rows"
                print(f"{licenses}, {configuration.name}: {of}, {counts.dropped}")
    return {"build_1m_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}


if __name__ == "__main__":
    main()
