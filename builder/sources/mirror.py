"""Sources that are folders: metadata in Kaggle's snapshot format or plain JSON lines with pdf/ and html/ next to it; or PDFs with a
table of them (`builder.extract.pdf_table` makes it), which its owner may correct.

`sources.metadata_file` reads the metadata, and says which shapes of records it knows; an index keeps them.
"""

import logging
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property
from itertools import islice
from pathlib import Path

from builder.errors import SourceError, StoreError
from builder.ids import PaperId, author_key, bare_id, stem_of, with_version
from builder.records import Drop, FileType, Paper
from builder.round.model import Round
from builder.round.source import MirrorTable, PdfsTable
from builder.sources.metadata_file import READER, read_metadata, table_rows
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.progress import progress
from lm_eval_tasks.base.text import title_key

_LOGGER = logging.getLogger(__name__)
_BATCH = 5000
# What a paper or drop of the file is filed under.
_POOL = "mirror"


class MetadataIndex:
    """The records of one file, in a store at `path`. Made again when the file has changed; after a kill it resumes where it stopped.

    Raises:
        SourceError: the file cannot be read.
    """

    def __init__(self, metadata: Path, path: Path) -> None:
        self._metadata, self._path = metadata, path
        try:
            self._open()
        except (StoreError, sqlite3.DatabaseError) as err:
            # It contains nothing that the file does not; a full disk will report itself again.
            _LOGGER.warning("the index %s cannot be used (%s) and is rebuilt", path, err)
            self._remove()
            self._open()

    def _open(self) -> None:
        self.store = Store.open(self._path)
        self.fingerprint = self._fingerprint()
        if self.store.note("of") not in (None, [READER, self.fingerprint]):
            hashed = self.store.note("hashed")
            self.store.close()
            self._remove()
            self.store = Store.open(self._path)
            self.store.set_note("hashed", hashed)
        if self.store.note("whole") != self.fingerprint:
            self._read()

    def _remove(self) -> None:
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()

    def _fingerprint(self) -> str:
        """Return the size and hash of the file; it is only hashed again when it may have changed."""
        seen = self._file_state()
        note = self.store.note("hashed")
        if isinstance(note, dict) and note["seen"] == seen:
            return str(note["as"])
        fingerprint = f"{self._metadata.name}:{self._metadata.stat().st_size}:{sha256_of(self._metadata)}"
        self.store.set_note("hashed", {"seen": seen, "as": fingerprint})
        return fingerprint

    def _file_state(self) -> list[object]:
        """Return what tells whether the file may have changed. The last time changes with every write, and nobody can set it back."""
        stat = self._metadata.stat()
        return [str(self._metadata.resolve()), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]

    def _read(self) -> None:
        lines = self.store.note("read") or 0
        self.store.set_note("of", [READER, self.fingerprint])
        seen = self._file_state()
        items = progress(read_metadata(self._metadata, lines), "index")
        while batch := list(islice(items, _BATCH)):
            lines += len(batch)
            with self.store.transaction():
                self.store.add_batch([item for item in batch if isinstance(item, Paper)], since=_POOL)
                self.store.frontier.drop((item for item in batch if isinstance(item, Drop)), _POOL)
                self.store.set_note("read", lines)
        if seen != self._file_state():
            self.store.close()
            self._remove()
            raise SourceError(f"{self._metadata} changed while it was being read; run the same command again")
        with self.store.transaction():
            self.store.index_authors()
            self.store.set_note("whole", self.fingerprint)

    def between(self, first: date, last: date) -> Iterator[Paper | Drop]:
        """Yield the papers of some days, by day and id; then what could not be taken, and the papers of other days, as drops."""
        yield from self.store.published_between(first, last)
        yield from self.store.frontier.dropped(_POOL)
        yield from (Drop(id_, "outside_window") for id_ in self.store.published_outside(first, last))


_NAMES = ("arxiv-metadata-oai-snapshot.json", "metadata.jsonl", "meta.jsonl")


_ENDINGS: dict[FileType, tuple[str, ...]] = {"pdf": (".pdf",), "html": (".html", ".html.xz")}
_MONTH = re.compile(r"\d{4}")


