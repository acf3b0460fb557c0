"""Authors that the crawl has looked up, authors waiting, and papers that it could not take: two tables of the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap

from builder.records import Drop
from builder.stage_report import StageReport
from builder.store.answers import Tables

SCHEMA = """
CREATE TABLE frontier (
    place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT NOT NULL, priority INTEGER NOT NULL,
    round TEXT NOT NULL, visited TEXT NOT NULL, checked TEXT NOT NULL
);
CREATE INDEX frontier_waiting ON frontier (round, priority DESC, place) WHERE visited = '';
CREATE INDEX frontier_candidates ON frontier (round, priority DESC, key) WHERE visited = '' AND priority > 0;
CREATE TABLE drops (round TEXT NOT NULL, id TEXT NOT NULL, reason TEXT NOT NULL, PRIMARY KEY (round, id)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Author:
    """An author on the frontier: the key to file under and the name as printed, to ask with."""

    key: str
    name: str


class Frontier(Tables):
    """Authors are admitted by a round, wait, and are visited once; members are those visited in a round or before it.

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
        """Who is to be visited next: highest priority first, then in the order of admission."""
        return next(self._authors("visited = '' AND round = ? ORDER BY priority DESC, place LIMIT 1", round_), None)

    def next_candidate(self, round_: str) -> Author | None:
        """The same, but authors of one priority by key: their order must not depend on how they were found."""
        which = "visited = '' AND round = ? AND priority > 0 ORDER BY priority DESC, key LIMIT 1"
        return next(self._authors(which, round_), None)

    def _authors(self, which: str, *values: str) -> Iterator[Author]:
        return starmap(Author, self._db.execute(f"SELECT key, name FROM frontier WHERE {which}", values))

    def visit(self, key: str, round_: str) -> None:
        self._db.execute("UPDATE frontier SET visited = ?, checked = ? WHERE key = ?", (round_, round_, key))

    def check(self, key: str, round_: str) -> None:
        """Note that a member's new papers of this round were looked up."""
        self._db.execute("UPDATE frontier SET checked = ? WHERE key = ?", (round_, key))

    def unchecked(self, round_: str) -> list[Author]:
        """The members of earlier rounds whose new papers were not looked up yet, by key."""
        return list(self._authors("visited <> '' AND visited < ? AND checked < ? ORDER BY key", round_, round_))

    def members(self, round_: str) -> frozenset[str]:
        return frozenset(self._column("SELECT key FROM frontier WHERE visited <> '' AND visited <= ?", round_))

    def counts(self) -> tuple[int, int]:
        """How many were visited, and how many are waiting."""
        row = self._db.execute("SELECT coalesce(sum(visited <> ''), 0), coalesce(sum(visited = ''), 0) FROM frontier")
        visited, waiting = row.fetchone()
        return visited, waiting

    def drop(self, drops: Iterable[Drop], round_: str) -> None:
        """Note papers that were not taken; a paper that several authors bring is noted once."""
        self._db.executemany(
            "INSERT OR IGNORE INTO drops VALUES (?,?,?)", ((round_, drop.id, drop.reason) for drop in drops)
        )

    def report(self, stage: str, round_: str, kept: int) -> StageReport:
        """What became of the papers that the visits of a round brought."""
        report = StageReport(stage, kept)
        for drop in self.dropped(round_):
            report.drop(drop.id, drop.reason)
        return report

    def dropped(self, round_: str) -> Iterator[Drop]:
        return starmap(Drop, self._db.execute("SELECT id, reason FROM drops WHERE round = ? ORDER BY id", (round_,)))
