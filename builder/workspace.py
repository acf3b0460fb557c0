"""What a command works on: a round over its workspace, of which everything is opened or built once."""

import hashlib
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice
from typing import Self

from builder.collect.coverage import crawl_report
from builder.collect.graph import CoAuthorGraph, Pruning, build_graph, orcids_of
from builder.collect.near_duplicates import copies
from builder.errors import FolderError
from builder.extract.stage import Documents, choose_documents, extract_papers
from builder.records import UNKNOWN_LICENSE, Citing, Paper, months_before
from builder.round.allowed import allows
from builder.round.model import Round
from builder.round.tables import SplitTable
from builder.seeding import digest_of
from builder.sources import Source, open_source
from builder.store import STORE, Store
from lm_eval_tasks.base.files import exclusive, named
from lm_eval_tasks.base.manifest import SplitDates
from lm_eval_tasks.base.progress import announce, progress
from lm_eval_tasks.engines.registry import Engine

# Licences that are noted in one transaction.
_AT_ONCE = 500


@dataclass
class Workspace:
    """A round and its store. Each other attribute is built when it is first asked for, from what finished stages have left.

    Raises:
        StoreError: the stage that an attribute is built from was not finished.
    """

    round_: Round
    store: Store

    @classmethod
    @contextmanager
    def open(cls, round_: Round) -> Iterator[Self]:
        """Open the workspace of a round, for this process alone."""
        path = round_.workspace / STORE
        with named(round_.workspace), exclusive(path), Store.open(path) as store:
            yield cls(round_, store)

    @cached_property
    def source(self) -> Source:
        return open_source(self.round_, self.store)

    @cached_property
    def graph(self) -> CoAuthorGraph:
        crawl_report(self.round_, self.store)  # raises if no call has crawled
        started = time.perf_counter()
        round_, store, window = self.round_, self.store, self.round_.papers
        graph = build_graph(
            store.pool_authorships(round_.round, window.categories, window.published_from, window.published_to),
            round_.graph.max_authors,
            round_.graph.component,
            orcids=orcids_of(store.identified_authorships(round_.round)),
            pruning=Pruning(
                members=store.frontier.members(round_.round) if round_.crawl.seeds else None,
                papers_from=self._months_back(round_.max_age_months),
                active_from=self._months_back(round_.inactive_months),
            ),
        )
        graph.report.seconds = time.perf_counter() - started
        return graph

    def _months_back(self, months: int | None) -> date:
        return date.min if months is None else months_before(self.round_.last_day, months)

    @cached_property
    def on_graph(self) -> list[Paper]:
        return list(self.store.papers(sorted(id_ for ids in self.graph.papers.values() for id_ in ids)))

    @cached_property
    def documents(self) -> Documents:
        return choose_documents(self.round_, self.store, self.on_graph)

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        """Those on the graph with a usable document, by id; a FolderError if there is none."""
        papers = tuple(paper for paper in self.on_graph if paper.id in self.documents.kinds)
        if not papers:
            raise FolderError(f"no paper can be used, nothing was written ({self.documents.report.line()})")
        return papers

    def contents(self) -> str:
        """Return a hash of what rows are made of: the papers' records, their texts, and the records of what they cite."""
        digest = hashlib.sha256()
        # From the store, as a build may have completed records.
        for paper in self.store.papers(sorted(self.documents.kinds)):
            cited = self.store.papers(sorted(self.store.cited_ids(paper.id).values()))
            text = self.store.packed_document(paper.id, self.documents.kinds[paper.id]) or b""
            digest.update(repr((paper, *cited)).encode() + text)
        return digest.hexdigest()

    @cached_property
    def shown(self) -> set[str]:
        """Papers whose texts the rows show that were written so far."""
        return set()

    @cached_property
    def copies(self) -> frozenset[str]:
        """Of each paper that was posted twice or more, the ids of the later ones, among papers whose licence the round allows."""
        return copies(paper for paper in self.papers if allows(paper.license, self.round_.licenses))

    @cached_property
    def dates(self) -> SplitDates:
        return split_dates(self.round_.split, self.papers)

    def forget_papers(self) -> None:
        """Read the papers again when they are next asked for: a stage may have completed their records."""
        for name in ("on_graph", "documents", "papers", "copies", "dates"):
            self.__dict__.pop(name, None)

    def with_licenses(self, papers: Sequence[Paper]) -> list[Paper]:
        """Return the papers with the licences that were not known, which the source is asked for and the store then has."""
        unknown = [paper for paper in papers if paper.license == UNKNOWN_LICENSE]
        if not unknown:
            return list(papers)
        learnt = progress(self.source.licenses(unknown), "licences")
        while batch := list(islice(learnt, _AT_ONCE)):
            with self.store.transaction():
                self.store.set_licenses(batch)
        return list(self.store.papers([paper.id for paper in papers]))

    @cached_property
    def taken_down(self) -> frozenset[str]:
        """The ids of the papers that are not to be shown, whatever ids the list names them by."""
        return frozenset(self.store.resolve(id_) or id_ for id_ in self.round_.taken_down)

    def citing(self, paper: Paper) -> Citing:
        return Citing(paper, self.documents[paper.id], self.store.cited_ids(paper.id))

    def cited_papers(self, citing: Iterable[Paper], most: int) -> list[Paper]:
        """Return the records of what papers cite; at most `most` for each paper, chosen by the seed alone."""
        cited: set[str] = set()
        for paper in citing:
            ids = set(self.store.cited_ids(paper.id).values()) - self.taken_down
            cited.update(sorted(ids, key=lambda id_: digest_of(self.round_.seed, id_, "cited"))[:most])
        return list(self.store.papers(sorted(cited)))

    def read_cited(self, citing: Iterable[Paper], most: int, engine: Engine) -> None:
        """Fetch and read what `cited_papers` gives, with the licences."""
        papers = self.cited_papers(citing, most)
        unread = sum(not self.store.outcomes(paper.id) for paper in papers)
        minutes = unread * self.round_.source.seconds_between_requests / 60
        if minutes >= 1:
            announce(f"fetching {unread} cited papers: at least {minutes:.0f} min")
        extract_papers(self.round_, self.source, self.store, self.with_licenses(papers), engine)


def split_dates(table: SplitTable, papers: Sequence[Paper]) -> SplitDates:
    """Return the days given in round.toml, or those that come closest to its shares; papers of one day stay together (section 3.2)."""
    if table.validation_from and table.test_from:
        return SplitDates(table.validation_from, table.test_from)
    days = sorted(paper.published for paper in papers)
    if not days:
        return SplitDates(date.min, date.max)
    test_from, validation_from = (_from_day(days, share) for share in (table.test, table.test + table.validation))
    if table.validation and validation_from >= test_from:
        validation_from = max((day for day in days if day < test_from), default=test_from)
    return SplitDates(min(validation_from, test_from), test_from)


def _from_day(days: Sequence[date], share: float) -> date:
    """Return the day from which on the papers, given by their days in order, come closest to a share of all."""
    wanted = len(days) * share
    first = days[min(len(days) - 1, round(len(days) * (1 - share)))]
    later = days[bisect_right(days, first) :][:1]
    return min((first, *later), key=lambda day: abs(len(days) - bisect_left(days, day) - wanted))
