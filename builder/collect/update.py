"""Which papers and authors a round admits, which rounds a workspace has been brought to, and the monthly update of a crawled graph.

Section 3.3 of the AcademicEval paper. Node update: the new papers of every author on the graph. Node-and-edge update: their new
co-authors become candidates, those brought by the most active authors first, and are visited until the wanted number of new papers
is reached. Pruning is done by the graph stage, from dates alone, so that an older round can be built again. Candidates are judged
by the new papers only, so that asking author by author and harvesting the months bring the same graph.
Drop reasons: those of the crawl, and no_graph_author for harvested papers.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from builder.ids import author_key
from builder.records import Drop, Paper, months_before
from builder.round.model import Round
from builder.seeding import share_of
from builder.sources import Source
from builder.stage_report import StageReport
from builder.store import Author, Store, in_categories
from lm_eval_tasks.base.progress import progress

LookUp = Callable[[Author], Iterable[Paper | Drop]]
# Of the store: what was done for each round.
_NOTE = "rounds"


def drop_other_categories(round_: Round, items: Iterable[Paper | Drop]) -> Iterator[Paper | Drop]:
    """The same items, with those of other categories turned into drops."""
    categories = frozenset(round_.papers.categories)
    for item in items:
        outside = isinstance(item, Paper) and not in_categories(item, categories)
        yield Drop(item.id, "other_category") if outside else item


def harvest(
    round_: Round, source: Source, store: Store, first: date | None, last: date | None, report: StageReport, since: str
) -> StageReport:
    """Store the papers of some days that belong to the round, and report them and the others.

    Drop reasons: bad_record, withdrawn, outside_window, other_category.
    """

    def belonging() -> Iterator[Paper]:
        for item in drop_other_categories(round_, progress(source.submitted_between(first, last), "harvest")):
            if isinstance(item, Drop):
                report.drop(item.id, item.reason)
            else:
                report.kept += 1
                yield item

    store.add_papers(belonging(), since=since)
    return report


def sort_out(round_: Round, items: Iterable[Paper | Drop]) -> tuple[list[Paper], list[Drop]]:
    """The papers that belong to the round, and why the others do not."""
    sorted_ = list(drop_other_categories(round_, items))
    return [each for each in sorted_ if isinstance(each, Paper)], [each for each in sorted_ if isinstance(each, Drop)]


def visit(
    round_: Round,
    store: Store,
    author: Author,
    items: Iterable[Paper | Drop],
    mark: Callable[[str, str], None],
    *,
    ranked: bool = False,
) -> int:
    """Store what a look-up of an author returned, in one transaction.

    Args:
        mark: notes that the author was visited.
        ranked: whether admitted co-authors are queued by the number of the author's papers, not in turn.

    Returns:
        How many of the papers have the author as first author.
    """
    key = author.key
    papers, drops = sort_out(round_, items)
    taken = store.taken({paper.id for paper in papers}, round_.round)
    ordered = co_authors(round_, key, papers)
    with store.transaction():
        store.add_batch([paper for paper in papers if paper.id not in taken], since=round_.round)
        store.frontier.drop(drops, round_.round)
        mark(key, round_.round)
        if round_.crawl.activity_penalty:
            store.index_authors()
        admitted = (co_author for co_author in ordered if _is_admitted(round_, store, co_author.key))
        store.frontier.admit(islice(admitted, round_.crawl.neighbours), round_.round, len(papers) if ranked else 0)
    return first_authored(papers, key)


def first_authored(papers: Iterable[Paper], key: str) -> int:
    """How many papers have this first author."""
    return sum(author_key(paper.authors[0]) == key for paper in papers)


def co_authors(round_: Round, key: str, papers: Iterable[Paper]) -> list[Author]:
    """An author's co-authors, most shared papers first.

    Papers with very many authors say little about who works with whom and contribute none.
    """
    shared: Counter[str] = Counter()
    names: dict[str, str] = {}
    for paper in sorted(papers, key=lambda paper: paper.id):
        if len(paper.authors) <= round_.graph.max_authors:
            for name in paper.authors:
                names.setdefault(author_key(name), name)
            shared.update({author_key(name) for name in paper.authors})
    shared.pop(key, None)
    return [Author(other, names[other]) for other in sorted(shared, key=lambda other: (-shared[other], other))]


def _is_admitted(round_: Round, store: Store, key: str) -> bool:
    """Thin out active authors.

    This addresses the popularity bias that the AcademicEval paper leaves to future work: an author with n known papers
    is admitted with probability n ** -activity_penalty, by a draw that depends on the seed and the author alone.
    """
    penalty = round_.crawl.activity_penalty
    return not penalty or share_of(round_.seed, key, "crawl") < float(max(1, store.pool_count(key)) ** -penalty)


# --- which rounds a workspace has been brought to


@dataclass(frozen=True, slots=True)
class Covered:
    """A finished crawl or update.

    Attributes:
        last_day: the last day that was covered.
        settings: what the work depended on besides the round's name.
    """

    last_day: date
    report: StageReport
    settings: str = ""


def read_coverage(store: Store) -> dict[str, Covered]:
    """Round -> what was done for it."""
    return {
        name: Covered(date.fromisoformat(entry["last_day"]), StageReport.from_dict(entry["report"]), entry["settings"])
        for name, entry in (store.note(_NOTE) or {}).items()
    }


def finish(store: Store, round_: str, done: Covered) -> None:
    """Note that a round is done."""
    note = store.note(_NOTE) or {}
    note[round_] = {"last_day": done.last_day.isoformat(), "report": done.report.to_dict(), "settings": done.settings}
    store.set_note(_NOTE, note)


def status(round_: Round, store: Store) -> Iterator[str]:
    """Human-readable lines: counts, frontier, requests made, estimated time left, what is fetched beyond the round's own papers."""
    for name, count in store.counts().items():
        yield f"{name}: {count}"
    for name, done in sorted(read_coverage(store).items()):
        yield f"round {name}: covered to {done.last_day}"
    requests = store.answers.requests()
    for host, (n, seconds) in sorted(requests.items()):
        yield f"requests to {host}: {n} in {seconds:.0f} s"
    visited, waiting = store.frontier.counts()
    if visited + waiting:
        yield f"frontier: {visited} authors visited, {waiting} waiting"
    left = min(waiting, max(0, round_.crawl.authors - visited))
    if left and round_.round not in read_coverage(store):
        # The average time of a visit, waiting included; before the first one, the delay that politeness asks for.
        spent = sum(seconds for _, seconds in requests.values())
        each = spent / visited if visited and spent else (round_.source.seconds_between_requests if requests else 0.0)
        yield f"left of the crawl: {left} authors, about {left * each / 60:.0f} min"
    for family, most in (("SCALAR", round_.scalar.fetched), ("Match", round_.reading.fetched)):
        if most and round_.source.LIVE:
            hours = most * round_.source.seconds_between_requests / 3600
            yield f"cited papers to fetch for {family}: at most {most}, {hours:.1f} h"


