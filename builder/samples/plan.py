"""Stage 6, planning: leave-one-out samples of the four writing tasks.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task hold the same papers: one
that lacks what any of them needs is dropped from all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from builder.progress import progress
from builder.records import Paper, SampleReason, Task
from builder.report import StageReport
from builder.samples.budget import fill
from builder.samples.demonstrations import Chosen, Demonstrators
from builder.seeding import row_order

if TYPE_CHECKING:
    from builder.round.settings import Setting
    from builder.samples.pool import Pool


@dataclass(frozen=True, slots=True)
class Planned:
    """A target and its demonstrations, before any text is put together.

    Attributes:
        demonstrations: for each setting, by its name.
    """

    paper: Paper
    demonstrations: dict[str, Chosen]


def plan(pool: Pool, task: Task, settings: Sequence[Setting]) -> tuple[list[Planned], StageReport]:
    """Decide which papers become samples of a task, and with which demonstrations; in the order of the rows."""
    report = StageReport(f"samples {task}")
    cuts = pool.cuts.values()
    unfit: dict[str, SampleReason | None] = {
        cut.paper.id: "near_duplicate" if cut.paper.id in pool.copies else cut.tasks[task].unfit for cut in cuts
    }
    usable = [cut.paper for cut in cuts if unfit[cut.paper.id] is None]
    demonstrators = Demonstrators(usable, pool.graph, pool.seed)
    planned: list[Planned] = []
    for cut in progress(cuts, f"plan {task}", len(cuts)):
        one: Planned | SampleReason | None = unfit[cut.paper.id]
        if one is None and task == "related" and len(cut.citations) < pool.min_citations:
            one = "too_few_citations"
        if one is None:
            one = _demonstrate(cut.paper, settings, demonstrators, partial(pool.tokens, task=task))
        if isinstance(one, Planned):
            report.kept += 1
            planned.append(one)
        else:
            report.drop(cut.paper.id, one)
    report.check(len(cuts))
    return sorted(planned, key=lambda one: row_order(one.paper.id)), report


def _demonstrate(
    paper: Paper, settings: Sequence[Setting], demonstrators: Demonstrators, cost: Callable[[str], tuple[int, int]]
) -> Planned | SampleReason:
    """Choose the demonstrations of every setting, or say what there are too few of.

    Args:
        cost: id -> tokens of the paper as a target's input, and as a demonstration.
    """
    demonstrations: dict[str, Chosen] = {}
    for setting in settings:
        chosen = demonstrators.choose(paper, setting.random, setting.co_author)
        if setting.tokens is not None:
            room = setting.tokens - cost(paper.id)[0]
            if room < 0:
                return "longer_than_budget"
            chosen, full = fill(chosen, room, lambda id_: cost(id_)[1])
            if not full:
                return "too_few_co_author_demonstrations" if setting.co_author else "too_few_random_demonstrations"
        elif len(chosen.random) < setting.random:
            return "too_few_random_demonstrations"
        elif len(chosen.co_author) < setting.co_author:
            return "too_few_co_author_demonstrations"
        demonstrations[setting.name] = chosen
    return Planned(paper, demonstrations)
