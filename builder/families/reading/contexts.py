"""Contexts: a new paper and older ones by the authors around its own, or of its category, as many as fill a number of tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from builder.collect.coverage import months_before
from builder.seeding import digest_of

if TYPE_CHECKING:
    from builder.collect.graph import CoAuthorGraph
    from builder.records import Paper

# Of the tokens in a configuration's name: the rest is left to other tokenizers, templates and answers. With the prompt's own words
# a context has between 0.85 and 0.92 of them.
LEAST, MOST = 0.855, 0.915
# Tokens that the words of prompts and the answers take: much of a small context, nothing of a large one.
_BESIDE, _LARGE = 640, 128


def room(size: int, share: float) -> float:
    """The tokens of a share of a context that texts may take.

    Args:
        size: of the context, in units of 1,024 tokens.
    """
    return share * size * 1024 - (_BESIDE if size < _LARGE else 0)


@dataclass(frozen=True, slots=True)
class PaperSet:
    """Papers that are shown together.

    Attributes:
        papers: the new one first, then in the order in which they were taken.
        tokens: that they have together.
        stretches: paper and first character of each stretch that is shown, where papers are not shown whole.
    """

    papers: tuple[Paper, ...]
    tokens: int
    stretches: frozenset[tuple[str, int]] = frozenset()

    @property
    def paper(self) -> Paper:
        """The new paper."""
        return self.papers[0]


class Neighbourhoods:
    """The papers that may stand around a new one.

    Args:
        papers: those that may be shown, by id.
        months: that they may be older than the new one.
    """

    def __init__(self, papers: Sequence[Paper], graph: CoAuthorGraph, seed: int, months: int) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._graph, self._seed, self._months = graph, seed, months

    def around(self, paper: Paper) -> list[Paper]:
        """Older papers within the window: those of the same first author, then by distance on the co-author graph, then those that it
        does not join to the paper: with its primary category, then with any other of its categories.
        """
        since = months_before(paper.published, self._months)
        return [
            other
            for ids in self._rings(paper)
            for other in sorted(
                (self._papers[id_] for id_ in ids if id_ in self._papers),
                key=lambda other: digest_of(self._seed, paper.id, other.id, "context"),
            )
            if since <= other.published < paper.published
        ]

    def _rings(self, paper: Paper) -> Iterator[set[str]]:
        """Papers by id, the nearest first; each in one ring."""
        seen: set[str] = set()
        same = self._of_category[paper.primary_category]
        near = set[str]().union(*(self._of_category[category] for category in paper.categories))
        for ids in (*map(set, self._graph.papers_by_distance(paper)), same, near):
            yield ids - seen
            seen |= ids

    @cached_property
    def _of_category(self) -> dict[str, set[str]]:
        """Category -> the papers of it."""
        papers: defaultdict[str, set[str]] = defaultdict(set)
        for paper in self._papers.values():
            for category in paper.categories:
                papers[category].add(paper.id)
        return papers


def fill(
    paper: Paper, others: Sequence[Paper], sizes: Sequence[int], tokens: Callable[[Paper], int | None]
) -> dict[int, PaperSet]:
    """Contexts of several sizes, each within the next larger one; none of a size that cannot be filled.

    Args:
        others: what may be taken, the best first.
        sizes: thousands of tokens, times 1,024, in rising order.
        tokens: of a paper as it is shown; None for one that cannot be.
    """
    contexts: dict[int, PaperSet] = {}
    taken, total = {paper.id: paper}, tokens(paper) or 0
    for size in sizes:
        least, most = room(size, LEAST), room(size, MOST)
        for other in others:
            if total >= least:
                break
            if other.id not in taken and (more := tokens(other)) and total + more <= most:
                taken[other.id] = other
                total += more
        if least <= total <= most:
            contexts[size] = PaperSet(tuple(taken.values()), total)
    return contexts
