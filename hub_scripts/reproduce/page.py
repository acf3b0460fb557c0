"""Ours beside the published scores: tables, the figure of retrievers, and what may make them differ."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from matplotlib.figure import Figure

from hub_scripts.report.board import LABELS, Published
from hub_scripts.report.cells import WIN_RATE
from hub_scripts.report.drawing import STYLE, Plot, add_legend, looks, save
from hub_scripts.reproduce.matrix import (
    FIGURE_3_MODELS,
    FIGURE_3_SETTING,
    RETRIEVERS,
    Paper,
    Run,
    cells,
    run_name,
)
from lm_eval_tasks.files import write_whole
from lm_eval_tasks.runs import logged
from lm_eval_tasks.runs.intervals import interval
from lm_eval_tasks.tables import Table
from lm_eval_tasks.text import ODD, parse_json

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

DIFFERS, AGREES = "differs", "within the interval"
# First authors without whom there is no telling.
_FEWEST = 10
_HEAD = ("Setting", "Model", "Score", "Published", "Ours", "95 % interval", "Difference", "n", "")
_FIGURE_METRICS = ("bertscore", "rouge_l")
_NOTES = {
    "academiceval": (
        "The published code asks the sparse retrievers for the first letter of the query (a text stands where a list is expected): "
        "a right implementation should not match published scores of BM25 and TF-IDF.",
        "Where prompts are cut, rooms for answers, and everything else that may move a score: docs/differences.md.",
    ),
    "scalar": (
        "Tables 2 and 3 were measured on samples of 50 questions.",
        "Answers are read more generously than in the published code; accuracy_strict in the samples reads them as it does.",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ours:
    """A mean of ours and its 95 % interval, which says little where few first authors (`clusters`) stand behind it."""

    mean: float
    low: float
    high: float
    samples: int
    clusters: int


@dataclass(frozen=True, slots=True)
class Row:
    """One published score, and ours where there is one."""

    cell: Published
    ours: Ours | None

    @property
    def verdict(self) -> str:
        if self.ours is None:
            return "not run"
        if self.ours.clusters < _FEWEST:
            return "too few authors to tell"
        return AGREES if self.ours.low <= self.cell.value <= self.ours.high else DIFFERS


# (setting as it was logged, metric) -> ours
_Scores = dict[tuple[str, str], Ours]


def write_page(
    paper: Paper, runs: Sequence[Run], manifest: Manifest | None, dataset: str, output: Path
) -> Iterator[str]:
    """Write index.html, the figure and reproduced.json into the output folder; yields lines for people."""
    output.mkdir(parents=True, exist_ok=True)
    scores = {run.name: _scores(output / run.folder) for run in runs}
    names = {run.name: run for run in runs}
    rows = [
        Row(cell, scores[run_name(cell)].get((names[run_name(cell)].logged_as(cell.setting), cell.metric)))
        for cell in cells(paper)
    ]
    figure = _figure_3(names, scores, output) if paper == "academiceval" else None
    by_source: dict[str, list[Row]] = {}
    for row in rows:
        by_source.setdefault(row.cell.source, []).append(row)
    tables = {source: _table(own) for source, own in by_source.items()}
    tables["Runs"] = _runs(runs, output)
    _render(paper, tables, figure, _facts(manifest, dataset), output)
    write_whole(output / "reproduced.json", json.dumps([_plain(row) for row in rows], indent=1) + "\n")
    yield ""
    for source, own in by_source.items():
        done = [row for row in own if row.ours]
        differing = sum(row.verdict == DIFFERS for row in done)
        yield f"{source}: {len(done)} of {len(own)} scores measured, {differing} published ones outside our interval"
    yield f"written: {output / 'index.html'}"


def _scores(folder: Path) -> _Scores:
    """The scores of one run; nothing where it was not run."""
    if not any(folder.rglob("samples_*.jsonl")):
        return {}
    found: _Scores = {}
    for task, rows in logged.by_task(logged.read([folder])).items():
        for metric in rows[0].scores:
            having = [one for one in rows if metric in one.scores]
            over = interval([one.scores[metric] for one in having], [one.cluster for one in having])
            found[task, metric] = Ours(over.mean, over.low, over.high, over.samples, over.clusters)
    return found | _win_rates(folder)


def _win_rates(folder: Path) -> _Scores:
    """What judges made of the run: the mean over the judges, with an interval where there is only one."""
    found: _Scores = {}
    for file in sorted(folder.rglob("judge_*.json")):
        try:
            tasks = parse_json(file.read_bytes())["tasks"]
            for task, judges in tasks.items():
                rates = [(one["win_rate"], one["samples"]) for one in judges.values() if one["win_rate"]]
                if rates:
                    mean = fmean(rate["value"] for rate, _ in rates)
                    low, high = (rates[0][0]["low"], rates[0][0]["high"]) if len(rates) == 1 else (mean, mean)
                    found[str(task), WIN_RATE] = Ours(
                        mean, low, high, int(rates[0][1]), int(rates[0][1]) if len(rates) == 1 else 0
                    )
        except (OSError, *ODD):
            continue
    return found


def _table(rows: Sequence[Row]) -> Table:
    shown = [
        (row.cell.setting, row.cell.model, LABELS[row.cell.metric], _percent(row.cell.value), *_ours(row))
        for row in rows
    ]
    return Table(_HEAD, "lllrrrrrl", shown)


def _ours(row: Row) -> tuple[object, ...]:
    ours = row.ours
    if ours is None:
        return None, None, None, None, row.verdict
    return (
        _percent(ours.mean), f"{_percent(ours.low)} to {_percent(ours.high)}", f"{100 * (ours.mean - row.cell.value):+.1f}",
        ours.samples, row.verdict,
    )  # fmt: skip


def _runs(runs: Sequence[Run], output: Path) -> Table:
    """What stands behind each run: type and arguments of the model, round and prompts."""
    rows: list[tuple[object, ...]] = []
    for run in runs:
        for file in sorted((output / run.folder).glob("results_*.json")):
            try:
                ours = parse_json(file.read_bytes())["academiceval"]
                done, prompts = ours["run"], ", ".join(map(str, ours["prompt_versions"]))
                arguments = ",".join(f"{key}={value}" for key, value in done["model_args"].items())
                rows.append((run.name, done["model"], arguments, ", ".join(ours["rounds"]), prompts, done["limit"]))
            except (OSError, *ODD):
                continue
    return Table(("Run", "Model type", "Arguments", "Round", "Prompts", "Limit"), "llllrr", rows)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _plain(row: Row) -> dict[str, Any]:
    cell, ours = row.cell, row.ours
    return {
        "source": cell.source, "model": cell.model, "setting": cell.setting, "metric": cell.metric, "published": round(cell.value, 4),
        **({"ours": ours.mean, "low": ours.low, "high": ours.high, "samples": ours.samples} if ours else {}),
    }  # fmt: skip


def _facts(manifest: Manifest | None, dataset: str) -> list[str]:
    if manifest is None:
        return [f"Dataset: {dataset}."]
    if manifest.imported:
        return [f"Dataset: the published one ({manifest.imported})."]
    return [
        f"Dataset: round {manifest.published_as}, other papers than the published tables are about: only trends compare."
    ]


def _figure_3(runs: Mapping[str, Run], scores: Mapping[str, _Scores], output: Path) -> Plot | None:
    """Figure 3 of the AcademicEval paper: retrievers on Abs-9K."""
    rows = [
        (metric, model, retriever, one.mean, one.low, one.high)
        for metric in _FIGURE_METRICS
        for model in FIGURE_3_MODELS
        for retriever in RETRIEVERS
        if (run := runs[f"{model} + {retriever}"])
        and (one := scores[run.name].get((run.logged_as(FIGURE_3_SETTING), metric)))
    ]
    if not rows:
        return None
    styles = looks(FIGURE_3_MODELS)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7, 3))
        axes = figure.subplots(1, len(_FIGURE_METRICS))
        for axis, metric in zip(axes, _FIGURE_METRICS, strict=True):
            for model in FIGURE_3_MODELS:
                own = [row for row in rows if row[:2] == (metric, model)]
                errors = [[row[3] - row[4] for row in own], [row[5] - row[3] for row in own]]
                places = [RETRIEVERS.index(row[2]) for row in own]
                axis.errorbar(places, [row[3] for row in own], errors, label=model, **styles[model])
            axis.set_xticks(range(len(RETRIEVERS)), RETRIEVERS, rotation=30, ha="right")
            axis.set_ylabel(LABELS[metric])
        add_legend(figure, axes)
    title = f"Figure 3: retrievers on {FIGURE_3_SETTING}"
    alt = (
        f"{title}. "
        + ", ".join(f"{model}, {name}, {metric}: {mean:.3f}" for metric, model, name, mean, *_ in rows)
        + "."
    )
    place = output / "plots"
    place.mkdir(exist_ok=True)
    return save(
        figure, place, Plot("figure_3", title, alt), ("metric", "model", "retriever", "score", "low", "high"), rows
    )


def _render(paper: Paper, tables: Mapping[str, Table], figure: Plot | None, facts: Sequence[str], output: Path) -> None:
    jinja = Environment(
        loader=PackageLoader("hub_scripts.report", "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    notes = [*facts, "A published score is marked where it lies outside the 95 % interval of ours.", *_NOTES[paper]]
    title = {"academiceval": "AcademicEval", "scalar": "SCALAR"}[paper]
    text = jinja.get_template("reproduced.html").render(
        title=title, tables=tables, figure=figure, notes=notes, differs=DIFFERS
    )
    write_whole(output / "index.html", text)
    css = resources.files("hub_scripts.report") / "static" / "site.css"
    write_whole(output / "site.css", css.read_text(encoding="utf-8"))
