"""The content of a store without what may differ between runs that did the same: row numbers, times, request counts."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_QUERIES = {
    "papers": "SELECT id, version, title, abstract, authors, n_authors, categories, published, updated, license, title_key, "
    "since FROM papers ORDER BY id",
    "authorship": "SELECT id, key FROM authorship JOIN papers USING (pid) ORDER BY id, key",
    "frontier": "SELECT * FROM frontier ORDER BY key",
    "links": "SELECT * FROM links ORDER BY id, reference",
    "asked": "SELECT * FROM asked ORDER BY key",
    "drops": "SELECT * FROM drops ORDER BY round, id",
    "answers": "SELECT url, round, status FROM answers ORDER BY url",
    "meta": "SELECT * FROM meta ORDER BY key",
}


def content(store: Path, *but: str) -> dict[str, list[tuple[object, ...]]]:
    """Table -> its rows, in an order of their own; without the tables in `but`."""
    db = sqlite3.connect(store)
    try:
        return {name: db.execute(query).fetchall() for name, query in _QUERIES.items() if name not in but}
    finally:
        db.close()
