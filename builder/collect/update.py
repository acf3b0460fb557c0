"""The monthly update of a crawled co-author graph (section 3.3 of the AcademicEval paper).

Node update: the new papers of every author on the graph. Node-and-edge update: their new co-authors become candidates,
those brought by the most active authors first, and are visited until the wanted number of new papers is reached.
Pruning is done by the graph stage, from dates alone, so that an older round can be built again. Candidates are judged
by the new papers only, so that asking author by author and harvesting the months bring the same graph.
Drop reasons: those of the crawl, and no_graph_author for harvested papers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING

from builder.collect import admission
from builder.collect.admission import harvest
from builder.collect.coverage import Covered, finish, months_before, read_coverage
from builder.records import Drop, Paper
from builder.stage_report import StageReport
from builder.store import Author, Store
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.sources.base import Source

LookUp = Callable[[Author], Iterable[Paper | Drop]]


def is_update(round_: Round, source: Source, store: Store) -> bool:
    """Whether the round follows one that the workspace has, and takes papers by the same rules.

    Without seeds, a round with other categories, or with another query, takes its papers anew.
    """
    done = read_coverage(store)
    if not done or round_.round in done or round_.round < max(done):
        return False
    if round_.last_day <= max(coverage.last_day for coverage in done.values()):
        return False
    if round_.crawl.seeds:
        return True
    newest = max(done)
    before, now = _rules(done[newest].settings, newest), _rules(harvest_key(round_, source), round_.round)
    # What a local source is asked changes with its files.
    return before == now if round_.source.LIVE else before[1] == now[1]


def update(round_: Round, source: Source, store: Store) -> None:
    """Bring the workspace's graph to a later round."""
    last = max(coverage.last_day for coverage in read_coverage(store).values())
    first = last + timedelta(days=1 - round_.update.overlap_days)
    store.answers.forget_other_rounds(round_.round)
    if round_.crawl.seeds:
        report, settings = _walk_on(round_, source, store, first), ""
    else:
        report = harvest(round_, source, store, first, round_.last_day, StageReport("update"), round_.round)
        settings = harvest_key(round_, source)
    finish(store, round_.round, Covered(round_.last_day, report, settings))


def harvest_key(round_: Round, source: Source) -> str:
    """What taking every paper depends on: if that has changed, the papers are taken again."""
    return f"{source.fingerprint()} {round_.papers.model_dump_json()}"


def _rules(settings: str, round_: str) -> tuple[str, str]:
    """Of a `harvest_key` what is asked of the source, and the window of papers, both without what each month changes."""
    asked, brace, window = settings.partition(" {")
    return asked.replace(round_, ""), re.sub(r'"published_to":("[^"]*"|null)', "", brace + window)


def _walk_on(round_: Round, source: Source, store: Store, first: date) -> StageReport:
    if round_.update.by == "author":
        _visit_all(round_, store, lambda author: source.by_author(author.name, first, round_.last_day))
        # The check of inactive authors may have begun to index; finish that, wherever a killed update started again.
        with store.transaction():
            store.index_authors()
        return store.frontier.report("update", round_.round, len(store.joined(round_.round)))
    # The new months are fetched once a round, outside the pool.
    key = f"harvested {round_.round}"
    note = store.note(key)
    new = StageReport("update")
    report = StageReport.from_dict(note) if note else harvest(round_, source, store, first, round_.last_day, new, "")
    store.set_note(key, report.to_dict())
    with store.transaction():
        store.index_authors()

    def harvested(author: Author) -> Iterator[Paper]:
        for paper in store.papers_by_author(author.key):
            if first <= paper.published <= round_.last_day:
                yield paper

    _visit_all(round_, store, harvested)
    # Of the papers that were fetched, those that no author on the graph wrote are dropped.
    report.kept = 0
    for paper_id, since in store.window(first, round_.last_day, round_.papers.categories):
        if since == round_.round:
            report.kept += 1
        elif not since:
            report.drop(paper_id, "no_graph_author")
    return report


def _visit_all(round_: Round, store: Store, look_up: LookUp) -> None:
    """Node update, then node-and-edge update; each visit is one transaction."""
    unchecked = store.frontier.unchecked(round_.round)
    if round_.inactive_months is not None:
        # Without those that the last round pruned.
        last_day = max(coverage.last_day for coverage in read_coverage(store).values())
        active_from = months_before(last_day, round_.inactive_months)
        with store.transaction():
            store.index_authors()
        newest = store.newest_papers(round_.round)
        unchecked = [author for author in unchecked if newest.get(author.key, date.min) >= active_from]
    for author in progress(unchecked, "node update", len(unchecked)):
        admission.visit(round_, store, author, look_up(author), store.frontier.check, ranked=True)
    missing = round_.new_papers - store.first_author_papers(round_.round, only=True)
    for _ in progress(_candidates(round_, store, look_up, missing), "node and edge update"):
        pass


def _candidates(round_: Round, store: Store, look_up: LookUp, missing: int) -> Iterator[int]:
    while missing > 0 and (author := store.frontier.next_candidate(round_.round)):
        missing -= admission.visit(round_, store, author, look_up(author), store.frontier.visit, ranked=True)
        yield missing
