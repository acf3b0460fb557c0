"""What all tables of a store have, and its smaller ones: answers of the network, authors of the crawl, words of titles."""

import re
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, starmap
from typing import Any

import zstandard

from builder.records import Drop
from builder.stage_report import StageReport
from lm_eval_tasks.base.text import fold

_WORD = re.compile(r"[^\W_]+")
_RAREST = 5
_TOO_COMMON = 20_000
_MOST_ROWS = 400
# The papers that are in no pool of a round, by the newest harvest that says something of each.
GONE = (
    "SELECT id FROM (SELECT id, reason, max(round) FROM drops WHERE reason IN ('withdrawn', 'missing', 'back') AND round <= ? GROUP BY id) "
    "WHERE reason <> 'back'"
)


class Tables:
    """Tables of a store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def _value(self, query: str, *values: object) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = self._db.execute(query, values).fetchone()
        return row[0] if row else None

    def _column(self, query: str, *values: object) -> list[Any]:
        return [row[0] for row in self._db.execute(query, values)]


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A final answer: 200 with its body, or a refusal that asking again does not change (400, 404)."""

    status: int
    body: bytes


class AnswerTable(Tables):
    """What the network answered: kept for the round, so that nothing that was answered is asked again, and counted."""

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

    def forget(self, url: str, round_: str) -> None:
        self._db.execute("DELETE FROM answers WHERE url = ? AND round = ?", (url, round_))

    def forget_other_rounds(self, round_: str) -> None:
        """Make room: answers count within their round only, except for those of round ""."""
        self._db.execute("DELETE FROM answers WHERE round NOT IN (?, '')", (round_,))

    def last_request(self) -> float:
        """Tell when any process of the workspace last began a request, seconds since the epoch; 0 for never."""
        return float(self._value("SELECT max(last) FROM requests") or 0)

    def count_request(self, host: str, began: float) -> None:
        self._db.execute(
            "INSERT INTO requests VALUES (?, 1, 0, ?) ON CONFLICT (host) DO UPDATE SET n = n + 1, last = excluded.last",
            (host, began),
        )

    def add_seconds(self, host: str, seconds: float) -> None:
        self._db.execute("UPDATE requests SET seconds = seconds + ? WHERE host = ?", (seconds, host))

    def requests(self) -> dict[str, tuple[int, float]]:
        """Return the host -> requests made and seconds that they took, waiting included."""
        return {host: (n, seconds) for host, n, seconds in self._db.execute("SELECT host, n, seconds FROM requests")}


# --- authors


@dataclass(frozen=True, slots=True)
class Author:
    """An author on the frontier: the key to file under and the name as printed, to ask with."""

    key: str
    name: str


