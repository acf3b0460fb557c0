"""Stage 6, planning: leave-one-out samples of the four writing tasks, and which older papers demonstrate for which target.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task contain the same
papers: one that lacks what any of them needs is dropped from all.

Random demonstrations share the target's primary category; co-author demonstrations are first-author papers of the
co-authors of the target's first author (section 3.2 of the AcademicEval paper). All are older than the
target, different papers from it, and not near copies of it. A choice depends on the round's seed, the target and the
kind alone, never on the order in which choices are made. Settings with a budget of tokens take as many as fit.
"""

from __future__ import annotations

import bisect
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from builder.collect.graph import CoAuthorGraph
from builder.collect.near_duplicates import near_duplicate
from builder.families.writing.prepare import PreparedPaper
from builder.records import DemoOrigin, Paper, SampleReason
from builder.seeding import digest_of, row_order
from builder.stage_report import StageReport
from lm_eval_tasks.base.contract import Task
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.engines.registry import Engine
from lm_eval_tasks.families.writing.settings import Setting

if TYPE_CHECKING:
    from builder.workspace import Workspace

_BESIDE = 2


@dataclass(frozen=True, slots=True)
class DemonstrationIds:
    """Ids of the demonstrations of one target, in the order in which they are shown."""

    random: tuple[str, ...]
    co_author: tuple[str, ...]


class Demonstrators:
    """The papers that can demonstrate for one task: those with all that a demonstration of it shows."""

    def __init__(self, papers: Iterable[Paper], graph: CoAuthorGraph, seed: int) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._graph, self._seed = graph, seed
        self._by_category: dict[str, list[Paper]] = defaultdict(list)
        for paper in sorted(self._papers.values(), key=lambda paper: (paper.published, paper.id)):
            self._by_category[paper.primary_category].append(paper)

    def choices_for(self, target: Paper) -> Callable[[int, int], DemonstrationIds]:
        """Return a function that chooses demonstrations for a target: up to so many random papers, and up to so many by co-authors.

        No paper is chosen twice. Random ones are drawn as if at least two co-author ones were shown with them, as in the mixed settings,
        so that all settings with the same number show the same ones.
        """
        draw = cache(partial(self._draw, target))

        def choose(n_random: int, n_co_author: int) -> DemonstrationIds:
            co_author = draw("co-author", max(n_co_author, _BESIDE) if n_random else n_co_author, ())
            return DemonstrationIds(draw("random", n_random, co_author), co_author[:n_co_author])

        return choose

    def _draw(self, target: Paper, origin: DemoOrigin, count: int, taken: tuple[str, ...]) -> tuple[str, ...]:
        pool = self._older(target, origin) if count else ()
        used = {target.id, *taken}
        picked: list[str] = []
        for paper in _shuffle(pool, random.Random(int.from_bytes(digest_of(self._seed, target.id, origin)))):
            if len(picked) == count:
                break
            if paper.id not in used and not near_duplicate(target.title, target.abstract, paper.title, paper.abstract):
                used.add(paper.id)
                picked.append(paper.id)
        return tuple(picked)

    def _older(self, target: Paper, origin: DemoOrigin) -> Sequence[Paper]:
        if origin == "co-author":
            near = (self._papers[id_] for id_ in self._graph.neighbour_papers(target) if id_ in self._papers)
            return [paper for paper in near if paper.published < target.published]
        same = self._by_category[target.primary_category]
        return same[: bisect.bisect_left(same, target.published, key=lambda paper: paper.published)]


def _shuffle(pool: Sequence[Paper], generator: random.Random) -> Iterator[Paper]:
    """Yield the pool in a random order; drawn lazily, so that a huge pool costs no more than a small one."""
    moved: dict[int, int] = {}
    for left in range(len(pool), 0, -1):
        i = generator.randrange(left)
        yield pool[moved.get(i, i)]
        moved[i] = moved.get(left - 1, left - 1)


# Demonstrations that are too long for what is left are passed over, but not for ever.
_MOST_PASSED = 5


