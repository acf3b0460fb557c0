"""The leaderboard's data: a small file with every mean and interval, and for each setting the scores of its samples."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from builder.round.configurations import thousands_in
from hub_scripts.report.cells import TASKS, WIN_RATE, Cell, Group, is_baseline, task_of, with_interval
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.tasks.records import FAMILIES

if TYPE_CHECKING:
    from hub_scripts.report.cells import Key, Values
    from hub_scripts.report.model_facts import ModelFacts

LABELS = {**{name: registry.label(name) for name in registry.headline()}, WIN_RATE: "Judge win rate"}
TASK_LABELS = {
    "title": "Title",
    "abs": "Abstract",
    "intro": "Introduction",
    "related": "Related work",
    "section": "Any section",
    **{family.name: family.label for family in FAMILIES if family.label},
}
_SCALE = 10_000


@dataclass(frozen=True, slots=True)
class Published:
    """One score that a paper printed, as a share."""

    model: str
    setting: str
    metric: str
    value: float
    source: str
    note: str = ""


def published_scores() -> Iterator[Published]:
    """The papers' own scores."""
    content = tomllib.loads((Path(__file__).parent / "published.toml").read_text(encoding="utf-8"))
    for table in content["table"]:
        for setting, cells in table["scores"].items():
            for model, cell in zip(table["models"], cells, strict=True):
                if cell != "-":
                    note = next((text for ending, text in content["notes"].items() if model.endswith(ending)), "")
                    yield Published(model, setting, table["metric"], float(cell) / 100, table["source"], note)


def board(
    groups: Sequence[Group],
    cutoffs: Mapping[str, str],
    about: Mapping[str, ModelFacts],
    scales: Mapping[str, Mapping[tuple[Key, str], Values]],
    scorers: Collection[str] = (),
) -> dict[str, Any]:
    """Everything that the leaderboard shows before anybody moves a slider.

    Args:
        scorers: the models of BERTScore that the runs were scored by.
        scales: name -> scores on another scale: "placed", see `placing.placed_scores`, and those of `stats.scales`.
    """
    models = sorted({cell.model for group in groups for cell in group.cells})
    return {
        "metrics": {
            **LABELS,
            "bertscore": " ".join([LABELS["bertscore"], *(f"({scorer})" for scorer in sorted(scorers))]),
        },
        "tasks": {name: TASK_LABELS[name] for name in TASKS},
        "models": [
            {"name": name, "cutoff": cutoffs.get(name), "baseline": is_baseline(name), **asdict(about[name])}
            for name in models
        ],
        "settings": [_setting(group) for group in groups],
        "cells": [
            {
                "s": s,
                "m": models.index(cell.model),
                **_figures(cell),
                **{
                    name: _round_all(values[group.key, cell.model])
                    for name, values in scales.items()
                    if (group.key, cell.model) in values
                },
            }
            for s, group in enumerate(groups)
            for cell in group.cells
        ],
        "published": [
            {
                "m": score.model,
                "s": score.setting,
                "x": score.metric,
                "v": round(score.value, 4),
                "source": score.source,
                "note": score.note,
            }
            for score in published_scores()
        ],
        "published_settings": [
            {"name": name, "task": task_of(name), "context": thousands_in(name)}
            for name in dict.fromkeys(score.setting for score in published_scores())
        ],
    }


def scores_of_samples(group: Group) -> dict[str, Any]:
    """The scores of a setting's samples, from which the page can score any span of days; in ten-thousandths."""
    clusters = {name: i for i, name in enumerate(dict.fromkeys(group.clusters))}
    return {
        "ids": group.ids,
        "titles": group.titles,
        "published": group.published,
        "clusters": [clusters[name] for name in group.clusters],
        "models": {
            cell.model: {
                name: [_scale_score(scores.get(id_)) for id_ in group.ids]
                for name, scores in {**cell.values, **cell.flags}.items()
            }
            for cell in group.cells
        },
    }


def share(cell: Cell, *flags: str) -> float | None:
    """The share of samples for which any of the flags is true; None if none was noted."""
    columns = [cell.flags[name] for name in flags if name in cell.flags]
    return fmean(max(column[id_] for column in columns) for id_ in columns[0]) if columns else None


def _setting(group: Group) -> dict[str, Any]:
    days = sorted(group.published)
    return {
        "round": group.key.round,
        "name": group.key.setting,
        "slug": group.key.slug,
        "task": group.task,
        "context": group.context,
        "n": len(group.ids),
        "of": max((cell.of for cell in group.cells if cell.of), default=None),
        "first": days[0],
        "last": days[-1],
        "ceilings": group.ceilings,
        "prompts": group.prompt_versions,
        "unfinished": group.unfinished,
    }


def _round_all(values: Values) -> dict[str, list[float | None]]:
    return {name: [_round_score(value) for value in score] for name, score in values.items()}


def _figures(cell: Cell) -> dict[str, Any]:
    return {
        "n": cell.samples,
        "of": cell.of if cell.of != cell.samples else None,
        "capped": _round_score(share(cell, "capped")),
        "cut": _round_score(share(cell, "truncated")),
        "empty": _round_score(share(cell, "empty", "no_answer")),
        "floors": {name: _round_score(fmean(floors.values())) for name, floors in cell.floors.items() if floors},
        "x": _round_all({name: with_interval(score) for name, score in cell.scores.items()}),
    }


def _round_score(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _scale_score(value: float | None) -> int | None:
    return None if value is None else round(value * _SCALE)
