"""What a visit to an author brings: papers, and the co-authors who may be visited next."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from builder.keys import author_key
from builder.records import Drop, Paper
from builder.round import Round
from builder.store import Author, Store, in_categories

Mark = Callable[[str, str], None]


def sort_out(round_: Round, items: Iterable[Paper | Drop]) -> tuple[list[Paper], list[Drop]]:
    """The papers that belong to the round, and why the others do not."""
    wanted = frozenset(round_.papers.categories)
    papers, drops = [], []
    for item in items:
        if isinstance(item, Drop):
            drops.append(item)
        elif in_categories(item, wanted):
            papers.append(item)
        else:
            drops.append(Drop(item.id, "other_category"))
    return papers, drops


def fold_in(
    round_: Round, store: Store, key: str, papers: Sequence[Paper], drops: Iterable[Drop], mark: Mark, priority: int = 0
) -> None:
    """Take what a visit brought into the store, in one transaction.

    Args:
        mark: notes that the author was visited.
        priority: of the co-authors that are admitted.
    """
    known = store.taken({paper.id for paper in papers}, round_.round)
    new = [paper for paper in papers if paper.id not in known]
    ordered = co_authors(round_, key, papers)
    with store.transaction():
        store.add_batch(new, since=round_.round)
        store.frontier.drop(drops, round_.round)
        mark(key, round_.round)
        if round_.crawl.activity_penalty:
            store.index_authors()
        admitted = (author for author in ordered if _is_admitted(round_, store, author.key))
        store.frontier.admit(islice(admitted, round_.crawl.neighbours), round_.round, priority)


def co_authors(round_: Round, key: str, papers: Iterable[Paper]) -> list[Author]:
    """An author's co-authors, most shared papers first.

    Papers with very many authors say little about who works with whom and bring none.
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

    This answers the popularity bias that the AcademicEval paper leaves to future work: an author with n known papers is
    admitted with probability n ** -activity_penalty, by a draw that depends on the seed and the author alone.
    """
    penalty = round_.crawl.activity_penalty
    if not penalty:
        return True
    digest = hashlib.sha256(f"{round_.seed}|{key}|crawl".encode()).digest()
    draw = int.from_bytes(digest[:8], "big") / 2**64
    return draw < float(max(1, store.pool_count(key)) ** -penalty)
