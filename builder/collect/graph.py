"""The co-author graph: nodes are authors with a first-author paper, edges join authors who wrote together.

Section 3.1 of the AcademicEval paper: authors who appear only as co-authors are removed, then the largest connected
component is kept. Papers with very many authors say little about who works with whom and add no edges. Pruning (section 3.3) takes
old papers and inactive authors off; the edges that old papers made stay, so that pruning cuts as little as it can.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING

import networkx as nx

from builder.ids import author_key
from builder.report import StageReport

if TYPE_CHECKING:
    from builder.records import GraphReason, Paper


@dataclass(frozen=True, slots=True)
class CoAuthorGraph:
    """The graph of a round and the papers on it.

    Attributes:
        graph: nodes are author keys, edge attribute `weight` counts the papers that two authors share.
        papers: author key -> ids of the author's first-author papers, oldest id first.
        authors, first_authors: how many there were before any was removed.
    """

    graph: nx.Graph[str]
    papers: dict[str, tuple[str, ...]]
    authors: int
    first_authors: int

    def neighbour_papers(self, paper: Paper) -> list[str]:
        """First-author papers of the co-authors of a paper's first author, by id."""
        author = author_key(paper.authors[0])
        if author not in self.graph:
            return []
        return sorted({id_ for neighbour in self.graph[author] for id_ in self.papers.get(neighbour, ())})


def build_graph(
    papers: Iterable[Paper],
    max_authors: int,
    component: str,
    *,
    members: frozenset[str] | None = None,
    papers_from: date = date.min,
    active_from: date = date.min,
) -> tuple[CoAuthorGraph, StageReport]:
    """Build the graph of the given papers and report which of them are on it.

    Args:
        papers: read once; only ids and author keys are kept.
        max_authors: papers with more authors add no edges.
        component: "largest" keeps the largest connected component, "all" keeps every first author.
        members: keys of the authors that the crawl has visited; None where it took every paper.
        papers_from: older papers are pruned.
        active_from: authors whose newest paper, in any position, is older are pruned.

    Drop reasons: not_visited, too_old, inactive_author, outside_component.
    """
    keys: dict[str, str] = {}
    written = [(paper.id, paper.published, tuple(_key(name, keys) for name in paper.authors)) for paper in papers]
    newest: dict[str, date] = {}
    for _, published, authors in written:
        newest.update((author, published) for author in authors if published > newest.get(author, date.min))
    report = StageReport("graph")
    first: dict[str, list[str]] = {}
    for paper_id, published, authors in written:
        reason = _pruned(authors[0], published, newest, members, papers_from, active_from)
        if reason:
            report.drop(paper_id, reason)
        else:
            first.setdefault(authors[0], []).append(paper_id)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(sorted(first))
    for _, _, authors in written:
        if len(authors) <= max_authors:
            _join(graph, [author for author in dict.fromkeys(authors) if author in first])
    if component == "largest" and graph:
        keep = max(nx.connected_components(graph), key=lambda nodes: (len(nodes), min(nodes)))
        graph.remove_nodes_from([node for node in graph if node not in keep])
    for author, ids in first.items():
        if author in graph:
            report.kept += len(ids)
        else:
            for paper_id in ids:
                report.drop(paper_id, "outside_component")
    report.check(len(written))
    kept = {author: tuple(ids) for author, ids in first.items() if author in graph}
    return CoAuthorGraph(graph, kept, len(set(keys.values())), len(first)), report


def _pruned(
    author: str, published: date, newest: dict[str, date], members: frozenset[str] | None, papers_from: date,
    active_from: date,
) -> GraphReason | None:  # fmt: skip
    """Why a first-author paper is not on the graph, whatever its component; None where it is."""
    if members is not None and author not in members:
        return "not_visited"
    if published < papers_from:
        return "too_old"
    return "inactive_author" if newest[author] < active_from else None


def _key(name: str, keys: dict[str, str]) -> str:
    """The author's key; names and keys recur, so that each is folded and held once."""
    key = keys.get(name)
    if key is None:
        key = keys[name] = sys.intern(author_key(name))
    return key


def _join(graph: nx.Graph[str], authors: list[str]) -> None:
    for a, b in combinations(authors, 2):
        if graph.has_edge(a, b):
            graph[a][b]["weight"] += 1
        else:
            graph.add_edge(a, b, weight=1)
