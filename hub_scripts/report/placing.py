"""The scores of a page between their floor and their ceiling, see `stats.placed`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from hub_scripts.report.cells import Cell, Group, Values, with_interval
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL, NO_MODEL
from lm_eval_tasks.stats import placed
from lm_eval_tasks.stats.placed import Part, interval_over

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest
    from hub_scripts.report.cells import Key
    from lm_eval_tasks.samples.results import Results

# A higher floor leaves no room above it.
_HIGHEST_FLOOR = 0.9


def part_of(group: Group, cell: Cell, metric: str) -> Part | None:
    """A model's part by one metric; None if it has no scores with a floor, or the floor leaves no room."""
    if not cell.floors.get(metric) or (ceiling := _ceiling(group, metric)) is None:
        return None
    authors = dict(zip(group.ids, group.clusters, strict=True))
    return placed.part_of(
        group.key.setting, group.task, cell.values.get(metric, {}), cell.floors[metric], authors, ceiling
    )


def _ceiling(group: Group, metric: str) -> float | None:
    """What stands for 1, the same for all models of a setting; None if its floor leaves no room.

    A ceiling that is not clearly above the floor says nothing.
    """
    floors = {id_: floor for cell in group.cells for id_, floor in cell.floors.get(metric, {}).items()}
    floor, stated = fmean(floors.values()), group.ceilings.get(metric, 1.0)
    return next((ceiling for ceiling in (stated, 1.0) if ceiling - floor >= 1 - _HIGHEST_FLOOR), None)


def placed_scores(groups: Sequence[Group]) -> dict[tuple[Key, str], Values]:
    """(setting, model) -> its scores between floor and ceiling, by every metric that has a floor."""
    scores: dict[tuple[Key, str], Values] = {}
    for group in groups:
        for cell in group.cells:
            for metric in cell.floors:
                if part := part_of(group, cell, metric):
                    scores.setdefault((group.key, cell.model), {})[metric] = with_interval(interval_over([[part]]))
    return scores


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """The BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}


def ceilings_of(round_: str, task: str, manifests: Iterable[Manifest], scorers: Collection[str]) -> dict[str, float]:
    """Metric -> ceiling of a task's settings; nothing where no manifest of the round says it, or too few authors revised.

    Args:
        task: as settings name it, "abs".
        scorers: the BERTScore models of the scores that the ceiling is shown with.
    """
    for manifest in manifests:
        ceiling = {str(name): value for name, value in manifest.ceilings.items()}.get(task)
        if manifest.round == round_ and ceiling:
            same = set(scorers) == {ceiling.model}
            figures = {
                "rouge_l_content": ceiling.rouge_l_content,
                "rouge_l": ceiling.rouge_l,
                "bertscore": ceiling.bertscore if same else None,
            }
            return {
                name: estimate.mean
                for name, estimate in figures.items()
                if estimate is not None and estimate.low is not None
            }
    return {}