# --- the update


def is_update(round_: Round, source: Source, store: Store) -> bool:
    """Whether the round follows one that the workspace has, and takes papers by the same rules.

    Without seeds, a round with other categories, or with another query, takes its papers anew.
    """
    done = read_coverage(store)
    newest = max(done, default="")
    if not done or round_.round <= newest or round_.last_day <= max(coverage.last_day for coverage in done.values()):
        return False
    if round_.crawl.seeds:
        return True
    before, now = _rules(done[newest].settings, newest), _rules(harvest_key(round_, source), round_.round)
    # What a local source is asked changes with its files.
    return before == now if round_.source.LIVE else before[1] == now[1]


def update(round_: Round, source: Source, store: Store) -> None:
    """Bring the workspace's graph to a later round."""
    first = max(coverage.last_day for coverage in read_coverage(store).values()) + timedelta(
        days=1 - round_.update.overlap_days
    )
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
        return (paper for paper in store.papers_by_author(author.key) if first <= paper.published <= round_.last_day)

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
        active_from = months_before(
            max(done.last_day for done in read_coverage(store).values()), round_.inactive_months
        )
        with store.transaction():
            store.index_authors()
        newest = store.newest_papers(round_.round)
        unchecked = [author for author in unchecked if newest.get(author.key, date.min) >= active_from]
    for author in progress(unchecked, "node update", len(unchecked)):
        visit(round_, store, author, look_up(author), store.frontier.check, ranked=True)
    missing = round_.new_papers - store.first_author_papers(round_.round, only=True)
    for _ in progress(_candidates(round_, store, look_up, missing), "node and edge update"):
        pass


def _candidates(round_: Round, store: Store, look_up: LookUp, missing: int) -> Iterator[int]:
    while missing > 0 and (author := store.frontier.next_candidate(round_.round)):
        missing -= visit(round_, store, author, look_up(author), store.frontier.visit, ranked=True)
        yield missing
