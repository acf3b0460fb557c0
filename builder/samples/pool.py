"""What the samples of a round are drawn from: its papers, their texts for the tasks, and who wrote with whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from builder.citations.link import cited_in_related_work
from builder.collect.graph import CoAuthorGraph
from builder.records import CitedPaper, Paper, Task
from builder.round.model import Round
from builder.samples import task_view
from builder.samples.tokens import TokenCounter, input_texts

if TYPE_CHECKING:
    from builder.extract.stage import Documents
    from builder.store import Store

_CACHED_TEXTS = 512


class Texts:
    """The texts of papers for the tasks, read from the store as needed and kept for a while."""

    def __init__(self, store: Store, documents: Documents, count: TokenCounter) -> None:
        self._store, self._count = store, count
        self.document = lru_cache(maxsize=_CACHED_TEXTS)(documents.__getitem__)
        self.parts = lru_cache(maxsize=_CACHED_TEXTS)(self._parts)
        self._tokens: dict[tuple[str, Task], tuple[int, int]] = {}

    def _parts(self, paper: Paper, task: Task) -> tuple[str, str]:
        document = self.document(paper.id)
        return task_view.content(document, task), task_view.target(paper, document, task)

    def tokens(self, paper: Paper, task: Task) -> tuple[int, int]:
        """Tokens of the paper as a target's input, and as a demonstration."""
        if (known := self._tokens.get((paper.id, task))) is not None:
            return known
        content, output = self.parts(paper, task)
        citations = self.citations(paper) if task == "related" else ()
        own = input_texts(paper.title, paper.abstract, content, task)
        cited = [text for one in citations for text in (one.title, one.abstract)]
        counts = self._count([*own, *cited, output])
        self._tokens[paper.id, task] = found = (sum(counts[:-1]), sum(counts[: len(own)]) + counts[-1])
        return found

    def citations(self, paper: Paper) -> tuple[CitedPaper, ...]:
        """The resolved citations of the paper's related work, in order of mention."""
        related = set(cited_in_related_work(self.document(paper.id)))
        links = (link for link in self._store.links(paper.id) if link.cited_id and link.reference in related)
        return tuple(
            CitedPaper(known.id, known.title, known.abstract)
            for known in self._store.papers(link.cited_id for link in links)
        )


@dataclass(frozen=True, slots=True)
class Pool:
    """What samples are drawn from.

    Attributes:
        papers: those with a usable document, by id.
        copies: ids of papers that are nearly the same as older ones, and shown neither as targets nor as demonstrations.
    """

    round_: Round
    papers: Mapping[str, Paper]
    graph: CoAuthorGraph
    texts: Texts
    copies: frozenset[str] = frozenset()
