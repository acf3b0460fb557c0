"""A file of results that only grows, one JSON line each: what is in it survives a kill, a torn last line is done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Journal:
    """Key -> value, on disk.

    Args:
        path: the file; its folder is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Any] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            whole = path.read_bytes()
            complete = whole[: whole.rfind(b"\n") + 1]
            if complete != whole:
                with path.open("r+b") as file:
                    file.truncate(len(complete))
            for line in complete.splitlines():
                entry = json.loads(line)
                self._known[entry["key"]] = entry["value"]

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def __getitem__(self, key: str) -> Any:
        return self._known[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default where there is none."""
        return self._known.get(key, default)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, key: str, value: Any, **beside: Any) -> None:
        """Note a value; it is on disk when this returns. What is given beside it is for other readers of the file."""
        self._known[key] = value
        line = json.dumps({"key": key, "value": value, **beside}, ensure_ascii=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
