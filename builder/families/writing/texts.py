"""A file of texts for the time of a build: written once by one process, read by many at random."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

# Where a text begins, and its length in bytes.
Span: TypeAlias = tuple[int, int]


class TextsWriter:
    """Writes such a file; what another build left there is replaced."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb")

    def add(self, texts: Iterable[str]) -> tuple[Span, ...]:
        return tuple(map(self._add, texts))

    def _add(self, text: str) -> Span:
        begin = self._file.tell()
        return begin, self._file.write(text.encode())

    def __enter__(self) -> TextsWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class PaperTexts:
    """Reads such a file."""

    def __init__(self, path: Path) -> None:
        # Not mapped: the pages would count as this process's memory.
        self._file = path.open("rb", buffering=0)

    def __getitem__(self, span: Span) -> str:
        begin, length = span
        return os.pread(self._file.fileno(), length, begin).decode()

    def close(self) -> None:
        self._file.close()
