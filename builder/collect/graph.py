"""The co-author graph: nodes are authors with a first-author paper, edges join authors who wrote together.

Section 3.1 of the AcademicEval paper: authors who appear only as co-authors are removed, then the largest connected
component is kept. Papers with very many authors say little about who works with whom and add no edges. Pruning (section 3.3) takes
old papers and inactive authors off; the edges that old papers made stay, so that pruning cuts as little as it can.

Of the names of all authors only a hash is held, and edges are an array: an archive has millions of both.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from hashlib import blake2b
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from builder.ids import author_key
from builder.report import StageReport

if TYPE_CHECKING:
    from builder.records import GraphReason, Paper


class Written(Protocol):
    """What the graph is made of: who wrote what, and when."""

    @property
    def id(self) -> str: ...
    @property
    def published(self) -> date: ...
    @property
    def authors(self) -> tuple[str, ...]: ...


@dataclass(frozen=True)
class CoAuthorGraph:
    """The graph of a round and the papers on it.

    Attributes:
        nodes: author keys, sorted.
        shared: how many papers two of them share, shape (nodes, nodes).
        papers: author key -> ids of the author's first-author papers, oldest id first.
        authors, first_authors: how many there were before any was removed.
    """

    nodes: tuple[str, ...]
    shared: csr_array
    papers: dict[str, tuple[str, ...]]
    authors: int
    first_authors: int

    @property
    def edges(self) -> int:
        """How many pairs of authors wrote together."""
        return int(self.shared.nnz) // 2

    def neighbour_papers(self, paper: Paper) -> list[str]:
        """First-author papers of the co-authors of a paper's first author, by id."""
        place = self._places.get(author_key(paper.authors[0]))
        if place is None:
            return []
        neighbours = self.shared.indices[self.shared.indptr[place] : self.shared.indptr[place + 1]]
        return sorted({id_ for i in neighbours.tolist() for id_ in self.papers.get(self.nodes[i], ())})

    @cached_property
    def _places(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.nodes)}

    @cached_property
    def graph(self) -> nx.Graph[str]:
        """The same for networkx: edge attribute `weight` counts shared papers. It takes some 500 bytes an edge."""
        numbered: nx.Graph[Any] = nx.from_scipy_sparse_array(self.shared)
        return nx.relabel_nodes(numbered, dict(enumerate(self.nodes)))


def build_graph(
    papers: Iterable[Written],
    max_authors: int,
    component: str,
    *,
    members: frozenset[str] | None = None,
    papers_from: date = date.min,
    active_from: date = date.min,
) -> tuple[CoAuthorGraph, StageReport]:
    """Build the graph of the given papers and report which of them are on it.

    Args:
        papers: read once.
        max_authors: papers with more authors add no edges.
        component: "largest" keeps the largest connected component, "all" keeps every first author.
        members: keys of the authors that the crawl has visited; None where it took every paper.
        papers_from: older papers are pruned.
        active_from: authors whose newest paper, in any position, is older are pruned.

    Drop reasons: not_visited, too_old, inactive_author, outside_component.
    """
    written = _Papers(papers)
    newest = written.newest()
    report = StageReport("graph")
    first: dict[str, list[str]] = {}
    for i, (id_, author) in enumerate(zip(written.ids, written.first, strict=True)):
        reason: GraphReason | None = None
        if members is not None and author not in members:
            reason = "not_visited"
        elif written.days[i] < papers_from.toordinal():
            reason = "too_old"
        elif newest[written.begins[i]] < active_from.toordinal():
            reason = "inactive_author"
        if reason:
            report.drop(id_, reason)
        else:
            first.setdefault(author, []).append(id_)
    nodes = sorted(first)
    shared = written.shared(nodes, max_authors)
    if component == "largest" and nodes:
        kept = _largest(shared)
        nodes, shared = [nodes[i] for i in kept.tolist()], shared[kept][:, kept]
    on_graph = set(nodes)
    for author, ids in first.items():
        if author in on_graph:
            report.kept += len(ids)
        else:
            for id_ in ids:
                report.drop(id_, "outside_component")
    report.check(len(written.ids))
    found = {author: tuple(ids) for author, ids in first.items() if author in on_graph}
    return CoAuthorGraph(tuple(nodes), csr_array(shared), found, written.different, len(first)), report


class _Papers:
    """Who wrote what, packed. Authors go by the places that the sorted hashes of their keys have.

    Attributes:
        ids, days: of the papers; days as ordinals.
        first: key of each paper's first author.
        begins: where the authors of each paper begin in `authors`, and the end of all.
        authors: of all papers, one after another.
        different: how many authors there are.
    """

    def __init__(self, papers: Iterable[Written]) -> None:
        self.ids: list[str] = []
        self.days, self.begins, hashes = array("l"), array("q", [0]), array("Q")
        self.first: list[str] = []
        keys: dict[str, str] = {}
        for paper in papers:
            self.ids.append(paper.id)
            self.days.append(paper.published.toordinal())
            key = author_key(paper.authors[0])
            self.first.append(keys.setdefault(key, key))
            hashes.extend(map(_hash, paper.authors))
            self.begins.append(len(hashes))
        self._hashes, self.authors = np.unique(np.frombuffer(hashes, np.uint64), return_inverse=True)
        self.different = len(self._hashes)

    def newest(self) -> NDArray[np.int64]:
        """For each place in `authors` the day of the newest paper of who stands there."""
        newest = np.zeros(self.different, np.int64)
        begins = np.array(self.begins, np.int64)
        counts = begins[1:] - begins[:-1]
        np.maximum.at(newest, self.authors, np.repeat(np.array(self.days, np.int64), counts))
        return newest[self.authors]

    def shared(self, nodes: Sequence[str], max_authors: int) -> csr_array:
        """How many papers two nodes share, shape (nodes, nodes)."""
        numbers = np.full(self.different, -1, np.int64)
        numbers[np.searchsorted(self._hashes, np.array([_hash(key) for key in nodes], np.uint64))] = range(len(nodes))
        of_paper = numbers[self.authors]
        pairs = array("q")
        for begin, end in zip(self.begins, self.begins[1:], strict=False):
            if end - begin <= max_authors:
                together = sorted({number for number in of_paper[begin:end].tolist() if number >= 0})
                pairs.extend(one * len(nodes) + other for one, other in combinations(together, 2))
        found, counts = np.unique(np.frombuffer(pairs, np.int64), return_counts=True)
        one, other = np.divmod(found, max(1, len(nodes)))
        shape = len(nodes), len(nodes)
        half = csr_array((counts, (one, other)), shape=shape, dtype=np.int64)
        return csr_array(half + half.T)


def _hash(name: str) -> int:
    """What stands for an author: 64 bits, which two of ten million share once in 400,000 rounds."""
    return int.from_bytes(blake2b(author_key(name).encode(), digest_size=8).digest(), "little")


def _largest(shared: csr_array) -> NDArray[Any]:
    """The nodes of the largest component; of two such the one whose first author comes later."""
    _, labels = connected_components(shared, directed=False)
    sizes = np.bincount(labels)
    _, firsts = np.unique(labels, return_index=True)
    best = max(range(len(sizes)), key=lambda label: (sizes[label], firsts[label]))
    return np.flatnonzero(labels == best)
