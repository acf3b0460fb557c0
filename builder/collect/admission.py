"""Which papers and authors a round admits: what a crawl and an update do with the records of a source.

Drop reasons: bad_record, withdrawn, outside_window, other_category.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from itertools import islice

from builder.ids import author_key
from builder.records import Drop, Paper
from builder.round.model import Round
from builder.seeding import share_of
from builder.sources import Source
from builder.stage_report import StageReport
from builder.store import Author, Store, in_categories
from lm_eval_tasks.base.progress import progress


def drop_other_categories(round_: Round, items: Iterable[Paper | Drop]) -> Iterator[Paper | Drop]:
    """Yield the same items, with those of other categories turned into drops."""
    categories = frozenset(round_.papers.categories)
    for item in items:
        outside = isinstance(item, Paper) and not in_categories(item, categories)
        yield Drop(item.id, "other_category") if outside else item


def harvest(
    round_: Round, source: Source, store: Store, days: tuple[date | None, date | None], stage: str, since: str
) -> StageReport:
    """Store the papers of some days that belong to the round, and report them and the others.

    What an earlier call took for the round is taken anew, so that it is as the source has it now. Drop reasons: bad_record, withdrawn,
    outside_window, other_category.

    Args:
        days: the first and the last; None without a bound.
        stage: after a "crawl", which takes all that there is, what earlier rounds took and the source has no more is in no pool.
        since: the round that the papers are of, see `Store.add_papers`.
    """
    report = StageReport(stage)
    missing = set(store.pool_ids(round_.round)) if stage == "crawl" else set()
    were_gone, back = store.frontier.gone(round_.round), set[str]()
    withdrawn: list[Drop] = []
    if since:
        with store.transaction():
            if stage == "crawl":
                # One that the source has taken back must not let a text be published.
                store.forget_licenses()
            store.release_all(since)

    def belonging() -> Iterator[Paper]:
        for item in drop_other_categories(round_, progress(source.submitted_between(*days), "harvest")):
            if isinstance(item, Drop):
                report.drop(item.id, item.reason)
                if item.reason == "withdrawn":
                    # Of a further file of one article the id has a number behind it.
                    withdrawn.append(Drop(item.id.partition(" (")[0], item.reason))
            else:
                report.kept += 1
                missing.discard(item.id)
                if item.id in were_gone:
                    back.add(item.id)
                yield item

    store.add_papers(belonging(), since=since)
    with store.transaction():
        store.frontier.note_gone(round_.round, withdrawn, missing, back)
    return report


def sort_out(round_: Round, items: Iterable[Paper | Drop]) -> tuple[list[Paper], list[Drop]]:
    """Return the papers that belong to the round, and why the others do not."""
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
    """Return how many papers have this first author."""
    return sum(author_key(paper.authors[0]) == key for paper in papers)


def co_authors(round_: Round, key: str, papers: Iterable[Paper]) -> list[Author]:
    """Return an author's co-authors, most shared papers first.

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
