"""Our scores next to the published ones: tables, the figure of retrievers, and what may make them differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

from builder.dataset import tables
from hub_scripts.report.board import LABELS, Published
from hub_scripts.report.cells import WIN_RATE
from hub_scripts.report.drawing import STYLE, Plot, Sheet, both, looks
from hub_scripts.report.inputs import find
from hub_scripts.report.pages import read_packaged, render
from hub_scripts.reproduce.matrix import (
    FIGURE_3_MODELS,
    FIGURE_3_SETTING,
    RETRIEVERS,
    Paper,
    Run,
    cells,
    run_name,
)
from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.files import write_whole
from lm_eval_tasks.core.intervals import SHARES, Interval, interval
from lm_eval_tasks.core.power import FEWEST
from lm_eval_tasks.core.row_format import MADE_UP
from lm_eval_tasks.core.tables import Table
from lm_eval_tasks.judge.verdict import points_in
from lm_eval_tasks.samples.results import read_results
from lm_eval_tasks.samples.run_folder import results_in
from lm_eval_tasks.samples.sample import Sample, by_task, read
from lm_eval_tasks.stats.columns import columns_of

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

RESULTS = "reproduced.json"
DIFFERS, AGREES = "differs", "within the interval"
_HEAD = ("Setting", "Model", "Score", "Published", "Ours", "95 % interval", "Difference", "n", "Verdict")
_FIGURE_METRICS = ("bertscore", "rouge_l")
_NOTES = {
    "academiceval": (
        "The documentation, *Differences from the papers*, lists everything that may move a score.",
        "Win rates are of one order alone, with the generated text first (raw_win_rate): the published ones are too.",
    ),
    "scalar": (
        "Tables 2 and 3 were measured on samples of 50 questions.",
        "Answers are read as in the published code (accuracy_strict).",
        "Without reading the paper: always the same answer (guessing scores 0.25), or the candidate that fits the sentence with the "
        "mask best, by BM25 (bm25-local) or by embeddings (embed-local).",
    ),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One published score, and ours if there is one."""

    cell: Published
    ours: Interval | None

    @property
    def verdict(self) -> str:
        if self.ours is None:
            return "not measured"
        if self.ours.bounds is None:
            return "no interval"
        low, high = self.ours.bounds
        return AGREES if low <= self.cell.value <= high else DIFFERS


# (setting as it was logged, metric) -> ours
_Scores = dict[tuple[str, str], Interval]


def write_page(
    paper: Paper,
    runs: Sequence[Run],
    folders: Mapping[str, Path | None],
    manifest: Manifest | None,
    dataset: str,
    output: Path,
) -> Iterator[str]:
    """Write index.html, the figure and reproduced.json into the output folder; yields lines to show.

    Args:
        folders: run -> its evaluation, None if there is none.
    """
    output.mkdir(parents=True, exist_ok=True)
    scores = {name: _scores(folder) if folder else {} for name, folder in folders.items()}
    names = {run.name: run for run in runs}
    rows = [
        Row(
            cell,
            scores[run_name(cell)].get(
                (names[run_name(cell)].log_name(cell.setting), _OURS.get(cell.metric, cell.metric))
            ),
        )
        for cell in cells(paper)
    ]
    figure = _figure_3(names, scores, output) if paper == "academiceval" else None
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        by_source.setdefault(row.cell.source, []).append(row)
    shortcuts = (
        {"Without reading the paper": tables.without_reading(manifest)} if manifest and paper == "scalar" else {}
    )
    shown = {
        "Runs": _runs(folders),
        **shortcuts,
        **{source: _table(source_rows) for source, source_rows in by_source.items()},
    }
    notes = dict.fromkeys(row.cell.note for row in rows if row.cell.note)
    made_up = [manifest.published_as] if manifest and manifest.source == MADE_UP else []
    _render(paper, shown, figure, [*_facts(manifest, dataset), *notes], made_up, output)
    write_whole(output / RESULTS, json.dumps([_row_json(row) for row in rows], indent=1) + "\n")
    yield ""
    for source, source_rows in by_source.items():
        verdicts = [row.verdict for row in source_rows if row.ours]
        differing, agreeing = verdicts.count(DIFFERS), verdicts.count(AGREES)
        yield (
            f"{source}: {len(verdicts)} of {len(source_rows)} scores measured; of the published ones {differing} lie outside our interval, "
            f"{agreeing} within, {len(verdicts) - differing - agreeing} undecided (fewer than {FEWEST} first authors)"
        )
    yield f"written: {output / 'index.html'}"


def newest(folder: Path) -> Path | None:
    """The folder of the evaluation of a run that ended last; None if none has ended."""
    results = sorted(results_in(folder, deep=True), key=lambda file: (file.stat().st_mtime_ns, file))
    return results[-1].parent if results else None


# Published metric -> ours; SCALAR's answers are read as its code reads them, judges were asked in one order.
_RAW_WIN_RATE = "raw_win_rate"
_OURS = {"accuracy": "accuracy_strict", WIN_RATE: _RAW_WIN_RATE}


def _scores(folder: Path) -> _Scores:
    """The scores of one evaluation."""
    samples = read([folder])
    scores = {
        (task, metric): column.interval()
        for task, task_samples in by_task(samples).items()
        for metric, column in columns_of(task_samples).items()
    }
    return scores | _win_rates(folder, samples)


