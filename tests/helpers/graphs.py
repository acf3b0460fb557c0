"""The co-author graph as networkx has it."""

from __future__ import annotations

from typing import Any

import networkx as nx

from builder.collect.graph import CoAuthorGraph


def as_networkx(graph: CoAuthorGraph) -> nx.Graph[Any]:
    """The same graph; the edge attribute `weight` counts shared papers."""
    return nx.relabel_nodes(nx.from_scipy_sparse_array(graph.shared), dict(enumerate(graph.nodes)))
