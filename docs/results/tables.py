"""Writes scores.csv, a row for each run in this folder, pairs.csv, a row for each two models in one task, and gains.csv, a row for each
model that was asked the same with more to read.

python docs/results/tables.py
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from lm_eval_tasks.base.intervals import FEWEST_OF_GAINS, difference
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.sample import read
from lm_eval_tasks.stats.columns import columns_of, zero_of
from lm_eval_tasks.stats.compare import compare, runs_of

HERE = Path(__file__).parent
# From small to large, as their folders are called.
MODELS = ("SmolLM2-135M-Instruct", "Qwen2.5-Coder-0.5B-Instruct", "Qwen2.5-Coder-1.5B-Instruct")
# Papers and task, and the same with less to read.
MORE = (("scalar/{}/hard_local", "scalar/{}/hard_none"), ("lab-12k/{}/title_31k_g", "lab/{}/title_10k"))
Row = dict[str, object]


def main() -> None:
    """Write them."""
    for name, content in tables().items():
        (HERE / name).write_text(content, encoding="utf-8")


def tables() -> dict[str, str]:
    """Name of each file -> its content."""
    runs = sorted((run for model in MODELS for run in HERE.glob(f"*/{model}/*/")), key=_task)
    of_pairs = [row for _, of_task in groupby(runs, key=_task) for row in pairs(list(of_task))]
    of_models = [gain(*(HERE / place.format(model) for place in places)) for places in MORE for model in MODELS]
    scores, gains = [score(run) for run in runs], [row for row in of_models if row]
    return {"scores.csv": as_csv(scores), "pairs.csv": as_csv(of_pairs), "gains.csv": as_csv(gains)}


def score(run: Path) -> Row:
    """What a run says of its task."""
    samples = read([run])
    columns, family = columns_of(samples), samples[0].row.family
    level, zero = columns[family.ranking].interval(), zero_of(family.ranking, columns)
    margin = columns[family.ranking].minus(zero) if zero else None
    row: Row = {"papers": run.parts[-3], "task": run.name, "model": run.parts[-2], "rows": len(samples)}
    row |= {"metric": family.ranking, "score": level.mean, "low": level.low, "high": level.high}
    row |= {"best program": zero and zero.mean, "margin": margin and margin.mean}
    row |= {"margin low": margin and margin.low, "margin high": margin and margin.high}
    row |= {name: columns[name].mean for name in ("truncated", "capped", "empty") if name in columns}
    block = read_results(next(run.glob("results_*.json"))).block
    assert block
    row |= {"tokens in": block.usage.tokens_in, "tokens out": block.usage.tokens_out}
    row |= {"round": samples[0].row.round, "dataset": samples[0].row.dataset_revision[:12]}
    return row | {"prompt version": samples[0].row.prompt_version}


def pairs(runs: list[Path]) -> Iterator[Row]:
    """The differences between the models of a task, corrected for their number by Holm's method."""
    for row in compare(runs_of(runs)) if len(runs) > 1 else ():
        named: Row = {"papers": runs[0].parts[-3], "task": runs[0].name, "model": row.runs[1].parts[-2]}
        named |= {"other": row.runs[0].parts[-2], "rows": row.difference.samples, "difference": row.difference.mean}
        yield named | {"low": row.difference.low, "high": row.difference.high, "p (Holm)": row.corrected_p}


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
    """A table, its fractions with four digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: f"{value:.4f}" if isinstance(value, float) else value for key, value in row.items()})
    return text.getvalue()


def _task(run: Path) -> tuple[str, str]:
    return run.name, run.parts[-3]


if __name__ == "__main__":
    main()
