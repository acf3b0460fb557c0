"""The co-author graph: nodes are authors with a first-author paper, edges join authors who wrote together.

Section 3.1 of the AcademicEval paper: authors who appear only as co-authors are removed, then the largest connected
component is kept. Papers with very many authors say little about who works with whom and add no edges. Pruning (section
3.3) removes old papers and inactive authors; the edges made by old papers stay, so that pruning cuts as little as it
can.

Only a hash of each author's name is kept, and edges are an array: an archive has millions of both.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import islice
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from builder.ids import author_key
from builder.records import GROUP, Authorship, GraphReason, Paper
from builder.stage_report import StageReport


def orcids_of(papers: Iterable[Authorship | Paper]) -> dict[str, set[str]]:
    """Return the key of a name -> the ORCIDs that go with it in some papers."""
    orcids: dict[str, set[str]] = {}
    for paper in papers:
        for name, author_id in zip(paper.authors, paper.author_ids, strict=False):
            if author_id and author_id != GROUP:
                orcids.setdefault(author_key(name), set()).add(author_id)
    return orcids


def _author_keys(paper: Authorship | Paper, orcids: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield the key of each author of a paper: an ORCID, the only one of the name, or the name."""
    for name, author_id in zip(paper.authors, paper.author_ids or ("",) * len(paper.authors), strict=True):
        if author_id == GROUP:
            yield f"{GROUP} {paper.id} {name}"
        elif author_id:
            yield author_id
        else:
            of_name = orcids.get(key := author_key(name), ())
            yield next(iter(of_name)) if len(of_name) == 1 else key


@dataclass(frozen=True)
class CoAuthorGraph:
    """The graph of a round and the papers on it.

    Attributes:
        nodes: author keys, sorted.
        shared: how many papers two of them share, shape (nodes, nodes).
        papers: author key -> ids of the author's first-author papers, oldest id first.
        report: which of the papers are on it.
        authors, first_authors: how many there were before any was removed.
        orcids: how many authors are known by their ORCID.
        shared_names: how many names several ORCIDs go with.
    """

    nodes: tuple[str, ...]
    shared: csr_array
    papers: dict[str, tuple[str, ...]]
    report: StageReport
    authors: int
    first_authors: int
    orcids: int
    shared_names: int

    @property
    def edges(self) -> int:
        return int(self.shared.nnz) // 2

    def neighbour_papers(self, paper: Paper) -> list[str]:
        """Return first-author papers of the co-authors of a paper's first author, by id."""
        return next(islice(self.papers_by_distance(paper), 1, None), [])

    def papers_by_distance(self, paper: Paper) -> Iterator[list[str]]:
        """Yield first-author papers by id: those of the paper's own first author, of co-authors, of their co-authors, and so on."""
        index = self._indices.get(self._first_authors.get(paper.id) or author_key(paper.authors[0]))
        ring: set[int] = set() if index is None else {index}
        seen = set(ring)
        neighbours, begins = self.shared.indices, self.shared.indptr
        while ring:
            yield sorted({id_ for i in ring for id_ in self.papers.get(self.nodes[i], ())})
            ring = {other for i in ring for other in neighbours[begins[i] : begins[i + 1]].tolist()} - seen
            seen |= ring

    @cached_property
    def _first_authors(self) -> dict[str, str]:
        return {id_: author for author, ids in self.papers.items() for id_ in ids}

    @cached_property
    def _indices(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.nodes)}


@dataclass(frozen=True, slots=True)
class Pruning:
    """What is left out of a graph.

    Attributes:
        members: keys of the authors that the crawl has visited, of whom alone papers are taken; None if it took every paper.
        papers_from: older papers are left out.
        active_from: authors whose newest paper, in any position, is older are left out.
    """

    members: frozenset[str] | None = None
    papers_from: date = date.min
    active_from: date = date.min


NO_PRUNING = Pruning()