class Frontier(Tables):
    """Authors that the crawl has looked up, authors waiting, and papers that it could not take.

    Authors are admitted by a round, wait, and are visited once; members are those visited in a round or before it.

    The caller puts its calls into a transaction of the store.
    """

    def admit(self, authors: Iterable[Author], round_: str, priority: int = 0) -> None:
        """Let authors wait for their visit, in the given order; those who are already waiting keep their place.

        Args:
            priority: of a later round's candidates; the highest that was given counts.
        """
        self._db.executemany(
            "INSERT INTO frontier (key, name, priority, round, visited, checked) VALUES (?,?,?,?,'','') "
            "ON CONFLICT (key) DO UPDATE SET "
            "priority = CASE WHEN round = excluded.round THEN max(priority, excluded.priority) "
            "ELSE excluded.priority END, round = excluded.round WHERE visited = '' AND excluded.round >= round",
            ((author.key, author.name, priority, round_) for author in authors),
        )

    def next(self, round_: str) -> Author | None:
        """Return who is to be visited next: highest priority first, then in the order of admission."""
        return next(self._authors("visited = '' AND round = ? ORDER BY priority DESC, place LIMIT 1", round_), None)

    def next_candidate(self, round_: str) -> Author | None:
        """Return the same, but authors of one priority by key: their order must not depend on how they were found."""
        return next(
            self._authors("visited = '' AND round = ? AND priority > 0 ORDER BY priority DESC, key LIMIT 1", round_),
            None,
        )

    def _authors(self, which: str, *values: str) -> Iterator[Author]:
        return starmap(Author, self._db.execute(f"SELECT key, name FROM frontier WHERE {which}", values))

    def visit(self, key: str, round_: str) -> None:
        self._db.execute("UPDATE frontier SET visited = ?, checked = ? WHERE key = ?", (round_, round_, key))

    def check(self, key: str, round_: str) -> None:
        """Note that a member's new papers of this round were looked up."""
        self._db.execute("UPDATE frontier SET checked = ? WHERE key = ?", (round_, key))

    def unchecked(self, round_: str) -> list[Author]:
        """Return the members of earlier rounds whose new papers were not looked up yet, by key."""
        return list(self._authors("visited <> '' AND visited < ? AND checked < ? ORDER BY key", round_, round_))

    def members(self, round_: str) -> frozenset[str]:
        return frozenset(self._column("SELECT key FROM frontier WHERE visited <> '' AND visited <= ?", round_))

    def counts(self) -> tuple[int, int]:
        visited, waiting = self._db.execute(
            "SELECT coalesce(sum(visited <> ''), 0), coalesce(sum(visited = ''), 0) FROM frontier"
        ).fetchone()
        return visited, waiting

    def drop(self, drops: Iterable[Drop], round_: str) -> None:
        """Note papers that were not taken; a paper that several authors bring is noted once."""
        self._db.executemany(
            "INSERT OR IGNORE INTO drops VALUES (?,?,?)", ((round_, drop.id, drop.reason) for drop in drops)
        )

    def note_gone(self, round_: str, withdrawn: Iterable[Drop], missing: Iterable[str], back: Iterable[str]) -> None:
        """Note what a round's harvest says of papers of earlier rounds, in place of what it said before: from this round on, those that are
        withdrawn or missing are in no pool, and those that are back are in it again.
        """
        self._db.execute("DELETE FROM drops WHERE round = ? AND reason IN ('withdrawn', 'missing', 'back')", (round_,))
        self.drop(withdrawn, round_)
        self.drop((Drop(id_, "missing") for id_ in sorted(missing)), round_)
        self.drop((Drop(id_, "back") for id_ in sorted(back)), round_)

    def gone(self, round_: str) -> frozenset[str]:
        """Return the papers that are in no pool of the round before this one, or of earlier ones."""
        return frozenset(self._column(GONE.replace("<=", "<"), round_))

    def report(self, stage: str, round_: str, kept: int) -> StageReport:
        """Return what became of the papers that the visits of a round brought."""
        report = StageReport(stage, kept)
        for drop in self.dropped(round_):
            report.drop(drop.id, drop.reason)
        return report

    def dropped(self, round_: str) -> Iterator[Drop]:
        return starmap(Drop, self._db.execute("SELECT id, reason FROM drops WHERE round = ? ORDER BY id", (round_,)))


# --- titles


def title_words(text: str) -> list[str]:
    """Return the words of a text as the index stores them: folded, letters and digits only."""
    return _WORD.findall(fold(text))


class Titles(Tables):
    """A full-text index over the titles of every record of a store (SQLite FTS5), which proposes papers that share rare words with a text.

    The index only proposes: words are looked up, rarest first, and the caller compares whole titles.
    """

    _frequency: dict[str, int] | None = None

    def update(self) -> None:
        """Index the titles that are new; inside a transaction of the caller."""
        rows = self._db.execute("SELECT pid, title FROM titles_waiting JOIN papers USING (pid) ORDER BY pid").fetchall()
        self._db.executemany(
            "INSERT INTO titles (rowid, words) VALUES (?, ?)",
            ((pid, " ".join(title_words(title))) for pid, title in rows),
        )
        if rows:
            self._db.execute("DELETE FROM titles_waiting")
            self._frequency = None

    def frequency(self, word: str) -> int:
        if self._frequency is None:
            self._frequency = dict(self._db.execute("SELECT term, doc FROM title_words"))
        return self._frequency.get(word, 0)

    def propose(self, words: Iterable[str], most: int) -> list[str]:
        """Return the ids of the papers whose titles share at least two of the rarest words, those that share most words first."""
        wanted = set(words)
        frequencies = sorted((n, word) for word in wanted if 0 < (n := self.frequency(word)) < _TOO_COMMON)
        chosen = [f'"{word}"' for _, word in frequencies[:_RAREST]]
        if len(chosen) < 2:
            return []
        query = " OR ".join(f"({first} AND {second})" for first, second in combinations(chosen, 2))
        rows = self._db.execute(
            "SELECT id, title FROM papers WHERE pid IN (SELECT rowid FROM titles WHERE titles MATCH ? LIMIT ?)",
            (query, _MOST_ROWS),
        )
        return [
            id_ for _, id_ in sorted((-len(wanted.intersection(title_words(title))), id_) for id_, title in rows)[:most]
        ]
