"""The rows of a setting that a board counts: those of the round's core, which every model is asked."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.prompts.registry import kind_of

if TYPE_CHECKING:
    from hub_scripts.report.cells import Cell, Group


def core_rows(group: Group, samples: int | None) -> Group:
    """A setting with the cells of those that have answered its core, each over the core alone.

    Args:
        samples: of the core; None if all rows count.
    """
    ids = _core_ids(group, samples) if samples is not None else None
    if ids is None:
        return group
    metric = registry.ranking(kind_of(group.task))
    return replace(group, cells=[cell_over(cell, ids, metric, group) for cell in group.cells])


def _core_ids(group: Group, samples: int) -> frozenset[str] | None:
    """The ids of the core; None if these are all, or cannot be told."""
    if group.whole:
        from lm_eval_tasks.data.rows import Fact, representative_rows

        facts = [Fact(row.paper, row.published, row.category) for row in group.whole]
        if samples >= len(facts):
            return None
        return frozenset(group.whole[i].id for i in representative_rows(range(len(facts)), facts, samples))
    asked = next((cell for cell in group.cells if cell.asked == samples and cell.of != samples), None)
    values = asked.values.get(registry.ranking(kind_of(group.task)), {}) if asked else {}
    return frozenset(values) if len(values) == samples else None


def cell_over(cell: Cell, ids: Collection[str], metric: str, group: Group) -> Cell:
    """A cell over some samples; it has no score if it lacks any of them."""
    values = {id_: score for id_, score in cell.values.get(metric, {}).items() if id_ in ids}
    if len(values) < len(ids):
        return replace(cell, scores={}, values={}, samples=0)
    clusters = dict(zip(group.ids, group.clusters, strict=True))
    score = interval(list(values.values()), [clusters[id_] for id_ in values], registry.limits_of(metric))
    floors = {id_: floor for id_, floor in cell.floors.get(metric, {}).items() if id_ in ids}
    flags = {name: {id_: flag for id_, flag in of_flag.items() if id_ in ids} for name, of_flag in cell.flags.items()}
    return replace(
        cell,
        samples=len(values),
        of=len(ids),
        scores={metric: score},
        values={metric: values},
        floors={metric: floors} if floors else {},
        flags=flags,
    )
