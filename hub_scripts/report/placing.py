"""The scores of a page between their floor and a perfect score, see `stats.placed`."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.base.metadata import NO_MODEL
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL
from lm_eval_tasks.stats import placed

if TYPE_CHECKING:
    from hub_scripts.report.cells import Cell, Group
    from lm_eval_tasks.samples.results import Results
    from lm_eval_tasks.stats.placed import PlacedTask


def part_of(group: Group, cell: Cell, metric: str) -> PlacedTask | None:
    """A model's part by one metric; None if it has no scores with a floor, or the floor leaves no room."""
    authors = dict(zip(group.ids, group.clusters, strict=True))
    floors = cell.floors.get(metric, {})
    return placed.part_of(group.key.setting, group.task, cell.values.get(metric, {}), floors, authors)


def has_room(group: Group, metric: str) -> bool:
    """Whether scores can be placed above the floor of a setting."""
    floors = {id_: floor for cell in group.cells for id_, floor in cell.floors.get(metric, {}).items()}
    return not floors or fmean(floors.values()) <= placed.HIGHEST_FLOOR


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """The BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}