def _win_rates(folder: Path, samples: Sequence[Sample]) -> _Scores:
    """What judges made of an evaluation in the order that shows its text first, as in the paper: for each sample, the judges' mean."""
    inputs = find([folder])
    models = {file.model for file in inputs.samples}
    won: dict[str, list[tuple[float, str]]] = {}
    for sample in samples:
        orders = {judge: pair for model in models for judge, pair in inputs.verdicts.of(model, sample).items()}
        points = [0.0 if order == "empty" else points_in(order[0], 1) for order in orders.values()]
        if read_points := [point for point in points if point is not None]:
            won.setdefault(sample.task, []).append((fmean(read_points), sample.cluster))
    return {
        (task, _RAW_WIN_RATE): interval([points for points, _ in pairs], [cluster for _, cluster in pairs], SHARES)
        for task, pairs in won.items()
    }


def _table(rows: Sequence[Row]) -> Table:
    table_rows = [
        (row.cell.setting, row.cell.model, LABELS[row.cell.metric], _percent(row.cell.value), *_cells(row))
        for row in rows
    ]
    return Table(_HEAD, "lllrrrrrl", table_rows)


def _cells(row: Row) -> tuple[object, ...]:
    ours = row.ours
    if ours is None:
        return None, None, None, None, row.verdict
    return (
        _percent(ours.mean),
        " to ".join(map(_percent, ours.bounds or ())) or None,
        f"{100 * (ours.mean - row.cell.value):+.1f}",
        ours.samples,
        row.verdict,
    )


def _runs(folders: Mapping[str, Path | None]) -> Table:
    """What is behind "ours": type and arguments of the model, round and prompts."""
    rows: list[tuple[object, ...]] = []
    for name, folder in folders.items():
        for file in results_in(folder) if folder else ():
            with suppress(SamplesError):
                results = read_results(file)
                arguments = ",".join(f"{key}={value}" for key, value in results.run.get("model_args", {}).items())
                versions = ", ".join(map(str, results.prompt_versions))
                rows.append(
                    (name, results.engine, arguments, ", ".join(results.rounds), versions, results.run.get("limit"))
                )
    return Table(("Run", "Model type", "Arguments", "Round", "Prompt version", "Limit"), "llllrr", rows)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _row_json(row: Row) -> dict[str, Any]:
    cell, ours = row.cell, row.ours
    return {
        "source": cell.source,
        "model": cell.model,
        "setting": cell.setting,
        "metric": cell.metric,
        "published": round(cell.value, 4),
        **({"ours": ours.mean, "low": ours.low, "high": ours.high, "samples": ours.samples} if ours else {}),
    }


def _facts(manifest: Manifest | None, dataset: str) -> list[str]:
    if manifest is None:
        return [f"Dataset: {dataset}."]
    if manifest.imported:
        return [f"Dataset: the published one ({manifest.imported})."]
    return [
        f"Dataset: round {manifest.published_as}, other papers than those of the published tables: only trends compare."
    ]


def _figure_3(runs: Mapping[str, Run], scores: Mapping[str, _Scores], output: Path) -> Plot | None:
    """Figure 3 of the AcademicEval paper: retrievers on Abs-9K."""
    rows = [
        (metric, model, retriever, score.mean, *(score.bounds or (nan, nan)))
        for metric in _FIGURE_METRICS
        for model in FIGURE_3_MODELS
        for retriever in RETRIEVERS
        if (run := runs[f"{model} + {retriever}"])
        and (score := scores[run.name].get((run.log_name(FIGURE_3_SETTING), metric)))
    ]
    if not rows:
        return None
    place = output / "plots"
    place.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        return both(_draw_figure_3, place, rows)


def _draw_figure_3(sheet: Sheet, rows: Sequence[tuple[Any, ...]]) -> Plot:
    """A panel for each metric, a line for each model."""
    styles = looks(FIGURE_3_MODELS)
    figure, panels = sheet.panels(1, len(_FIGURE_METRICS), 7, 3)
    for axis, metric in zip(panels.flat, _FIGURE_METRICS, strict=True):
        for model in FIGURE_3_MODELS:
            model_rows = [row for row in rows if row[:2] == (metric, model)]
            errors = [[row[3] - row[4] for row in model_rows], [row[5] - row[3] for row in model_rows]]
            places = [RETRIEVERS.index(row[2]) for row in model_rows]
            axis.errorbar(places, [row[3] for row in model_rows], errors, label=model, **styles[model])
        axis.set_xticks(range(len(RETRIEVERS)), RETRIEVERS, rotation=30, ha="right")
        axis.set_ylabel(LABELS[metric])
    sheet.add_legend(figure, list(panels.flat))
    title = f"Figure 3: retrievers on {FIGURE_3_SETTING}"
    alt = (
        f"{title}. "
        + ", ".join(f"{model}, {name}, {metric}: {mean:.3f}" for metric, model, name, mean, *_ in rows)
        + "."
    )
    head = ("metric", "model", "retriever", "score", "low", "high")
    return sheet.save(figure, Plot("figure_3", title, alt), head, rows)


def _render(
    paper: Paper,
    tables: Mapping[str, Table],
    figure: Plot | None,
    facts: Sequence[str],
    made_up: Sequence[str],
    output: Path,
) -> None:
    notes = [*facts, "A published score is marked if it lies outside the 95 % interval of ours.", *_NOTES[paper]]
    title = {"academiceval": "AcademicEval", "scalar": "SCALAR"}[paper]
    text = render(
        "reproduced.html", title=title, tables=tables, figure=figure, notes=notes, differs=DIFFERS, made_up=made_up
    )
    write_whole(output / "index.html", text)
    write_whole(output / "site.css", read_packaged("static", "site.css"))