def fill(drawn: DemonstrationIds, room: int, cost: Callable[[str], int]) -> tuple[DemonstrationIds, bool]:
    """Take demonstrations as long as they fit, the kinds in turn.

    Args:
        drawn: candidates of each kind, in the order in which they were drawn.
        room: tokens that the target leaves of the budget.
        cost: tokens of a demonstration.

    Returns:
        What was taken, and whether the budget was the limit rather than the number of candidates.
    """
    taken: set[str] = set()
    passed = 0
    for paper_id in filter(None, chain.from_iterable(zip_longest(drawn.co_author, drawn.random))):
        if (tokens := cost(paper_id)) <= room:
            taken.add(paper_id)
            room -= tokens
        else:
            passed += 1
            if passed == _MOST_PASSED:
                break
    kept = (tuple(id_ for id_ in ids if id_ in taken) for ids in (drawn.random, drawn.co_author))
    return DemonstrationIds(*kept), passed > 0


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
    workspace: Workspace, every: Mapping[str, PreparedPaper], task: Task, settings: Sequence[Setting], engine: Engine
) -> tuple[list[PlannedSample], StageReport]:
    """Decide which papers become samples of a task, and with which demonstrations; in the order of the rows."""
    unfit = {id_: _unfit_reason(prepared, workspace, task) for id_, prepared in every.items()}
    usable = [prepared for id_, prepared in every.items() if unfit[id_] is None]
    costs = {
        prepared.paper.id: (prepared.tokens_as_target(task), prepared.tokens_as_demonstration(task))
        for prepared in usable
    }
    demonstrators = Demonstrators((prepared.paper for prepared in usable), workspace.graph, workspace.round_.seed)
    if task == "related":
        least = workspace.round_.samples.min_citations
        few = (prepared.paper.id for prepared in usable if len(prepared.citations) < least)
        unfit |= dict.fromkeys(few, "too_few_citations")
    # A row that is left out changes no other.
    unfit |= dict.fromkeys(workspace.round_.excluded & {each.paper.id for each in usable}, "excluded")
    targets = [prepared.paper for id_, prepared in every.items() if unfit[id_] is None]
    choose = partial(_choose, tuple(settings), demonstrators, costs)
    outcomes = engine.map(choose, targets, _LEAST_AT_ONCE + len(targets) // _MOST_BATCHES)
    planned = {}
    for paper, outcome in zip(targets, progress(outcomes, f"plan {task}", len(targets)), strict=True):
        if isinstance(outcome, PlannedSample):
            planned[paper.id] = outcome
        else:
            unfit[paper.id] = outcome
    return sorted(planned.values(), key=lambda sample: row_order(sample.paper.id)), _report(task, unfit)


def _unfit_reason(prepared: PreparedPaper, workspace: Workspace, task: Task) -> SampleReason | None:
    """Tell why a paper is neither a target nor a demonstration; None if it may be one."""
    if prepared.paper.id in workspace.copies:
        return "near_duplicate"
    return prepared.tasks[task].unfit


def _report(task: Task, unfit: Mapping[str, SampleReason | None]) -> StageReport:
    report = StageReport(f"samples {task}")
    for id_, reason in unfit.items():
        if reason is None:
            report.kept += 1
        else:
            report.drop(id_, reason)
    report.check(len(unfit))
    return report


def _choose(
    settings: Sequence[Setting], demonstrators: Demonstrators, costs: Mapping[str, tuple[int, int]], paper: Paper
) -> PlannedSample | SampleReason:
    """Choose the demonstrations of a target for every setting; or what there are too few of.

    Args:
        costs: id -> tokens of the paper as a target's input, and as a demonstration.
    """
    demonstrations: dict[str, DemonstrationIds] = {}
    choose = demonstrators.choices_for(paper)
    for setting in settings:
        chosen = choose(setting.random, setting.co_author)
        if setting.tokens is not None:
            room = setting.tokens - costs[paper.id][0]
            if room < 0:
                return "longer_than_budget"
            chosen, full = fill(chosen, room, lambda id_: costs[id_][1])
            if not full:
                return "too_few_co_author_demonstrations" if setting.co_author else "too_few_random_demonstrations"
        elif len(chosen.random) < setting.random:
            return "too_few_random_demonstrations"
        elif len(chosen.co_author) < setting.co_author:
            return "too_few_co_author_demonstrations"
        demonstrations[setting.name] = chosen
    return PlannedSample(paper, demonstrations)
