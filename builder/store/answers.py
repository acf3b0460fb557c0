"""What the network answered: kept for the round, so that nothing that was answered is asked again, and counted."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

import zstandard

SCHEMA = """
CREATE TABLE answers (
    url TEXT PRIMARY KEY, round TEXT NOT NULL, status INTEGER NOT NULL, body BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE requests (
    host TEXT PRIMARY KEY, n INTEGER NOT NULL, seconds REAL NOT NULL, last REAL NOT NULL
) WITHOUT ROWID;
"""


class Tables:
    """Tables of a store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def _value(self, query: str, *values: object) -> Any:
        """The first column of the first row; None if there is no row."""
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None

    def _column(self, query: str, *values: object) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self._db.execute(query, values)]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A final answer: 200 with its body, or a refusal that asking again does not change (400, 404)."""

    status: int
    body: bytes


class AnswerTable(Tables):
    """The answers and the request counts of a store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        # Level 1: half of what level 3 takes, for a tenth more room.
        self._packer = zstandard.ZstdCompressor(level=1)
        self._unpacker = zstandard.ZstdDecompressor()

    def get(self, url: str, round_: str) -> StoredAnswer | None:
        row = self._db.execute("SELECT status, body FROM answers WHERE url = ? AND round = ?", (url, round_)).fetchone()
        return StoredAnswer(row[0], self._unpacker.decompress(row[1])) if row else None

    def put(self, url: str, round_: str, answer: StoredAnswer) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO answers VALUES (?,?,?,?)",
            (url, round_, answer.status, self._packer.compress(answer.body)),
        )

    def forget_other_rounds(self, round_: str) -> None:
        """Make room: answers count within their round only, except for those of round ""."""
        self._db.execute("DELETE FROM answers WHERE round NOT IN (?, '')", (round_,))

    def last_request(self) -> float:
        """When any process of the workspace last began a request, seconds since the epoch; 0 for never."""
        return float(self._value("SELECT max(last) FROM requests") or 0)

    def count_request(self, host: str, began: float) -> None:
        self._db.execute(
            "INSERT INTO requests VALUES (?, 1, 0, ?) ON CONFLICT (host) DO UPDATE SET n = n + 1, last = excluded.last",
            (host, began),
        )

    def add_seconds(self, host: str, seconds: float) -> None:
        """Add to the time that requests took, waiting included."""
        self._db.execute("UPDATE requests SET seconds = seconds + ? WHERE host = ?", (seconds, host))

    def requests(self) -> dict[str, tuple[int, float]]:
        """Host -> requests made and seconds that they took, waiting included."""
        return {host: (n, seconds) for host, n, seconds in self._db.execute("SELECT host, n, seconds FROM requests")}