def count_papers(folder: Path) -> int | None:
    """Count the papers that a mirror has files of, in folders of the usual names; None without such a folder."""
    places = {folder / name: endings for name, endings in _ENDINGS.items() if (folder / name).is_dir()}
    stems: set[str] = set()
    for place, endings in places.items():
        months = [month for month in place.iterdir() if month.is_dir() and _MONTH.fullmatch(month.name)]
        files = (path.name for within in (place, *months) for path in within.iterdir() if path.is_file())
        stems |= {name.removesuffix(ending) for name in files for ending in endings if name.endswith(ending)}
    known = [PaperId.of_stem(stem) for stem in stems]
    papers = {paper.bare if paper else stem for paper, stem in zip(known, stems, strict=True)}
    return len(papers) if places else None


class MirrorSource:
    """A folder of arXiv metadata and files.

    Args:
        metadata: name of the metadata file in it; by default the first of the usual names.
        pdf, html: names of the folders with files, which are named by arXiv id, with or without version, `_` for `/`; they may lie in
            folders by month, "2301", as arXiv's own do.
        index: where to keep an index of the records; by default in the folder.

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
        self._pdf, self._html, self._index_path = folder / pdf, folder / html, index or folder / "index.sqlite3"

    @cached_property
    def _index(self) -> MetadataIndex:
        return MetadataIndex(self.metadata, self._index_path)

    def fingerprint(self) -> str:
        return self._index.fingerprint

    def by_author(self, name: str, first: date | None = None, last: date | None = None) -> Iterator[Paper | Drop]:
        return (
            paper
            for paper in self._index.store.papers_by_author(author_key(name))
            if (first or date.min) <= paper.published <= (last or date.max)
        )

    def by_ids(self, ids: Iterable[str]) -> Iterator[Paper | Drop]:
        return self._index.store.papers(sorted({parsed.bare for name in ids if (parsed := PaperId.parse(name))}))

    def submitted_between(self, first: date | None, last: date | None) -> Iterator[Paper | Drop]:
        return self._index.between(first or date.min, last or date.max)

    def search_titles(self, titles: Sequence[str]) -> Iterator[Paper | Drop]:
        store = self._index.store
        return store.papers(sorted({id_ for key in map(title_key, titles) for id_ in store.ids_by_title_prefix(key)}))

    def licenses(self, papers: Iterable[Paper]) -> Iterator[tuple[str, str]]:
        """Return none: a mirror's records carry them."""
        return iter(())

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        folder, stem = self._pdf if file_type == "pdf" else self._html, stem_of(paper_id)
        # "hep-th_9901001" is of 9901 too.
        month = stem.rpartition("_")[2][:4]
        paths = (
            place / f"{name}{ending}"
            for name in (with_version(stem, version), stem)
            for place in (folder, folder / month)
            for ending in _ENDINGS[file_type]
        )
        return next(filter(Path.is_file, paths), None)


def _find_metadata(folder: Path) -> Path:
    files = (folder / f"{name}{packed}" for name in _NAMES for packed in ("", ".gz", ".xz", ".zst"))
    found = next(filter(Path.is_file, files), None)
    if found:
        return found
    raise SourceError(f"the mirror {folder} contains none of {', '.join(_NAMES)} (plain, .gz, .xz or .zst)")


def open_source(table: MirrorTable, round_: Round, store: Store) -> MirrorSource:
    """Return the mirror of a round; its index lies in the workspace."""
    return MirrorSource(table.path, table.metadata, table.pdf, table.html, round_.workspace / "mirror.sqlite3")


class PdfsSource(MirrorSource):
    """The papers of a CSV file, each with its file in a folder; an index of them lies in the workspace.

    Raises:
        SourceError: there is no such folder or table.
    """

    def __init__(self, table: PdfsTable, round_: Round, store: Store) -> None:
        if not table.table.is_file():
            raise SourceError(
                f"there is no table {table.table}: `academiceval init --source pdfs {table.path}` writes one from the PDFs"
            )
        super().__init__(table.path, str(table.table.resolve()), index=round_.workspace / "pdfs.sqlite3")
        self._files: dict[str, Path] = {}
        for row in table_rows(table.table):
            if (
                row["id"]
                and self._files.setdefault(bare_id(row["id"]), table.path / row["file"]) != table.path / row["file"]
            ):
                raise SourceError(
                    f"the table {table.table} has the id {row['id']} of two files: correct one of the rows"
                )

    def fetch(self, file_type: FileType, paper_id: str, version: int) -> Path | None:
        path = self._files.get(paper_id)
        return path if file_type == "pdf" and path is not None and path.is_file() else None
