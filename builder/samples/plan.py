"""Stage 7: leave-one-out samples of the four writing tasks.

Paper + Document + Links -> Sample. Drop reasons: `records.SampleReason`. All settings of a task hold the same papers: one
that lacks what any of them needs is dropped from all.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from builder.citations.link import cited_in_related_work
from builder.collect.graph import CoAuthorGraph
from builder.extract.stage import Documents
from builder.progress import progress
from builder.records import CitedPaper, DemoKind, Demonstration, Paper, Sample, SampleReason, Task
from builder.report import StageReport
from builder.round.licenses import allows
from builder.round.model import Round
from builder.round.settings import Setting
from builder.samples import task_view
from builder.samples.budget import fill
from builder.samples.demonstrations import Chosen, Demonstrators
from builder.samples.tokens import TokenCounter, input_texts
from builder.store import Store

_CACHED_TEXTS = 512


@dataclass(frozen=True, slots=True)
class Planned:
    """A target and its demonstrations, before any text is put together.

    Attributes:
        demonstrations: for each setting, by its name.
    """

    paper: Paper
    demonstrations: dict[str, Chosen]


class Texts:
    """The texts of papers for the tasks, read from the store as needed and kept for a while."""

    def __init__(self, store: Store, documents: Documents) -> None:
        self._store = store
        self.document = lru_cache(maxsize=_CACHED_TEXTS)(documents.__getitem__)
        self.parts = lru_cache(maxsize=_CACHED_TEXTS)(self._parts)
        self._tokens: dict[tuple[str, Task], tuple[int, int]] = {}

    def _parts(self, paper: Paper, task: Task) -> tuple[str, str]:
        document = self.document(paper.id)
        return task_view.content(document, task), task_view.target(paper, document, task)

    def tokens(self, paper: Paper, task: Task, count: TokenCounter) -> tuple[int, int]:
        """Tokens of the paper as a target's input, and as a demonstration."""
        if (known := self._tokens.get((paper.id, task))) is not None:
            return known
        content, output = self.parts(paper, task)
        citations = self.citations(paper) if task == "related" else ()
        own = input_texts(paper.title, paper.abstract, content, task)
        cited = [text for one in citations for text in (one.title, one.abstract)]
        counts = count([*own, *cited, output])
        self._tokens[paper.id, task] = found = (sum(counts[:-1]), sum(counts[: len(own)]) + counts[-1])
        return found

    def citations(self, paper: Paper) -> tuple[CitedPaper, ...]:
        """The resolved citations of the paper's related work, in order of mention."""
        related = set(cited_in_related_work(self.document(paper.id)))
        links = (link for link in self._store.links(paper.id) if link.cited_id and link.reference in related)
        return tuple(
            CitedPaper(known.id, known.title, known.abstract)
            for known in self._store.papers(link.cited_id for link in links)
        )


def plan(
    round_: Round, task: Task, settings: Sequence[Setting], papers: Sequence[Paper], graph: CoAuthorGraph, texts: Texts,
    count: TokenCounter, copies: Container[str] = (),
) -> tuple[list[Planned], StageReport]:  # fmt: skip
    """Decide which papers become samples of a task, and with which demonstrations.

    Args:
        copies: ids of papers that are nearly the same as older ones, and shown neither as targets nor as demonstrations.
    """
    report = StageReport(f"samples {task}")
    lacks = {paper.id: "near_duplicate" if paper.id in copies else lack(paper, task, texts, round_) for paper in papers}
    usable = [paper for paper in papers if lacks[paper.id] is None]
    demonstrators = Demonstrators(usable, graph, round_.seed)
    by_id = {paper.id: paper for paper in usable}
    planned: list[Planned] = []
    for paper in progress(papers, f"plan {task}", len(papers)):
        one: Planned | SampleReason | None = lacks[paper.id]
        if one is None and task == "related" and len(texts.citations(paper)) < round_.samples.min_citations:
            one = "too_few_citations"
        if one is None:
            one = _demonstrate(paper, settings, demonstrators, lambda id_: texts.tokens(by_id[id_], task, count))
        if isinstance(one, Planned):
            report.kept += 1
            planned.append(one)
        else:
            report.drop(paper.id, one)
    report.check(len(papers))
    return planned, report


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


def lack(paper: Paper, task: Task, texts: Texts, round_: Round) -> SampleReason | None:
    """What the paper lacks to be shown in a task, as target or demonstration; None where it lacks nothing."""
    needs = round_.samples
    if not allows(paper.license, round_.licenses):
        return "license"
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
        demonstrations=tuple(_demonstrations(planned, setting, by_id, texts)),
        target=target,
    )


def _demonstrations(
    planned: Planned, setting: Setting, by_id: dict[str, Paper], texts: Texts
) -> Iterator[Demonstration]:
    chosen = planned.demonstrations[setting.name]
    kinds: tuple[tuple[DemoKind, tuple[str, ...]], ...] = (
        ("random", chosen.random),
        ("co-author", chosen.co_author),
    )
    for kind, ids in kinds:
        for paper in (by_id[id_] for id_ in ids):
            content, output = texts.parts(paper, setting.task)
            yield Demonstration(
                paper.versioned_id, kind, paper.published.isoformat(), paper.license, paper.title, paper.abstract,
                content, output,
            )  # fmt: skip
