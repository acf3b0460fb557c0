"""What a visit to an author brings: papers, and the co-authors who may be visited next."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence

from builder.keys import author_key
from builder.records import Drop, Paper
from builder.round import Round
from builder.store import Author, Store, in_categories


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


def take(round_: Round, store: Store, papers: Sequence[Paper], drops: Iterable[Drop]) -> None:
    """Into the pool of the round; inside a transaction of the caller."""
    known = store.taken({paper.id for paper in papers}, round_.round)
    store.add_batch([paper for paper in papers if paper.id not in known], since=round_.round)
    store.frontier.drop(drops, round_.round)


def neighbours(round_: Round, store: Store, key: str, papers: Iterable[Paper]) -> list[Author]:
    """The co-authors that a visited author brings: most shared papers first, bounded, active ones thinned out.

    Papers with very many authors say little about who works with whom and bring none. Thinning answers the popularity
    bias that the AcademicEval paper leaves to future work: an author with n known papers is admitted with probability
    n ** -activity_penalty, by a draw that depends on the seed and the author alone.
    """
    shared: Counter[str] = Counter()
    names: dict[str, str] = {}
    for paper in sorted(papers, key=lambda paper: paper.id):
        if len(paper.authors) <= round_.graph.max_authors:
            for name in paper.authors:
                names.setdefault(author_key(name), name)
            shared.update({author_key(name) for name in paper.authors})
    shared.pop(key, None)
    ordered = sorted(shared, key=lambda other: (-shared[other], other))
    admitted = (other for other in ordered if _is_admitted(round_, store, other))
    return [Author(other, names[other]) for _, other in zip(range(round_.crawl.neighbours), admitted, strict=False)]


def _is_admitted(round_: Round, store: Store, key: str) -> bool:
    penalty = round_.crawl.activity_penalty
    if not penalty:
        return True
    digest = hashlib.sha256(f"{round_.seed}|{key}|crawl".encode()).digest()
    draw = int.from_bytes(digest[:8], "big") / 2**64
    return draw < float(max(1, store.pool_count(key)) ** -penalty)
