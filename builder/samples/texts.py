"""A file of texts for the time of a build: written once by one process, read by many at random."""

from __future__ import annotations

import mmap
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from types import TracebackType
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

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


class Texts:
    """Reads such a file."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            # An empty file cannot be mapped.
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""

    def __getitem__(self, span: Span) -> str:
        begin, length = span
        return self._bytes[begin : begin + length].decode()


@lru_cache(maxsize=2)
def texts_of(path: Path, size: int) -> Texts:
    """The file as this process has it open.

    Args:
        size: of the file, which tells apart the files of two builds under one name.
    """
    return Texts(path)
