"""An index of a metadata file: its records are read once, then found by author, day, title and id."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from rapidfuzz import process

from builder.errors import SourceError, StoreError
from builder.records import Drop, Paper
from builder.sources.metadata_file import READER, read_metadata
from builder.store import Store
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.progress import progress

if TYPE_CHECKING:
    from datetime import date

_LOGGER = logging.getLogger(__name__)
_BATCH = 5000
# What a paper or drop of the file is filed under.
_POOL = "mirror"
_NEAR = 60.0


class MetadataIndex:
    """The records of one file. Made again when the file has changed; after a kill it resumes where it stopped.

    Args:
        metadata: the file.
        place: of the index.

    Raises:
        SourceError: the file cannot be read.
    """

    def __init__(self, metadata: Path, place: Path) -> None:
        self._metadata, self._place = metadata, place
        try:
            self._store = Store.open(place)
            self._bring_up()
        except (StoreError, sqlite3.DatabaseError) as err:
            # It contains nothing that the file does not; a full disk will report itself again.
            _LOGGER.warning("the index %s cannot be used (%s) and is rebuilt", place, err)
            self._remove()
            self._store = Store.open(place)
            self._bring_up()

    def _bring_up(self) -> None:
        self.fingerprint = self._fingerprint()
        if self._store.note("of") not in (None, [READER, self.fingerprint]):
            hashed = self._store.note("hashed")
            self._store.close()
            self._remove()
            self._store = Store.open(self._place)
            self._store.set_note("hashed", hashed)
        if self._store.note("whole") != self.fingerprint:
            self._read()

    def _remove(self) -> None:
        for path in self._place.parent.glob(f"{self._place.name}*"):
            path.unlink()

    def _fingerprint(self) -> str:
        """Size and hash of the file; it is only hashed again when it may have changed."""
        seen = self._file_state()
        note = self._store.note("hashed")
        if isinstance(note, dict) and note["seen"] == seen:
            return str(note["as"])
        fingerprint = f"{self._metadata.name}:{self._metadata.stat().st_size}:{sha256_of(self._metadata)}"
        self._store.set_note("hashed", {"seen": seen, "as": fingerprint})
        return fingerprint

    def _file_state(self) -> list[object]:
        """What tells whether the file may have changed. The last time changes with every write, and nobody can set it back."""
        stat = self._metadata.stat()
        return [str(self._metadata.resolve()), stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]

    def _read(self) -> None:
        done = self._store.note("read")
        assert done is None or isinstance(done, int)
        self._store.set_note("of", [READER, self.fingerprint])
        seen = self._file_state()
        items = progress(read_metadata(self._metadata, done or 0), "index")
        lines = done or 0
        while batch := list(islice(items, _BATCH)):
            lines += len(batch)
            with self._store.transaction():
                self._store.add_batch([item for item in batch if isinstance(item, Paper)], since=_POOL)
                self._store.frontier.drop((item for item in batch if isinstance(item, Drop)), _POOL)
                self._store.set_note("read", lines)
        if seen != self._file_state():
            self._store.close()
            self._remove()
            raise SourceError(f"{self._metadata} changed while it was being read; run the same command again")
        with self._store.transaction():
            self._store.index_authors()
            self._store.set_note("whole", self.fingerprint)

    def by_author(self, key: str) -> list[Paper]:
        return self._store.papers_by_author(key)

    def by_ids(self, ids: list[str]) -> Iterator[Paper]:
        return self._store.papers(ids)

    def by_titles(self, keys: list[str]) -> Iterator[Paper]:
        """Papers whose title key begins with one of these."""
        return self._store.papers(sorted({id_ for key in keys for id_ in self._store.ids_by_title_prefix(key)}))

    def between(self, first: date, last: date) -> Iterator[Paper | Drop]:
        """The papers of some days, by day and id; then what could not be taken, and the papers of other days, as drops."""
        yield from self._store.published_between(first, last)
        yield from self._store.frontier.dropped(_POOL)
        yield from (Drop(id_, "outside_window") for id_ in self._store.published_outside(first, last))

    def near_authors(self, key: str, most: int) -> list[str]:
        """Author keys that are spelt like this one, the nearest first."""
        near = process.extract(key, self._store.author_keys(), limit=most, score_cutoff=_NEAR)
        return [name for name, *_ in near]
