"""Writes the tables of this folder: scores.csv, a row for each model in each task; pairs.csv, for each two models in one task; gains.csv,
for each model that was asked the same with more to read; savings.csv, the bits that reading saves a model; kept.csv, what is recalled
alone and in longer contexts.

python docs/results/tables.py
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from lm_eval_tasks.base.intervals import FEWEST_OF_GAINS, difference, holm
from lm_eval_tasks.families.recall import KEPT
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.sample import Sample, by_task, read
from lm_eval_tasks.stats.columns import columns_of, zero_of
from lm_eval_tasks.stats.compare import Difference, compare, runs_of
from lm_eval_tasks.stats.kept import KeptShare, kept_of
from lm_eval_tasks.stats.savings import Saving, savings_of

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from page_tables import pages  # noqa: E402

# From small to large, as their folders are called.
MODELS = ("SmolLM2-135M-Instruct", "Gemma-3-270M", "Qwen2.5-Coder-0.5B-Instruct", "Qwen2.5-Coder-1.5B-Instruct")
PROGRAMS = ("ppmd",)
# Papers and task, and the same with less to read.
MORE = (("scalar/{}/hard_local", "scalar/{}/hard_none"), ("lab-12k/{}/title_31k_g", "lab/{}/title_10k"))
Row = dict[str, object]

# Of recall: parts of the rows, and kinds of what they ask.
PARTS = (*KEPT.parts, *KEPT.kinds.values())


def main() -> None:
    """Write them, and what the pages show of them."""
    every = tables()
    for name, content in every.items():
        (HERE / name).write_text(content, encoding="utf-8")
    for page, text in pages(every).items():
        page.write_text(text, encoding="utf-8")


def tables() -> dict[str, str]:
    """Name of each file -> its content."""
    runs = sorted((run for model in (*MODELS, *PROGRAMS) for run in HERE.glob(f"*/{model}/*/")), key=_task)
    apart = [each for _, of_task in groupby(runs, key=_task) for each in compared(list(of_task))]
    # Over the whole table.
    corrected = holm([1.0 if each.difference.p is None else each.difference.p for each in apart])
    of_models = [gain(*(HERE / place.format(model) for place in places)) for places in MORE for model in MODELS]
    every = [(run, read([run])) for run in runs]
    content = {
        "scores.csv": as_csv([row for run, samples in every for row in scores(run, samples)]),
        "pairs.csv": as_csv([pair(each, p) for each, p in zip(apart, corrected, strict=True)]),
        "gains.csv": as_csv([row for row in of_models if row]),
        "savings.csv": as_csv([saving(run, each) for run, samples in every for each in savings_of(samples)]),
        "kept.csv": as_csv([kept(run, each) for run, samples in every for each in kept_of(samples)]),
    }
    return {name: text for name, text in content.items() if text}


def scores(run: Path, samples: list[Sample]) -> Iterator[Row]:
    """What a run says of each of its tasks."""
    block = read_results(next(run.glob("results_*.json"))).block
    assert block
    for task, of_task in by_task(samples).items():
        columns, row_ = columns_of(of_task), of_task[0].row
        ranking = row_.ranking.name
        level, zero = columns[ranking].interval(), zero_of(ranking, columns)
        margin = columns[ranking].minus(zero) if zero else None
        row: Row = {"papers": run.parts[-3], "task": _short(task), "model": run.parts[-2], "rows": level.samples}
        row |= {"of": row_.of or len(of_task)}
        row |= {"metric": ranking, "score": level.mean, "low": level.low, "high": level.high}
        programs = [name for name in row_.ranking.zero if name in columns and zero]
        row |= {"programs": " ".join(name.removeprefix(f"{ranking}_") for name in programs)}
        row |= {"best program": zero and zero.mean, "margin": margin and margin.mean}
        row |= {"margin low": margin and margin.low, "margin high": margin and margin.high}
        shares = ("truncated", "capped", "empty")
        row |= {name: columns[name].mean if name in columns else None for name in shares}
        row |= {"run": run.name, "tokens in": block.usage.tokens_in, "tokens out": block.usage.tokens_out}
        row |= {"round": row_.round, "dataset": row_.dataset_revision[:12]}
        yield row | {"prompt version": row_.prompt_version}


def _named(run: Path) -> Row:
    return {"papers": run.parts[-3], "model": run.parts[-2]}


def saving(run: Path, each: Saving) -> Row:
    """What one context saves a model over another one, in bits per byte."""
    over = each.saved
    row = _named(run) | {"task": each.task, "less": each.less, "more": each.more, "rows": over.samples}
    row |= {"bits less": each.before, "bits more": each.after, "saved": over.mean, "low": over.low, "high": over.high}
    return row | {"copied": each.copied}


def kept(run: Path, each: KeptShare) -> Row:
    """What a model recalls at a size, and which share it keeps of what it recalls alone."""
    recalled, share = each.recalled, each.share
    row = _named(run) | {"configuration": each.configuration, "rows": recalled.samples, "authors": recalled.clusters}
    row |= {"bits": each.score, "recalled": recalled.mean, "low": recalled.low, "high": recalled.high}
    row |= {"share": share and share.mean, "share low": share and share.low, "share high": share and share.high}
    by_length = each.by_length
    row |= {"share by length": by_length and by_length.mean}
    row |= {"by length low": by_length and by_length.low, "by length high": by_length and by_length.high}
    return row | {"verdict": each.verdict, **{part: each.parts.get(part) for part in PARTS}}


def compared(runs: list[Path]) -> list[Difference]:
    """The differences between the models of a task."""
    return compare(runs_of(runs)) if len(runs) > 1 else []


def pair(each: Difference, corrected: float) -> Row:
    """The difference between two models, with p corrected for the rows of the table (Holm's method)."""
    first, second = each.runs
    over = each.difference
    row: Row = {"papers": first.parts[-3], "task": _short(each.task), "metric": each.metric, "model": second.parts[-2]}
    row |= {"other": first.parts[-2], "rows": over.samples, "of": max(each.sizes), "difference": over.mean}
    row |= {"low": over.low, "high": over.high, "p": over.p}
    return row | {"p (Holm)": None if over.p is None else corrected}


def gain(more: Path, less: Path) -> Row:
    """How much higher a model scores with more to read, over the same rows; those that its window cut to one prompt stay in with 0."""
    if not more.is_dir():
        return {}
    full, short = ({sample.id: sample for sample in read([run])} for run in (more, less))
    ids, metric = [id_ for id_ in full if id_ in short], next(iter(full.values())).row.family.ranking
    apart = [full[id_].scores[metric] - short[id_].scores[metric] for id_ in ids]
    over = difference(apart, [full[id_].cluster for id_ in ids], FEWEST_OF_GAINS)
    same = sum(full[id_].prompt_hash == short[id_].prompt_hash for id_ in ids)
    named: Row = {"model": more.parts[-2], "task": "/".join((more.parts[-3], more.name))}
    named |= {"less to read": "/".join((less.parts[-3], less.name))}
    return named | {"rows": len(ids), "same prompts": same, "gain": over.mean, "low": over.low, "high": over.high}


def as_csv(rows: list[Row]) -> str:
    """A table, its fractions with four digits; nothing without rows."""
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: f"{value:.4f}" if isinstance(value, float) else value for key, value in row.items()})
    return text.getvalue()


def _task(run: Path) -> tuple[str, str]:
    return run.name, run.parts[-3]


def _short(task: str) -> str:
    return task.removeprefix("academiceval_")


if __name__ == "__main__":
    main()
