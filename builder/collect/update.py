"""The monthly update of a crawled graph (section 3.3 of the AcademicEval paper).

Node update: the new papers of every author on the graph. Node-and-edge update: their new co-authors become candidates, those brought by
the most active authors first, and are visited until the wanted number of new papers is reached. The months are fetched whole, a few
requests each, and every author is looked up in them. Pruning is done by the graph stage, from dates alone, so that an older round can be
built again. Drop reasons: those of the crawl, and no_graph_author.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from builder.collect.admission import harvest, visit
from builder.collect.coverage import (
    Covered,
    check_days,
    check_shape,
    finish,
    harvest_key,
    read_coverage,
    update_settings,
)
from builder.errors import RoundError
from builder.ids import author_key
from builder.records import Paper, months_before
from builder.round.model import Round
from builder.sources import Source
from builder.stage_report import StageReport
from builder.store import Author, Store
from lm_eval_tasks.base.progress import progress

LookUp = Callable[[Author], Sequence[Paper]]


def is_update(round_: Round, source: Source, store: Store) -> bool:
    """Tell whether the round follows one that the workspace has, and takes papers by the same rules.

    Without seeds, a round with other categories, or with another query, takes its papers anew; so does one of local files that have
    changed, which may have older papers than last month's, and other records of the same ones.
    """
    done = read_coverage(store)
    newest = max(done, default="")
    if not done or round_.round <= newest or round_.last_day <= done[newest].last_day:
        return False
    if round_.crawl.seeds:
        return True
    return _rules(done[newest].settings, newest) == _rules(harvest_key(round_, source), round_.round)


def _rules(settings: str, round_: str) -> str:
    """Return a `harvest_key` without what each month changes."""
    return re.sub(r'"published_to":("[^"]*"|null)', "", settings.replace(round_, ""))


def update(round_: Round, source: Source, store: Store) -> None:
    """Bring the workspace's graph to a later round."""
    done = read_coverage(store)
    # An earlier round may have been taken to a later day; what this one has not, it notes as back.
    first = done[max(done)].last_day + timedelta(days=1 - round_.update.overlap_days)
    store.answers.forget_other_rounds(round_.round)
    if round_.crawl.seeds:
        report, settings = _walk_on(round_, source, store, first), update_settings(round_)
    else:
        report = harvest(round_, source, store, (first, round_.last_day), stage="update", since=round_.round)
        settings = harvest_key(round_, source)
    finish(store, round_.round, Covered(round_.last_day, report, settings))


def _walk_on(round_: Round, source: Source, store: Store, first: date) -> StageReport:
    if not check_shape(round_, store):
        raise RoundError(
            f"the workspace {round_.workspace} was crawled without seeds: leave `crawl.seeds` out, or name another `workspace`"
        )
    # The new months are fetched once a round, outside the pool.
    key = f"months of {round_.round}"
    note = store.note(key)
    if note:
        check_days(round_, date.fromisoformat(note["last_day"]), note["settings"])
        report = StageReport.from_dict(note["report"])
    else:
        report = harvest(round_, source, store, (first, round_.last_day), stage="update", since="")
        begun = {"last_day": round_.last_day.isoformat(), "settings": update_settings(round_)}
        store.set_note(key, begun | {"report": report.to_dict()})
    with store.transaction():
        store.index_authors()

    def new_papers(author: Author) -> list[Paper]:
        return [paper for paper in store.papers_by_author(author.key) if first <= paper.published <= round_.last_day]

    _check_members(round_, store, new_papers)
    missing = round_.new_papers - store.first_author_papers(round_.round, only=True)
    for _ in progress(_visit_candidates(round_, store, new_papers, missing), "node and edge update"):
        pass
    # Of the papers that were fetched, those that no author on the graph wrote are dropped.
    report.kept = 0
    for paper_id, since in store.window(first, round_.last_day, round_.papers.categories):
        if since == round_.round:
            report.kept += 1
        elif not since:
            report.drop(paper_id, "no_graph_author")
    return report


def _check_members(round_: Round, store: Store, look_up: LookUp) -> None:
    """Update the nodes; each visit is one transaction."""
    unchecked = store.frontier.unchecked(round_.round)
    if round_.inactive_months is not None:
        # Without those that the last round pruned.
        last_day = max(done.last_day for done in read_coverage(store).values())
        active_from = months_before(last_day, round_.inactive_months)
        newest = store.newest_papers(round_.round)
        unchecked = [author for author in unchecked if newest.get(author.key, date.min) >= active_from]
    for author in progress(unchecked, "node update", len(unchecked)):
        visit(round_, store, author, look_up(author), store.frontier.check, ranked=True)


def _visit_candidates(round_: Round, store: Store, look_up: LookUp, missing: int) -> Iterator[int]:
    """Update nodes and edges; yields how many new papers are still wanted, as `Store.first_author_papers` counts them."""
    members = set(store.frontier.members(round_.round))
    while missing > 0 and (author := store.frontier.next_candidate(round_.round)):
        papers = look_up(author)
        ids = {paper.id for paper in papers}
        known = store.taken(ids, round_.round)
        visit(round_, store, author, papers, store.frontier.visit, ranked=True)
        # Of the days that are looked at again, some papers are of an earlier round.
        taken = store.taken(ids, round_.round)
        firsts = [(paper.id, author_key(paper.authors[0])) for paper in papers if paper.id in taken]
        missing -= sum(key == author.key or (id_ not in known and key in members) for id_, key in firsts)
        members.add(author.key)
        yield missing
