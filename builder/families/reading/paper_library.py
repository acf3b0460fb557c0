"""The papers that reading families know: those of a round, or of a file, and what they cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from builder.families.reading.papers_read import PaperRead
from builder.families.reading.text import abstract_text
from builder.records import Cited, Citing, Document, Paper

# Papers whose texts are kept in memory.
_KEPT = 1024
NOTHING = Document("", "", ())


class PaperLibrary:
    """The papers that can be shown, read when they are wanted.

    Args:
        citing: id -> a paper of the round with its document, and what it cites.
        cited: id of a paper of the round -> ids of the works that it cites.
        known: id -> what is known of a cited work; None for nothing.
        around: a new paper -> the other papers, the nearest first.
    """

    def __init__(
        self,
        citing: Mapping[str, Callable[[], Citing]],
        cited: Callable[[str], Collection[str]],
        known: Callable[[str], Cited | None],
        around: Callable[[Paper], Sequence[Paper]],
    ) -> None:
        self._citing, self._cited, self._known, self.around = citing, cited, known, around
        self.read = lru_cache(maxsize=_KEPT)(self._read)

    def _read(self, id_: str) -> PaperRead:
        if id_ in self._citing:
            citing = self._citing[id_]()
            return PaperRead(citing.paper, citing.document, citing.cited)
        cited = self._known(id_)
        assert cited is not None, f"{id_} was chosen without being known"
        return PaperRead(cited.paper, cited.document or NOTHING, {})

    def work(self, id_: str) -> Cited | None:
        """What is known of a cited work."""
        return self._known(id_)

    def text(self, id_: str, *, whole: bool) -> str:
        """What a configuration of texts has of a paper: all of it, or title and abstract."""
        read = self.read(id_)
        return read.shown.text if whole else abstract_text(read.paper)

    def cited_nearby(self, paper: Paper) -> Iterator[str]:
        """The works that the other papers cite, those of the nearest first, each once."""
        seen: set[str] = set()
        for other in self.around(paper):
            for id_ in sorted(set(self._cited(other.id)) - seen):
                seen.add(id_)
                yield id_

    @cached_property
    def citations(self) -> Counter[str]:
        """Cited work -> how many of the papers cite it."""
        return Counter(cited for id_ in self._citing for cited in set(self._cited(id_)))
