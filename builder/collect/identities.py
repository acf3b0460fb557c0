"""Who is who among the authors of a graph: by ORCID where it is known, by name otherwise.

An author with an ORCID is that person under any spelling. A name that one ORCID alone goes with is that person's, also on papers
that do not give the ORCID. A name that several go with is told apart where the ORCID is given; without it, it is one more author, so
that two ORCIDs are never merged. A consortium is nobody's co-author.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from builder.ids import author_key
from builder.records import GROUP, Authorship, Paper


class Identities:
    """The ORCIDs that go with each name; false if none is known."""

    def __init__(self) -> None:
        self._orcids: dict[str, set[str]] = {}

    def note(self, paper: Authorship | Paper) -> None:
        for name, author_id in zip(paper.authors, paper.author_ids, strict=False):
            if author_id and author_id != GROUP:
                self._orcids.setdefault(author_key(name), set()).add(author_id)

    def keys(self, paper: Authorship | Paper) -> Iterator[str]:
        """The key of each author of a paper, once all papers have been noted."""
        ids = paper.author_ids or ("",) * len(paper.authors)
        for name, author_id in zip(paper.authors, ids, strict=True):
            yield f"{GROUP} {paper.id} {name}" if author_id == GROUP else author_id or self._by_name(author_key(name))

    def _by_name(self, key: str) -> str:
        """The only ORCID of a name, else the name."""
        orcids = self._orcids.get(key, ())
        return next(iter(orcids)) if len(orcids) == 1 else key

    def __bool__(self) -> bool:
        return bool(self._orcids)

    @property
    def known(self) -> int:
        """How many ORCIDs there are."""
        return len(set[str]().union(*self._orcids.values()))

    @property
    def shared(self) -> int:
        """How many names several ORCIDs go with."""
        return sum(len(orcids) > 1 for orcids in self._orcids.values())


def identities_of(papers: Iterable[Authorship | Paper]) -> Identities:
    """The identities of all authors of some papers."""
    identities = Identities()
    for paper in papers:
        identities.note(paper)
    return identities
