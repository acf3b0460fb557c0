"""Where papers and their files come from, and what every source offers; the only room of the builder that opens a connection."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from builder.records import Drop, FileType, Paper
    from builder.round.model import Round
    from builder.store import Store

# As many as fit into an address.
TITLES_AT_ONCE = 8


class Source(Protocol):
    """A place that papers come from. Implementations are the only code that reads or asks for them.

    Records that cannot become a `Paper` are yielded as `Drop`, so that none vanishes uncounted.
    """

    def fingerprint(self) -> str:
        """Return a text that changes when the source's metadata may have changed."""

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        """Yield the papers of these days with an author of this name (compared by `ids.author_key`)."""

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        """Yield the papers of these ids, bare or with the version that is wanted; unknown ids yield nothing."""

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        """Yield the papers whose version 1 was submitted between these days, both included; None leaves an end open."""

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        """Yield the papers whose title is one of these, up to `TITLES_AT_ONCE`, or begins with it (compared by `text.title_key`)."""

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """Yield (id, licence) of the papers, `NO_LICENSE` if the source knows none; nothing if it cannot be asked."""

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        """Return a local file of the paper, of one of the kinds in `SourceTable.FILES`; None if the source has none."""


def open_source(round_: Round, store: Store) -> Source:
    """Open the source that round.toml names, of which the store keeps the answers; a SourceError if it is not there.

    Only its own module is imported.
    """
    source: Source = pkgutil.resolve_name(round_.source.OPENS)(round_.source, round_, store)
    return source
