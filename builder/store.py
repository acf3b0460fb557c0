"""The state of a workspace: one SQLite file (WAL) that every stage reads from and writes to.

All writes go through short transactions, so that a stage killed at any moment leaves a store from which the next call
goes on. Nothing outside this module knows its tables. Row numbers never leave it: what comes out is ordered by arXiv id.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from types import TracebackType

from pydantic import TypeAdapter

from builder.errors import StoreError
from builder.keys import author_key, title_key
from builder.records import Document, FileKind, Link, Paper, Quality

SCHEMA_VERSION = 1
_BATCH = 2000
_DOCUMENT = TypeAdapter(Document)

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE papers (
    pid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, title TEXT NOT NULL,
    abstract TEXT NOT NULL, authors TEXT NOT NULL, n_authors INTEGER NOT NULL, categories TEXT NOT NULL,
    published TEXT NOT NULL, updated TEXT NOT NULL, license TEXT NOT NULL, title_key TEXT NOT NULL,
    pool INTEGER NOT NULL
);
CREATE INDEX papers_by_title ON papers (title_key);
CREATE TABLE authors (aid INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE authorship (
    pid INTEGER NOT NULL, position INTEGER NOT NULL, aid INTEGER NOT NULL, PRIMARY KEY (pid, position)
) WITHOUT ROWID;
CREATE TABLE documents (
    id TEXT NOT NULL, kind TEXT NOT NULL, extractor TEXT NOT NULL, file_sha256 TEXT NOT NULL, reason TEXT NOT NULL,
    detail TEXT NOT NULL, quality TEXT, body BLOB, PRIMARY KEY (id, kind)
) WITHOUT ROWID;
CREATE TABLE links (
    id TEXT NOT NULL, reference INTEGER NOT NULL, cited_id TEXT NOT NULL, how TEXT NOT NULL, score REAL NOT NULL,
    PRIMARY KEY (id, reference)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """The outcome of one extraction: a document, or the reason why there is none.

    Attributes:
        kind: of the file.
        extractor: version of the extraction code.
        file_sha256: hash of the file that was read, "" where there was none.
        reason: "" for a document, else a member of `records.ExtractReason`.
    """

    id: str
    kind: FileKind
    extractor: str
    file_sha256: str
    reason: str
    detail: str
    quality: Quality | None
    document: Document | None


class Store:
    """A workspace's store; create it with `Store.open`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open the store, creating it where it is not there.

        Raises:
            StoreError: it is of another version, damaged, or the disk refuses.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(path, timeout=60, isolation_level=None)
            db.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;")
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
        except (OSError, sqlite3.Error) as err:
            raise StoreError(f"cannot open the store {path}: {err}") from err
        if version not in (0, SCHEMA_VERSION):
            raise StoreError(
                f"the store {path} has version {version}, this code reads {SCHEMA_VERSION}: use the academiceval "
                "release that made it, or another workspace"
            )
        return cls(db)

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: what is written inside is there after a kill only if the block was left."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error as err:
            raise StoreError(f"the store cannot be written: {err}") from err

    # --- notes: small facts about finished work

    def note(self, key: str) -> object:
        """The note under a key; None where there is none."""
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(row[0]) if row else None

    def set_note(self, key: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value, sort_keys=True)))

    # --- papers and authors

    def add_papers(self, papers: Iterable[Paper], *, pool: bool) -> int:
        """Add papers, or replace those of an older version; returns how many were given.

        Args:
            pool: whether samples may be drawn from them; False for records that only references resolve to.
        """
        stream = iter(papers)
        count = 0
        while batch := list(islice(stream, _BATCH)):
            with self.transaction():
                self._add(batch, pool)
            count += len(batch)
        return count

    def _add(self, batch: list[Paper], pool: bool) -> None:
        self._db.executemany(
            "INSERT INTO papers (id, version, title, abstract, authors, n_authors, categories, published, updated, "
            "license, title_key, pool) VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET "
            "version=excluded.version, title=excluded.title, authors=excluded.authors, n_authors=excluded.n_authors, "
            "abstract=CASE WHEN excluded.abstract = '' THEN abstract ELSE excluded.abstract END, "
            "categories=excluded.categories, published=excluded.published, updated=excluded.updated, "
            "license=excluded.license, title_key=excluded.title_key, pool=max(pool, excluded.pool) "
            "WHERE excluded.version >= version AND (excluded.pool >= pool OR abstract = '')",
            (
                (
                    p.id, p.version, p.title, p.abstract, json.dumps(p.authors, ensure_ascii=False), len(p.authors),
                    " ".join(p.categories), p.published.isoformat(), p.updated.isoformat(), p.license,
                    title_key(p.title), int(pool),
                )
                for p in batch
            ),
        )  # fmt: skip
        if not pool:
            return
        keyed = [(p.id, [(author_key(name), name) for name in p.authors]) for p in batch]
        self._db.executemany(
            "INSERT OR IGNORE INTO authors (key, name) VALUES (?, ?)", (pair for _, pairs in keyed for pair in pairs)
        )
        self._db.executemany(
            "DELETE FROM authorship WHERE pid = (SELECT pid FROM papers WHERE id = ?)", ((p.id,) for p in batch)
        )
        self._db.executemany(
            "INSERT INTO authorship SELECT papers.pid, ?, authors.aid FROM papers, authors "
            "WHERE papers.id = ? AND authors.key = ?",
            ((position, id_, key) for id_, pairs in keyed for position, (key, _) in enumerate(pairs)),
        )

    def papers(self, ids: Iterable[str] | None = None) -> Iterator[Paper]:
        """Papers that samples may be drawn from, by id; with `ids`, those of any pool in the given order."""
        if ids is None:
            rows = self._db.execute(f"{_SELECT} WHERE pool = 1 ORDER BY id")
            yield from map(_paper, rows)
            return
        for paper_id in ids:
            row = self._db.execute(f"{_SELECT} WHERE id = ?", (paper_id,)).fetchone()
            if row:
                yield _paper(row)

    def pool_papers(self, categories: Iterable[str], first: date | None, last: date | None) -> Iterator[Paper]:
        """Papers of the pool in a window of days and with one of the primary categories (or archives), by id."""
        wanted = frozenset(categories)
        for row in self._db.execute(
            f"{_SELECT} WHERE pool = 1 AND published BETWEEN ? AND ? ORDER BY id",
            ((first or date.min).isoformat(), (last or date.max).isoformat()),
        ):
            paper = _paper(row)
            if in_categories(paper, wanted):
                yield paper

    def ids_by_title(self, key: str) -> list[str]:
        """Ids of the papers of any pool with this `keys.title_key`."""
        rows = self._db.execute("SELECT id FROM papers WHERE title_key = ? ORDER BY id", (key,))
        return [row[0] for row in rows]

    def counts(self) -> dict[str, int]:
        """How much of everything the store holds, for `academiceval status`."""
        queries = {
            "papers": "SELECT count(*) FROM papers WHERE pool = 1",
            "reference records": "SELECT count(*) FROM papers WHERE pool = 0",
            "authors": "SELECT count(*) FROM authors",
            "first authors": "SELECT count(DISTINCT aid) FROM authorship WHERE position = 0",
            "documents": "SELECT count(*) FROM documents WHERE reason = ''",
            "files without document": "SELECT count(*) FROM documents WHERE reason <> ''",
            "links": "SELECT count(*) FROM links",
        }
        return {name: self._db.execute(query).fetchone()[0] for name, query in queries.items()}

    # --- documents

    def put_document(self, stored: StoredDocument) -> None:
        body = zlib.compress(_DOCUMENT.dump_json(stored.document)) if stored.document else None
        quality = json.dumps(asdict(stored.quality)) if stored.quality else None
        self._db.execute(
            "INSERT OR REPLACE INTO documents VALUES (?,?,?,?,?,?,?,?)",
            (
                stored.id, stored.kind, stored.extractor, stored.file_sha256, stored.reason, stored.detail, quality,
                body,
            ),
        )  # fmt: skip

    def read_file(self, paper_id: str, kind: FileKind, extractor: str) -> str | None:
        """Hash of the file that this version of the extractor read last; None where it has read none."""
        row = self._db.execute(
            "SELECT file_sha256 FROM documents WHERE id = ? AND kind = ? AND extractor = ?", (paper_id, kind, extractor)
        ).fetchone()
        return row[0] if row else None

    def outcomes(self, paper_id: str) -> dict[FileKind, tuple[str, Quality | None]]:
        """For each kind of file that was looked for: the reason why it gave no document ("" if it did), and the quality."""
        rows = self._db.execute("SELECT kind, reason, quality FROM documents WHERE id = ? ORDER BY kind", (paper_id,))
        return {kind: (reason, Quality(**json.loads(quality)) if quality else None) for kind, reason, quality in rows}

    def document(self, paper_id: str, kind: FileKind) -> Document | None:
        row = self._db.execute("SELECT body FROM documents WHERE id = ? AND kind = ?", (paper_id, kind)).fetchone()
        return _DOCUMENT.validate_json(zlib.decompress(row[0])) if row and row[0] else None

    # --- links

    def put_links(self, paper_id: str, links: Iterable[Link]) -> None:
        """Replace the links of one paper."""
        self._db.execute("DELETE FROM links WHERE id = ?", (paper_id,))
        self._db.executemany(
            "INSERT INTO links VALUES (?,?,?,?,?)",
            ((link.paper_id, link.reference, link.cited_id, link.how, link.score) for link in links),
        )

    def links(self, paper_id: str) -> list[Link]:
        rows = self._db.execute(
            "SELECT id, reference, cited_id, how, score FROM links WHERE id = ? ORDER BY reference", (paper_id,)
        )
        return [Link(*row) for row in rows]


_SELECT = "SELECT id, version, title, abstract, authors, categories, published, updated, license FROM papers"


def _paper(row: tuple[str, int, str, str, str, str, str, str, str]) -> Paper:
    id_, version, title, abstract, authors, categories, published, updated, license_ = row
    return Paper(
        id_, version, title, abstract, tuple(json.loads(authors)), tuple(categories.split()),
        date.fromisoformat(published), date.fromisoformat(updated), license_,
    )  # fmt: skip


def in_categories(paper: Paper, wanted: frozenset[str]) -> bool:
    """Whether a paper's primary category, or its archive, is among the wanted ones; no wish means every category."""
    primary = paper.primary_category
    return not wanted or primary in wanted or primary.partition(".")[0] in wanted
