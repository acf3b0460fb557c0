"""Stage 6, planning: leave-one-out samples of the four writing tasks.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task contain the same
papers: one that lacks what any of them needs is dropped from all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.families.writing.budget import fill
from builder.families.writing.demonstrations import DemonstrationIds, Demonstrators
from builder.records import Paper, SampleReason, Task
from builder.seeding import row_order
from builder.stage_report import StageReport
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.families.writing.pool import Pool
    from lm_eval_tasks.engines.registry import Engine
    from lm_eval_tasks.families.writing.settings import Setting

# All that targets are chosen from travels with each batch of them.
_LEAST_AT_ONCE, _MOST_BATCHES = 256, 64


@dataclass(frozen=True, slots=True)
class PlannedSample:
    """A target and its demonstrations, before any text is put together.

    Attributes:
        demonstrations: for each setting, by its name.
    """

    paper: Paper
    demonstrations: dict[str, DemonstrationIds]


def plan(
    pool: Pool, task: Task, settings: Sequence[Setting], engine: Engine
) -> tuple[list[PlannedSample], StageReport]:
    """Decide which papers become samples of a task, and with which demonstrations; in the order of the rows."""
    report = StageReport(f"samples {task}")
    cuts = pool.cuts.values()
    unfit: dict[str, SampleReason | None] = {
        cut.paper.id: "near_duplicate" if cut.paper.id in pool.copies else cut.tasks[task].unfit for cut in cuts
    }
    unfit |= dict.fromkeys(unfit.keys() & pool.excluded, "excluded")
    usable = [cut.paper for cut in cuts if unfit[cut.paper.id] is None]
    costs = {
        paper.id: (pool.cuts[paper.id].tokens_as_target(task), pool.cuts[paper.id].tokens_as_demonstration(task))
        for paper in usable
    }
    planner = _Planner(tuple(settings), Demonstrators(usable, pool.graph, pool.seed), costs)
    if task == "related":
        unfit |= {
            paper.id: "too_few_citations" for paper in usable if len(pool.cuts[paper.id].citations) < pool.min_citations
        }
    targets = [cut.paper for cut in cuts if unfit[cut.paper.id] is None]
    outcomes = engine.map(planner, targets, _LEAST_AT_ONCE + len(targets) // _MOST_BATCHES)
    planned = {}
    for paper, outcome in zip(targets, progress(outcomes, f"plan {task}", len(targets)), strict=True):
        if isinstance(outcome, PlannedSample):
            planned[paper.id] = outcome
        else:
            unfit[paper.id] = outcome
    for id_, reason in unfit.items():
        if reason is None:
            report.kept += 1
        else:
            report.drop(id_, reason)
    report.check(len(cuts))
    return sorted(planned.values(), key=lambda sample: row_order(sample.paper.id)), report


@dataclass(frozen=True, slots=True)
class _Planner:
    """Chooses the demonstrations of a target for every setting, or says what there are too few of.

    Attributes:
        costs: id -> tokens of the paper as a target's input, and as a demonstration.
    """

    settings: tuple[Setting, ...]
    demonstrators: Demonstrators
    costs: Mapping[str, tuple[int, int]]

    def __call__(self, paper: Paper) -> PlannedSample | SampleReason:
        demonstrations: dict[str, DemonstrationIds] = {}
        for setting in self.settings:
            chosen = self.demonstrators.choose(paper, setting.random, setting.co_author)
            if setting.tokens is not None:
                room = setting.tokens - self.costs[paper.id][0]
                if room < 0:
                    return "longer_than_budget"
                chosen, full = fill(chosen, room, lambda id_: self.costs[id_][1])
                if not full:
                    return "too_few_co_author_demonstrations" if setting.co_author else "too_few_random_demonstrations"
            elif len(chosen.random) < setting.random:
                return "too_few_random_demonstrations"
            elif len(chosen.co_author) < setting.co_author:
                return "too_few_co_author_demonstrations"
            demonstrations[setting.name] = chosen
        return PlannedSample(paper, demonstrations)