def build_graph(
    papers: Iterable[Authorship | Paper],
    max_authors: int,
    component: str,
    *,
    orcids: Mapping[str, set[str]] = MappingProxyType({}),
    pruning: Pruning = NO_PRUNING,
) -> CoAuthorGraph:
    """Build the graph of the given papers and report which of them are on it.

    Args:
        papers: read once, in any order.
        orcids: of their authors, as `orcids_of` gives them; without them all go by their names.
        max_authors: papers with more authors add no edges.
        component: "largest" keeps the largest connected component, "all" keeps every first author.

    Drop reasons: not_visited, too_old, inactive_author, outside_component.
    """
    written, report = _Papers(papers, orcids, max_authors), StageReport("graph")
    first: dict[str, list[str]] = {}
    for id_, author, reason in written.by_id(pruning):
        if reason:
            report.drop(id_, reason)
        else:
            first.setdefault(author, []).append(id_)
    nodes = sorted(first)
    shared = written.shared(nodes, max_authors)
    if component == "largest" and nodes:
        kept = _largest_component(shared)
        nodes, shared = [nodes[i] for i in kept.tolist()], shared[kept][:, kept]
    on_graph = {author: tuple(first[author]) for author in nodes}
    for author, ids in first.items():
        if author in on_graph:
            report.kept += len(ids)
        else:
            for id_ in ids:
                report.drop(id_, "outside_component")
    report.check(len(written.ids))
    return CoAuthorGraph(
        tuple(nodes),
        csr_array(shared),
        on_graph,
        report,
        authors=written.different,
        first_authors=len(set(written.first)),
        orcids=len(set[str]().union(*orcids.values())),
        shared_names=sum(len(of_name) > 1 for of_name in orcids.values()),
    )


def _largest_component(shared: csr_array) -> NDArray[np.int64]:
    """Find the places of the nodes of the largest connected component."""
    _, labels = connected_components(shared, directed=False)
    sizes = np.bincount(labels)
    _, firsts = np.unique(labels, return_index=True)
    # Of two equally large ones, the one whose first author comes later.
    largest = max(range(len(sizes)), key=lambda label: (sizes[label], firsts[label]))
    return np.flatnonzero(labels == largest)


# Letters that a name has with a stroke, and in another record without one.
_STROKES = str.maketrans("łøđħ", "lodh")


def _has_strokes(name: str) -> bool:
    return not name.isascii() and name.translate(_STROKES) != name


