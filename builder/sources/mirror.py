"""A source that is a folder: metadata in Kaggle's snapshot format or plain JSON lines, with pdf/ and html/ next to it.

`sources.metadata_file` reads the metadata, and says which shapes of records it knows; `sources.metadata_index` keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING
from weakref import finalize

from builder.errors import SourceError
from builder.ids import PaperId, author_key, stem_of, with_version
from builder.sources.metadata_index import MetadataIndex
from lm_eval_tasks.base.text import title_key

if TYPE_CHECKING:
    from builder.records import Drop, FileKind, Paper
    from builder.round.model import Round
    from builder.round.source import MirrorTable
    from builder.store import Store

_NAMES = ("arxiv-metadata-oai-snapshot.json", "metadata.jsonl", "meta.jsonl")
_SUFFIXES = ("", ".gz", ".xz", ".zst")


class MirrorSource:
    """A folder of arXiv metadata and files.

    Args:
        folder: the mirror's folder.
        metadata: name of the metadata file in it; by default the first of the usual names.
        pdf, html: names of the folders with files, which are named by arXiv id, with or without version, `_` for `/`.
        index: where to keep an index of the records; without it one is made for the lifetime of this source.

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

    @cached_property
    def _index(self) -> MetadataIndex:
        if self._index_path is not None:
            return MetadataIndex(self.metadata, self._index_path)
        place = Path(mkdtemp())
        finalize(self, rmtree, place, ignore_errors=True)
        return MetadataIndex(self.metadata, place / "index.sqlite3")

    def fingerprint(self) -> str:
        return self._index.fingerprint

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        papers = self._index.by_author(author_key(name))
        return (paper for paper in papers if (first or date.min) <= paper.published <= (last or date.max))

    def similar_authors(self, name: str) -> list[str]:
        names = []
        for key in self._index.near_authors(author_key(name), 5):
            printed = (author for paper in self._index.by_author(key) for author in paper.authors)
            names += [author for author in printed if author_key(author) == key][:1]
        return names

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        return self._index.by_ids(sorted({parsed.bare for name in ids if (parsed := PaperId.parse(name))}))

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        return self._index.between(first or date.min, last or date.max)

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        return self._index.by_titles(list(map(title_key, titles)))

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """None: a mirror's records carry them."""
        return iter(())

    def fetch(self, kind: FileKind, paper_id: str, version: int) -> Path | None:
        if kind == "pdf":
            return _first_file(self._pdf, paper_id, version, (".pdf",))
        return _first_file(self._html, paper_id, version, (".html", ".html.xz"))


def _find_metadata(folder: Path) -> Path:
    for name in _NAMES:
        for suffix in _SUFFIXES:
            if (path := folder / (name + suffix)).is_file():
                return path
    raise SourceError(f"the mirror {folder} contains none of {', '.join(_NAMES)} (plain, .gz, .xz or .zst)")


def _first_file(folder: Path, paper_id: str, version: int, suffixes: tuple[str, ...]) -> Path | None:
    stem = stem_of(paper_id)
    candidates = (folder / f"{name}{suffix}" for name in (with_version(stem, version), stem) for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def open_source(table: MirrorTable, round_: Round, store: Store) -> MirrorSource:
    """The mirror of a round; its index lies in the workspace."""
    return MirrorSource(table.path, table.metadata, table.pdf, table.html, round_.workspace / "mirror.sqlite3")
