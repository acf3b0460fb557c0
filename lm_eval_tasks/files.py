"""Files that are there whole or not at all, and their hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that appears under its name when the block is left, and not at all where the block fails."""
    part = part_of(path)
    try:
        with part.open("wb") as file:
            yield file
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    part.replace(path)


def write_whole(path: Path, content: bytes | str) -> None:
    """Write a file, whole or not at all; text is UTF-8."""
    with whole_file(path) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def part_of(path: Path) -> Path:
    """Where a file is written before it is whole."""
    return path.with_name(f".{path.name}.part")


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes, in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_of_bytes(content: bytes | str) -> str:
    """The hash of bytes, or of a text's UTF-8."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
