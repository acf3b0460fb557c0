"""Stage 6, planning: which older papers demonstrate for which target.

Random demonstrations share the target's primary category; co-author demonstrations are first-author papers of the
co-authors of the target's first author (section 3.2 of the AcademicEval paper). All are older than the
target, different papers from it, and not near copies of it. A choice depends on the round's seed, the target and the
kind alone, never on the order in which choices are made.
"""

from __future__ import annotations

import bisect
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.samples.near_duplicates import near_duplicate
from builder.seeding import generator_of

if TYPE_CHECKING:
    from builder.collect.graph import CoAuthorGraph
    from builder.records import DemoKind, Paper

_BESIDE = 2


@dataclass(frozen=True, slots=True)
class DemonstrationIds:
    """Ids of the demonstrations of one target, in the order in which they are shown."""

    random: tuple[str, ...]
    co_author: tuple[str, ...]


class Demonstrators:
    """The papers that can demonstrate for one task.

    Args:
        papers: those with all that a demonstration of the task shows.
        graph: the round's co-author graph.
        seed: the round's seed.
    """

    def __init__(self, papers: Iterable[Paper], graph: CoAuthorGraph, seed: int) -> None:
        self._papers = {paper.id: paper for paper in papers}
        self._graph = graph
        self._seed = seed
        self._by_category: dict[str, list[Paper]] = defaultdict(list)
        for paper in sorted(self._papers.values(), key=lambda paper: (paper.published, paper.id)):
            self._by_category[paper.primary_category].append(paper)

    def choose(self, target: Paper, n_random: int, n_co_author: int) -> DemonstrationIds:
        """Choose up to this many of each kind; fewer if there are not enough. No paper is chosen twice.

        Random ones are drawn as if at least two co-author ones were shown with them, as in the mixed settings, so
        that all settings with the same number show the same ones.
        """
        most = max(n_co_author, _BESIDE) if n_random else n_co_author
        co_author = self._draw(target, "co-author", self._co_author_pool(target), most, ())
        drawn = self._draw(target, "random", self._category_pool(target), n_random, co_author)
        return DemonstrationIds(tuple(drawn), tuple(co_author[:n_co_author]))

    def _co_author_pool(self, target: Paper) -> Sequence[Paper]:
        ids = self._graph.neighbour_papers(target)
        papers = (self._papers[id_] for id_ in ids if id_ in self._papers)
        return [paper for paper in papers if paper.published < target.published]

    def _category_pool(self, target: Paper) -> Sequence[Paper]:
        papers = self._by_category[target.primary_category]
        older = bisect.bisect_left(papers, target.published, key=lambda paper: paper.published)
        return papers[:older]

    def _draw(
        self, target: Paper, kind: DemoKind, pool: Sequence[Paper], count: int, taken: Iterable[str]
    ) -> list[str]:
        used = {target.id, *taken}
        picked: list[str] = []
        for paper in _shuffle(pool, generator_of(self._seed, target.id, kind)):
            if len(picked) == count:
                break
            if paper.id not in used and not near_duplicate(target.title, target.abstract, paper.title, paper.abstract):
                used.add(paper.id)
                picked.append(paper.id)
        return picked


def _shuffle(pool: Sequence[Paper], generator: random.Random) -> Iterator[Paper]:
    """The pool in a random order; drawn lazily, so that a huge pool costs no more than a small one."""
    moved: dict[int, int] = {}
    for left in range(len(pool), 0, -1):
        i = generator.randrange(left)
        yield pool[moved.get(i, i)]
        moved[i] = moved.get(left - 1, left - 1)
