"""A full-text index over the titles of every record of a store (SQLite FTS5).

The index only proposes: words are looked up, rarest first, and the caller compares whole titles.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from itertools import combinations

from lm_eval_tasks.base.text import fold

# What notes the titles that are not in the index: of new papers, and of those whose title was revised.
WAITING = """
CREATE TABLE titles_waiting (pid INTEGER PRIMARY KEY);
CREATE TRIGGER title_new AFTER INSERT ON papers WHEN new.pid NOT IN titles_waiting
BEGIN INSERT INTO titles_waiting VALUES (new.pid); END;
CREATE TRIGGER title_revised AFTER UPDATE OF title ON papers WHEN old.title <> new.title AND new.pid NOT IN titles_waiting
BEGIN INSERT INTO titles_waiting VALUES (new.pid); END;
"""
SCHEMA = f"""
CREATE VIRTUAL TABLE titles USING fts5 (words, content='', detail=none, columnsize=0, tokenize='ascii');
CREATE VIRTUAL TABLE title_words USING fts5vocab (titles, row);
{WAITING}"""
# What version 5 of the store has more than version 4.
SEEN_BEFORE = f"""{WAITING}
INSERT INTO titles_waiting SELECT pid FROM papers
WHERE pid > COALESCE((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'titles indexed'), 0);
"""
_WORD = re.compile(r"[^\W_]+")
_RAREST = 5
_TOO_COMMON = 20_000
_MOST_ROWS = 400


def title_words(text: str) -> list[str]:
    """The words of a text as the index stores them: folded, letters and digits only."""
    return _WORD.findall(fold(text))


class Titles:
    """Proposes papers whose titles share rare words with a text."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._frequency: dict[str, int] | None = None

    def update(self) -> int:
        """Index the titles that are new, and return how many; inside a transaction of the caller."""
        rows = self._db.execute("SELECT pid, title FROM titles_waiting JOIN papers USING (pid) ORDER BY pid").fetchall()
        self._db.executemany(
            "INSERT INTO titles (rowid, words) VALUES (?, ?)",
            ((pid, " ".join(title_words(title))) for pid, title in rows),
        )
        if rows:
            self._db.execute("DELETE FROM titles_waiting")
            self._frequency = None
        return len(rows)

    def frequency(self, word: str) -> int:
        """In how many titles a word occurs."""
        if self._frequency is None:
            self._frequency = dict(self._db.execute("SELECT term, doc FROM title_words"))
        return self._frequency.get(word, 0)

    def propose(self, words: Iterable[str], most: int) -> list[str]:
        """Ids of the papers whose titles share at least two of the rarest words, those that share most words first."""
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
        shared = sorted((-len(wanted.intersection(title_words(title))), id_) for id_, title in rows)
        return [id_ for _, id_ in shared[:most]]
