"""A source that is a folder: metadata in Kaggle's snapshot format or as plain JSON lines, with pdf/ and html/ beside it.

Metadata is streamed line by line and never held whole. Two record shapes are read: the snapshot's
(https://www.kaggle.com/datasets/Cornell-University/arxiv: `versions`, `authors_parsed`, `categories` as one text) and
plain lines with `published`, `authors` and `categories` as lists.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TextIO

import zstandard

from builder.errors import SourceError
from builder.keys import author_key, id_to_stem, parse_arxiv_id, title_key
from builder.progress import progress
from builder.records import UNKNOWN_LICENSE, Drop, Paper
from builder.store import Store

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
        wanted = frozenset(parsed[0] for name in ids if (parsed := parse_arxiv_id(name)))
        return self._where(lambda paper: paper.id in wanted) if wanted else iter(())

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        for item in read_metadata(self.metadata):
            if isinstance(item, Paper) and not ((first or date.min) <= item.published <= (last or date.max)):
                yield Drop(item.id, "outside_window")
            else:
                yield item

    def search_title(self, title: str) -> Iterator[Paper | Drop]:
        key = title_key(title)
        if self._index:
            return self._index.papers(self._index.ids_by_title(key))
        return self._where(lambda paper: title_key(paper.title) == key)

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
    stem = id_to_stem(paper_id)
    candidates = (folder / f"{name}{suffix}" for name in (f"{stem}v{version}", stem) for suffix in suffixes)
    return next((path for path in candidates if path.is_file()), None)


def file_fingerprint(path: Path) -> str:
    """Name, size and time of a metadata file: reading all of a snapshot to hash it would take minutes."""
    stat = path.stat()
    return f"{path.name}:{stat.st_size}:{stat.st_mtime_ns}"


def read_metadata(path: Path) -> Iterator[Paper | Drop]:
    """Stream the records of a metadata file; a line that is no usable record is a `Drop` named by its line number.

    Raises:
        SourceError: the file cannot be read or decompressed.
    """
    try:
        with _open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _parse_line(line, f"{path.name}:{number}")
    except (OSError, EOFError, lzma.LZMAError, zstandard.ZstdError, UnicodeDecodeError) as err:
        raise SourceError(f"cannot read the metadata file {path}: {err}") from err


def _open_text(path: Path) -> TextIO:
    match path.suffix:
        case ".gz":
            return gzip.open(path, "rt", encoding="utf-8")
        case ".xz":
            return lzma.open(path, "rt", encoding="utf-8")
        case ".zst":
            return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(path.open("rb")), encoding="utf-8")
        case _:
            return path.open(encoding="utf-8")


def _parse_line(line: str, where: str) -> Paper | Drop:
    try:
        record = json.loads(line)
        paper = paper_from_record(record)
        # arXiv has no flag for withdrawal; authors or moderators say so in the comment.
        withdrawn = "withdrawn" in (record.get("comments") or "").casefold()
        return Drop(paper.id, "withdrawn") if withdrawn else paper
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        return Drop(where, "bad_record")


def paper_from_record(record: dict[str, Any]) -> Paper:
    """One metadata record, of either shape, as a `Paper`.

    Raises:
        ValueError, KeyError, TypeError, IndexError: a field is missing or not what it should be.
    """
    parsed = parse_arxiv_id(record["id"])
    if parsed is None:
        raise ValueError(f"{record['id']!r} is no arXiv id")
    versions = record.get("versions")
    if versions:
        published = parsedate_to_datetime(versions[0]["created"]).date()
        updated = parsedate_to_datetime(versions[-1]["created"]).date()
        version = int(versions[-1]["version"].lstrip("v"))
    else:
        published = date.fromisoformat(record["published"][:10])
        updated = date.fromisoformat((record.get("updated") or record["published"])[:10])
        version = int(str(record.get("version") or parsed[1] or 1).lstrip("v"))
    categories = record["categories"]
    authors = _authors(record)
    if not authors:
        raise ValueError("a record without authors")
    return Paper(
        id=parsed[0],
        version=version,
        title=" ".join(record["title"].split()),
        abstract=" ".join((record.get("abstract") or "").split()),
        authors=authors,
        categories=tuple(categories.split() if isinstance(categories, str) else categories),
        published=published,
        updated=max(published, updated),
        license=record.get("license") or UNKNOWN_LICENSE,
        doi=(record.get("doi") or "").strip().partition(" ")[0].lower(),
    )


def _authors(record: dict[str, Any]) -> tuple[str, ...]:
    parsed = record.get("authors_parsed")
    if parsed:
        names = (" ".join(part for part in (first, last, suffix) if part) for last, first, suffix, *_ in parsed)
    elif isinstance(record["authors"], str):
        names = (name for part in record["authors"].split(",") for name in part.split(" and "))
    else:
        names = iter(record["authors"])
    return tuple(name for raw in names if (name := " ".join(raw.split())))
