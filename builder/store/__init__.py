"""The state of a workspace: one SQLite file (WAL) that every stage reads from and writes to.

All writes go through short transactions, so that a stage killed at any moment leaves a store from which the next call
resumes. Nothing outside this package knows its tables.
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Self

from builder.errors import StoreError
from builder.records import Paper
from builder.store.documents import DocumentTables
from builder.store.papers import PaperTables, in_categories
from builder.store.tables import AnswerTable, Author, Frontier, Titles
from lm_eval_tasks.base.files import toml_beside

# The file in a workspace.
STORE = "store.sqlite3"
SCHEMA_VERSION = 6
_ROOM = "make room on its disk and run the same command again, nothing is lost"
_DAMAGED = "it is damaged: put a copy of it back, or remove it, and what it knew is fetched and read again"
_ADVICE = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_READONLY: "this user may not write it: change its permissions, or run the command as its owner",
    sqlite3.SQLITE_BUSY: "another program holds it: run the same command again when that has ended",
    sqlite3.SQLITE_FULL: _ROOM,
    sqlite3.SQLITE_IOERR: _ROOM,
}
_BATCH = 2000
_STEPS: dict[str, str] = toml_beside(__file__, "steps.toml")


def advice(err: sqlite3.Error) -> str:
    """Return what to do about a failure of a store."""
    # The low byte is the kind of error.
    code = getattr(err, "sqlite_errorcode", None)
    return _ADVICE.get(code & 0xFF if code is not None else -1, "run the same command again, nothing is lost")


class Store(PaperTables, DocumentTables):
    """A workspace's store; create it with `Store.open`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self.frontier, self.answers, self.titles = Frontier(connection), AnswerTable(connection), Titles(connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open the store, creating it if it does not exist; a StoreError if it is of another version, damaged, or the disk refuses."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(path, timeout=60, isolation_level=None)
            db.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY; "
                # Pages that many transactions touch are written back once in 64 MB instead of once in 4.
                "PRAGMA wal_autocheckpoint=16000; PRAGMA cache_size=-65536;"
            )
            version = _brought_up(db)
        except (OSError, sqlite3.Error) as err:
            hint = f"; {advice(err)}" if isinstance(err, sqlite3.Error) else ""
            raise StoreError(f"cannot open the store {path}: {err}{hint}") from err
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"the store {path} has version {version}, but this code reads {SCHEMA_VERSION}: use the academiceval "
                "release that made it, or another workspace"
            )
        return cls(db)

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing: what is written inside survives a kill only if the block was left."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            # A full disk has ended it.
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        try:
            self._db.execute("COMMIT")
        except sqlite3.Error as err:
            raise StoreError(f"the store cannot be written: {err}; {advice(err)}") from err

    # --- notes: small facts about finished work

    def note(self, key: str) -> Any:
        return json.loads(self._value("SELECT value FROM meta WHERE key = ?", key) or "null")

    def set_note(self, key: str, value: object) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value, sort_keys=True)))

    def add_papers(self, papers: Iterable[Paper], *, since: str, look_up: bool = True) -> None:
        """Add papers, or replace those of an older version.

        Args:
            since: the round that takes them into the pool, from which samples are drawn; "" for records that are only
                looked up. A paper stays in the pool of the oldest round that took it.
            look_up: whether the papers can be found by their authors; False saves room for mere reference records.
        """
        stream = iter(papers)
        while batch := list(islice(stream, _BATCH)):
            with self.transaction():
                self.add_batch(batch, since=since, look_up=look_up)

    def first_author_papers(self, round_: str, *, only: bool = False) -> int:
        """Return how many papers of a round's pool were first-authored by a member; with `only`, of those that it took itself."""
        query = (
            "SELECT count(*) FROM papers JOIN frontier ON key = first_key "
            f"WHERE visited <> '' AND visited <= ? AND since <> '' AND since {'=' if only else '<='} ?"
        )
        return int(self._value(query, round_, round_))

    def papers_since(self, round_: str) -> int:
        """Return how many papers a round took into the pool."""
        return int(self._value("SELECT count(*) FROM papers WHERE since = ?", round_))

    def papers_with_classes(self, round_: str) -> int:
        """Return how many papers of a round have classes of the ACM or the MSC in their records."""
        return int(self._value("SELECT count(*) FROM papers WHERE since = ? AND classes <> ''", round_))

    def counts(self) -> dict[str, int]:
        """Return how much of everything the store contains, for `academiceval status`."""
        with self.transaction():
            self.index_authors()
        queries = {
            "papers": "SELECT count(*) FROM papers WHERE since <> ''",
            "other records": "SELECT count(*) FROM papers WHERE since = ''",
            "authors": "SELECT count(DISTINCT key) FROM authorship",
            "first authors": "SELECT count(DISTINCT first_key) FROM papers WHERE since <> ''",
            "papers read": "SELECT count(DISTINCT id) FROM documents WHERE reason = ''",
            "papers that could not be read": "SELECT count(*) FROM (SELECT id FROM documents GROUP BY id HAVING min(reason) <> '')",
            "links": "SELECT count(*) FROM links",
        }
        return {name: self._value(query) for name, query in queries.items()}


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _brought_up(db: sqlite3.Connection) -> int:
    """Create the tables of an empty store, or add what those of the version before lack, in one transaction; the version of the store after
    it.
    """
    if step := _STEPS.get(str(_version(db))):
        try:
            db.executescript(f"BEGIN IMMEDIATE; {step} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
        except sqlite3.OperationalError:
            db.rollback()
            # Another process may have done it meanwhile.
            if _version(db) != SCHEMA_VERSION:
                raise
    return _version(db)


__all__ = ["STORE", "AnswerTable", "Author", "Frontier", "Store", "in_categories"]
