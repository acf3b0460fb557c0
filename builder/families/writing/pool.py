"""What the samples of a round are drawn from: its papers as the tasks show them, and who wrote with whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from builder.collect.graph import CoAuthorGraph
from builder.families.writing.cut import Cut


@dataclass(frozen=True, slots=True)
class Pool:
    """What samples are drawn from.

    Attributes:
        cuts: the papers with a usable document, by id.
        seed: the round's.
        min_citations: resolved citations that a target of the related-work task needs.
        excluded: ids of papers that are no targets.
        copies: ids of papers that are nearly the same as older ones, and shown neither as targets nor as demonstrations.
    """

    cuts: Mapping[str, Cut]
    graph: CoAuthorGraph
    seed: int
    min_citations: int
    copies: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
