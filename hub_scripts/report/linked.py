"""Scores of later rounds on the scale of the first, for the leaderboard's switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.metrics import registry
from lm_eval_tasks.study.linking import link_task, usable_anchors

if TYPE_CHECKING:
    from hub_scripts.report.cells import Group, Key, Values
    from lm_eval_tasks.stats.estimates import Scores


def linked_scores(groups: Sequence[Group], anchors: Sequence[str]) -> dict[tuple[Key, str], Values]:
    """(setting of a later round, model) -> its scores on the first round's scale, if two anchors were run on both."""
    found: dict[tuple[Key, str], Values] = {}
    first = min((group.key.round for group in groups), default="")
    reference = {group.key.setting: group for group in groups if group.key.round == first}
    for group in groups:
        if group.key.round > first and group.key.setting in reference:
            for metric in registry.headline():
                for model, values in _linked(reference[group.key.setting], group, metric, anchors):
                    found.setdefault((group.key, model), {})[metric] = values
    return found


def _linked(
    reference: Group, group: Group, metric: str, anchors: Sequence[str]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    before, after = _scores(reference, metric), _scores(group, metric)
    known = usable_anchors(before, after, anchors)
    if not known:
        return
    _, found = link_task(group.key.round, group.key.setting, before, after, known, is_choice=group.task == "scalar")
    for one in found:
        bounds = () if one.low is None or one.high is None else (one.low, one.high)
        yield one.model, (one.value, *bounds)


def _scores(group: Group, metric: str) -> Mapping[str, Scores]:
    authors = dict(zip(group.ids, group.clusters, strict=True))
    return {
        cell.model: {id_: (value, authors[id_]) for id_, value in cell.values[metric].items()}
        for cell in group.cells
        if cell.values.get(metric)
    }
