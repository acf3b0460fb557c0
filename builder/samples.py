"""Stage 7: leave-one-out samples of the four writing tasks.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task hold the same papers: one
that lacks what any of them needs is dropped from all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from builder import body
from builder.demos import Chosen, Demonstrators
from builder.extract import Documents
from builder.graph import CoAuthorGraph
from builder.records import CitedPaper, DemoKind, Demonstration, Paper, Sample, SampleReason, Task
from builder.report import StageReport
from builder.round import Round, SamplesTable
from builder.settings import Setting
from builder.store import Store

_CACHED_TEXTS = 512


@dataclass(frozen=True, slots=True)
class Planned:
    """A target and its demonstrations, before any text is put together."""

    paper: Paper
    demonstrations: Chosen


class Texts:
    """The texts of papers for the tasks, read from the store as needed and kept for a while."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self.document = lru_cache(maxsize=_CACHED_TEXTS)(documents.__getitem__)
        self.parts = lru_cache(maxsize=_CACHED_TEXTS)(self._parts)

    def _parts(self, paper: Paper, task: Task) -> tuple[str, str]:
        document = self.document(paper.id)
        return body.content(document, task), body.target(paper, document, task)

    def citations(self, paper: Paper) -> tuple[CitedPaper, ...]:
        """The resolved citations of the paper's related work, in order of mention."""
        links = self._store.links(paper.id)
        return tuple(
            CitedPaper(known.id, known.title, known.abstract)
            for known in self._store.papers(link.cited_id for link in links if link.cited_id)
        )


def plan(
    round_: Round, task: Task, settings: Sequence[Setting], papers: Sequence[Paper], graph: CoAuthorGraph, texts: Texts
) -> tuple[list[Planned], StageReport]:
    """Decide which papers become samples of a task, and with which demonstrations."""
    report = StageReport(f"samples {task}")
    lacks = {paper.id: lack(paper, task, texts, round_.samples) for paper in papers}
    usable = [paper for paper in papers if lacks[paper.id] is None]
    demonstrators = Demonstrators(usable, graph, round_.seed)
    n_random = max(setting.random for setting in settings)
    n_co_author = max(setting.co_author for setting in settings)
    planned: list[Planned] = []
    for paper in papers:
        reason = lacks[paper.id]
        chosen = Chosen((), ())
        if reason is None and task == "related" and len(texts.citations(paper)) < round_.samples.min_citations:
            reason = "too_few_citations"
        if reason is None:
            chosen = demonstrators.choose(paper, n_random, n_co_author)
            if len(chosen.random) < n_random:
                reason = "too_few_random_demonstrations"
            elif len(chosen.co_author) < n_co_author:
                reason = "too_few_co_author_demonstrations"
        if reason is None:
            report.kept += 1
            planned.append(Planned(paper, chosen))
        else:
            report.drop(paper.id, reason)
    report.check(len(papers))
    return planned, report


def lack(paper: Paper, task: Task, texts: Texts, needs: SamplesTable) -> SampleReason | None:
    """What the paper lacks to be shown in a task, as target or demonstration; None where it lacks nothing."""
    if not paper.abstract:
        return "no_abstract"
    content, target = texts.parts(paper, task)
    if not target and task in ("intro", "related"):
        return "no_introduction" if task == "intro" else "no_related_work"
    if task != "title" and len(target.split()) < needs.min_target_words:
        return "short_target"
    if len(content.split()) < needs.min_content_words:
        return "short_content"
    return None


def assemble(planned: Planned, setting: Setting, by_id: dict[str, Paper], texts: Texts) -> Sample:
    """Put one row's texts together."""
    content, target = texts.parts(planned.paper, setting.task)
    return Sample(
        paper=planned.paper,
        content=content,
        citations=texts.citations(planned.paper) if setting.task == "related" else (),
        demonstrations=tuple(_demonstrations(planned.demonstrations, setting, by_id, texts)),
        target=target,
    )


def _demonstrations(chosen: Chosen, setting: Setting, by_id: dict[str, Paper], texts: Texts) -> Iterator[Demonstration]:
    kinds: tuple[tuple[DemoKind, tuple[str, ...]], ...] = (
        ("random", chosen.random[: setting.random]),
        ("co-author", chosen.co_author[: setting.co_author]),
    )
    for kind, ids in kinds:
        for paper in (by_id[id_] for id_ in ids):
            content, output = texts.parts(paper, setting.task)
            yield Demonstration(
                paper.versioned_id, kind, paper.published.isoformat(), paper.license, paper.title, paper.abstract,
                content, output,
            )  # fmt: skip
