"""Stage 6, planning: leave-one-out samples of the four writing tasks.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task hold the same papers: one
that lacks what any of them needs is dropped from all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.progress import progress
from builder.records import DemoKind, Demonstration, Paper, Sample, SampleReason, Task
from builder.report import StageReport
from builder.round.licenses import allows
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
    papers = pool.papers.values()
    unfit = {
        paper.id: "near_duplicate" if paper.id in pool.copies else unfit_for(paper, task, pool) for paper in papers
    }
    usable = {paper.id: paper for paper in papers if unfit[paper.id] is None}
    demonstrators = Demonstrators(usable.values(), pool.graph, pool.round_.seed)
    planned: list[Planned] = []
    for paper in progress(papers, f"plan {task}", len(papers)):
        one: Planned | SampleReason | None = unfit[paper.id]
        if one is None and task == "related" and len(pool.texts.citations(paper)) < pool.round_.samples.min_citations:
            one = "too_few_citations"
        if one is None:
            one = _demonstrate(paper, settings, demonstrators, lambda id_: pool.texts.tokens(usable[id_], task))
        if isinstance(one, Planned):
            report.kept += 1
            planned.append(one)
        else:
            report.drop(paper.id, one)
    report.check(len(papers))
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


def unfit_for(paper: Paper, task: Task, pool: Pool) -> SampleReason | None:
    """Why the paper cannot be shown in a task, as target or demonstration; None where it can."""
    needs = pool.round_.samples
    if not allows(paper.license, pool.round_.licenses):
        return "license"
    if not paper.abstract:
        return "no_abstract"
    content, target = pool.texts.parts(paper, task)
    if not target and task in ("intro", "related"):
        return "no_introduction" if task == "intro" else "no_related_work"
    if task != "title" and len(target.split()) < needs.min_target_words:
        return "short_target"
    if len(content.split()) < needs.min_content_words:
        return "short_content"
    return None


def assemble(planned: Planned, setting: Setting, pool: Pool) -> Sample:
    """Put one row's texts together."""
    content, target = pool.texts.parts(planned.paper, setting.task)
    return Sample(
        paper=planned.paper,
        content=content,
        citations=pool.texts.citations(planned.paper) if setting.task == "related" else (),
        demonstrations=tuple(_demonstrations(planned, setting, pool)),
        target=target,
    )


def _demonstrations(planned: Planned, setting: Setting, pool: Pool) -> Iterator[Demonstration]:
    chosen = planned.demonstrations[setting.name]
    kinds: tuple[tuple[DemoKind, tuple[str, ...]], ...] = (
        ("random", chosen.random),
        ("co-author", chosen.co_author),
    )
    for kind, ids in kinds:
        for paper in (pool.papers[id_] for id_ in ids):
            content, output = pool.texts.parts(paper, setting.task)
            yield Demonstration(
                paper.versioned_id, kind, paper.published.isoformat(), paper.license, paper.title, paper.abstract,
                content, output,
            )  # fmt: skip
