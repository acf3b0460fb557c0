"""A source that is a folder: metadata in Kaggle's snapshot format or as plain JSON lines, with pdf/ and html/ beside it.

`sources.metadata_file` reads the metadata, and says which shapes of records it knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from builder.errors import SourceError
from builder.ids import PaperId, author_key, title_key
from builder.progress import progress
from builder.records import Drop, Paper
from builder.sources.metadata_file import file_fingerprint, read_metadata
from builder.store import Store

if TYPE_CHECKING:
    from builder.round.model import Round
    from builder.round.source import MirrorTable

_NAMES = ("arxiv-metadata-oai-snapshot.json", "metadata.jsonl", "meta.jsonl")
_SUFFIXES = ("", ".gz", ".xz", ".zst")


class MirrorSource:
    """A folder of arXiv metadata and files.

    Args:
        folder: the mirror's folder.
        metadata: name of the metadata file in it; by default the first of the usual names.
        pdf, html: names of the folders with files, called by arXiv id, with or without version, `_` for `/`.
        index: where to keep an index of the records; without it they are read anew for every look-up.

    Raises:
        SourceError: no such folder or no metadata file in it.
    """

    def __init__(
        self, folder: Path, metadata: str | None = None, pdf: str = "pdf", html: str = "html", index: Path | None = None
    ) -> None:
        if not folder.is_dir():
            raise SourceError(f"the mirror {folder} is not a folder; `path` in round.toml says where it is")
        self.metadata = folder / metadata if metadata else _find_metadata(folder)
        if not self.metadata.is_file():
            raise SourceError(f"the mirror has no metadata file {self.metadata}")
        self._pdf, self._html = folder / pdf, folder / html
        self._index_path = index

    def fingerprint(self) -> str:
        return file_fingerprint(self.metadata)

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        key = author_key(name)
        if self._index:
            papers: Iterable[Paper] = self._index.papers_by_author(key)
        else:
            papers = self._where(lambda paper: any(author_key(author) == key for author in paper.authors))
        return (paper for paper in papers if (first or date.min) <= paper.published <= (last or date.max))

    def similar_authors(self, name: str) -> list[str]:
        authors = {author_key(author): author for paper in self._where(lambda _: True) for author in paper.authors}
        return [authors[key] for key in get_close_matches(author_key(name), authors, n=5)]

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        """In one pass over the file: many ids at once are worth no index."""
        wanted = frozenset(parsed.bare for name in ids if (parsed := PaperId.parse(name)))
        return self._where(lambda paper: paper.id in wanted) if wanted else iter(())

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        for item in read_metadata(self.metadata):
            if isinstance(item, Paper) and not ((first or date.min) <= item.published <= (last or date.max)):
                yield Drop(item.id, "outside_window")
            else:
                yield item

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        keys = tuple(map(title_key, titles))
        if self._index:
            return self._index.papers(sorted({id_ for key in keys for id_ in self._index.ids_by_title_prefix(key)}))
        return self._where(lambda paper: title_key(paper.title).startswith(keys))

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """None: a mirror's records carry them."""
        return iter(())

    def fetch_pdf(self, paper_id: str, version: int) -> Path | None:
        return _first_file(self._pdf, paper_id, version, (".pdf",))

    def fetch_html(self, paper_id: str, version: int) -> Path | None:
        return _first_file(self._html, paper_id, version, (".html", ".html.xz"))

    @cached_property
    def _index(self) -> Store | None:
        """The records in a store of their own, made when first asked for and again when the file has changed."""
        if self._index_path is None:
            return None
        index = Store.open(self._index_path)
        if index.note("of") != self.fingerprint():
            index.close()
            for path in self._index_path.parent.glob(f"{self._index_path.name}*"):
                path.unlink()
            index = Store.open(self._index_path)
            records = read_metadata(self.metadata)
            index.add_papers((item for item in progress(records, "index") if isinstance(item, Paper)), since="mirror")
            with index.transaction():
                index.index_authors()
                index.set_note("of", self.fingerprint())
        return index

    def _where(self, keep: Callable[[Paper], bool]) -> Iterator[Paper]:
        return (item for item in read_metadata(self.metadata) if isinstance(item, Paper) and keep(item))


def _find_metadata(folder: Path) -> Path:
    for name in _NAMES:
        for suffix in _SUFFIXES:
            if (path := folder / (name + suffix)).is_file():
                return path
    raise SourceError(f"the mirror {folder} holds none of {', '.join(_NAMES)} (plain, .gz, .xz or .zst)")


def _first_file(folder: Path, paper_id: str, version: int, suffixes: tuple[str, ...]) -> Path | None:
    stem = PaperId(paper_id).stem
    candidates = (folder / f"{name}{suffix}" for name in (f"{stem}v{version}", stem) for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def open_source(table: MirrorTable, round_: Round, store: Store) -> MirrorSource:
    """The mirror of a round; its index lies in the workspace."""
    return MirrorSource(table.path, table.metadata, table.pdf, table.html, round_.workspace / "mirror.sqlite3")
