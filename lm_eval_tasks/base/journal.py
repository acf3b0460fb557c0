"""A file of results that only grows, one JSON line each: what is in it survives a kill and a power cut.

Nothing is ever cut off or written over: a line that cannot be read, such as one cut off by a kill, is skipped and
counted, and what it contained is done again. A line is appended in one write, so that two writers lose nothing.
"""

import errno
import json
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lm_eval_tasks.base.files import sync
from lm_eval_tasks.base.text import parse_json, valid

_LOGGER = logging.getLogger(__name__)


class Journal(Mapping[str, Any]):
    """Key -> value, on disk.

    Args:
        path: the file; its folder is made. None for a journal that is kept in memory alone.
        extra: a field next to the values that is remembered too, see `extra_of`.
        durable: whether a value is on disk when it is noted; what is cheap to make again need not be, and there may be many of it.
    """

    def __init__(self, path: Path | None, extra: str = "", *, durable: bool = True) -> None:
        self._is_durable = durable
        self._path = path
        self._known: dict[str, Any] = {}
        self._extra_name, self._extras = extra, dict[str, list[Any]]()
        # Lines that were skipped.
        self.unreadable = 0
        # Whether the file may end within a line; if it does not, an empty line more changes nothing.
        self._is_torn = False
        self._is_new = path is not None and not path.is_file()
        if path is not None:
            _refuse_foreign(path)
            path.parent.mkdir(parents=True, exist_ok=True)
        for entry in () if path is None or self._is_new else read_entries(path):
            self._is_torn = entry is None
            if entry is None:
                self.unreadable += 1
            else:
                self._hold(entry)
        if self.unreadable:
            _LOGGER.warning(
                "%s: unreadable lines skipped: %d; what they contained is done again", path, self.unreadable
            )

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, value: Any, **others: Any) -> None:
        """Note a value, in place of an older one; it is on disk when this returns.

        What is given in addition is for other readers of the file. Characters that no text may contain are replaced.

        Raises:
            OSError: the disk is full or refuses; the value is not noted.
        """
        line = valid(json.dumps({"key": key, "value": value, **others}, ensure_ascii=False))
        if self._path is not None:
            data = ("\n" * self._is_torn + line + "\n").encode()
            with self._path.open("ab", buffering=0) as file:
                self._is_torn = True
                written = file.write(data)
                if written != len(data):
                    raise OSError(
                        f"{self._path}: only {written} of {len(data)} bytes could be written; is the disk full?"
                    )
                self._is_torn = False
                if self._is_durable:
                    os.fsync(file.fileno())
            if self._is_new:
                sync(self._path.parent)
                self._is_new = False
        self._hold(json.loads(line))

    def extra_of(self, key: str) -> Any:
        """Return the field next to a value that this journal remembers; None if it was not noted."""
        return next(reversed(self._extras.get(key, [])), None)

    def extras_of(self, *keys: str) -> list[Any]:
        """Return that field of every line of some keys, or of all, older values included."""
        return [field for key in keys or self._extras for field in self._extras.get(key, [])]

    def _hold(self, entry: Mapping[str, Any]) -> None:
        self._known[entry["key"]] = entry["value"]
        if self._extra_name in entry:
            self._extras.setdefault(entry["key"], []).append(entry[self._extra_name])


def _refuse_foreign(path: Path) -> None:
    """Raise an OSError for a link, or a file in which whole lines stand and none of them is an entry: nothing is appended to it."""
    if path.is_symlink() or (path.exists() and path.stat().st_nlink > 1):
        raise OSError(errno.EEXIST, "is a link, to which nothing is appended; name another folder", str(path))
    if path.is_file():
        entries = list(read_entries(path))
        if entries and not any(entries) and path.read_bytes().endswith(b"\n"):
            raise OSError(
                errno.EEXIST, "is somebody else's file, to which nothing is appended; move it away", str(path)
            )


def read_entries(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yield the entries of a journal, oldest first; None for each line that is not one. Empty lines do not count.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as lines:
        for line in filter(bytes.strip, lines):
            try:
                entry = parse_json(line)
            except ValueError:
                entry = None
            is_entry = isinstance(entry, dict) and isinstance(entry.get("key"), str) and "value" in entry
            yield entry if is_entry and line.endswith(b"\n") else None