class _Papers:
    """Who wrote what, packed. Authors are numbered by the places of their keys' hashes in sorted order.

    Attributes:
        ids: of the papers.
        first: key of each paper's first author.
        different: how many authors there are.
    """

    def __init__(self, papers: Iterable[Authorship | Paper], orcids: Mapping[str, set[str]], max_authors: int) -> None:
        self.ids: list[str] = []
        self.first: list[str] = []
        self._first_names: list[str] = []
        days, counts, hashes = array("q"), array("q"), array("q")
        keys: dict[str, str] = {}
        # Names with strokes.
        stroked = set(filter(_has_strokes, orcids))
        for paper in papers:
            self.ids.append(paper.id)
            days.append(paper.published.toordinal())
            authors = list(_author_keys(paper, orcids))
            self.first.append(keys.setdefault(authors[0], authors[0]))
            stroked.update(filter(_has_strokes, authors))
            name = author_key(paper.authors[0]) if orcids or paper.author_ids else authors[0]
            self._first_names.append(keys.setdefault(name, name))
            hashes.extend(map(hash, authors))
            counts.append(len(authors))
        self._days, self._counts = np.array(days, np.int64), np.array(counts, np.int64)
        # 64 bits: two of ten million authors share a hash once in 400,000 rounds.
        self._hashes, self._authors = np.unique(np.array(hashes, np.int64), return_inverse=True)
        self.different = len(self._hashes)
        self._begins = np.cumsum(self._counts) - self._counts
        names = {name: next(iter(of_name)) for name, of_name in orcids.items() if len(of_name) == 1}
        known = set(names.values())
        spelled = ((name, name.translate(_STROKES)) for name in sorted(stroked))
        pairs = ((names.get(name, name), names.get(plain, plain)) for name, plain in spelled)
        self._join([pair for pair in pairs if not known.issuperset(pair)], max_authors)

    def _join(self, pairs: Iterable[tuple[str, str]], max_authors: int) -> None:
        """Make one of two authors whose names differ in strokes, if both wrote with one of the same people, and never together.

        Args:
            pairs: their keys, of which one at most is an ORCID.
        """
        joined: dict[str, str] = {}
        for key, plain in pairs:
            own, other = self._number_of(key), self._number_of(plain)
            if own < 0 or other < 0:
                continue
            beside_own, beside_other = self._beside(own, max_authors), self._beside(other, max_authors)
            if beside_own & beside_other - {own, other} and own not in beside_other:
                self._authors[self._authors == other] = own
                joined[plain] = key
        self.first = [joined.get(key, key) for key in self.first] if joined else self.first
        self.different -= len(joined)

    def _beside(self, author: int, max_authors: int) -> set[int]:
        """Return who wrote with an author, itself too, of papers with at most so many."""
        beside: set[int] = set()
        for paper in np.searchsorted(self._begins, np.flatnonzero(self._authors == author), "right") - 1:
            begin, count = self._begins[paper], self._counts[paper]
            if count <= max_authors:
                beside.update(self._authors[begin : begin + count].tolist())
        return beside

    def _number_of(self, key: str) -> int:
        """Return the number of an author, -1 for one who has written nothing."""
        at = int(np.searchsorted(self._hashes, hash(key)))
        return at if at < len(self._hashes) and self._hashes[at] == hash(key) else -1

    def by_id(self, pruning: Pruning) -> Iterator[tuple[str, str, GraphReason | None]]:
        """List each paper with its first author, and why it is not on the graph, components aside."""
        old = (self._days < pruning.papers_from.toordinal()).tolist()
        # Those whose first author has no newer paper, in any author position.
        newest = np.zeros(len(self._hashes), np.int64)
        np.maximum.at(newest, self._authors, np.repeat(self._days, self._counts))
        inactive = (newest[self._authors[self._begins]] < pruning.active_from.toordinal()).tolist()
        for i in sorted(range(len(self.ids)), key=self.ids.__getitem__):
            reason: GraphReason | None = None
            if pruning.members is not None and self._first_names[i] not in pruning.members:
                reason = "not_visited"
            elif old[i] or inactive[i]:
                reason = "too_old" if old[i] else "inactive_author"
            yield self.ids[i], self.first[i], reason

    def shared(self, nodes: Sequence[str], max_authors: int) -> csr_array:
        """Return how many papers two nodes share, shape (nodes, nodes)."""
        numbers = np.full(len(self._hashes), -1, np.int64)
        numbers[np.searchsorted(self._hashes, np.array(list(map(hash, nodes)), np.int64))] = range(len(nodes))
        of_place = numbers[self._authors]
        paper = np.repeat(np.arange(len(self.ids)), self._counts)
        counts = np.repeat(self._counts, self._counts)
        mask = (of_place >= 0) & (counts <= max_authors)
        # Each author of a paper once, papers one after another.
        who = np.unique(paper[mask] * max(1, len(nodes)) + of_place[mask])
        paper, who = np.divmod(who, max(1, len(nodes)))
        pairs = np.concatenate([np.empty(0, np.int64), *_pairs(paper, who, len(nodes))])
        unique_pairs, counts = np.unique(pairs, return_counts=True)
        first, second = np.divmod(unique_pairs, max(1, len(nodes)))
        half = csr_array((counts, (first, second)), shape=(len(nodes), len(nodes)), dtype=np.int64)
        return csr_array(half + half.T)


def _pairs(paper: NDArray[np.int64], who: NDArray[np.int64], nodes: int) -> Iterator[NDArray[np.int64]]:
    """Yield every two nodes that share a paper, as `first * nodes + second`; papers with the same number of nodes together."""
    _, begins, together = np.unique(paper, return_index=True, return_counts=True)
    for n in np.unique(together[together > 1]).tolist():
        group = who[begins[together == n][:, None] + np.arange(n)]
        first, second = np.triu_indices(n, 1)
        yield (group[:, first] * nodes + group[:, second]).ravel()
