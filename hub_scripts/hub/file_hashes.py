"""Files here and in a repository, compared by the hashes that the Hub lists."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from lm_eval_tasks.base.files import sha256_of, sha256_of_bytes

Content = Path | bytes
# How a repository stores its files: not part of what we publish.
ATTRIBUTES = ".gitattributes"


def digest(content: Content) -> dict[str, str]:
    """A content's hashes in both forms of `Repo.files`, by their kind."""
    if isinstance(content, Path):
        size = content.stat().st_size
        git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with content.open("rb") as file:
            while block := file.read(1 << 20):
                git.update(block)
        return {"sha256": sha256_of(content), "git": git.hexdigest()}
    git = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)
    return {"sha256": sha256_of_bytes(content), "git": git.hexdigest()}


def same(listed: str, content: Content) -> bool:
    """Whether a file that `Repo.files` lists has this content."""
    kind, _, value = listed.partition(":")
    return digest(content)[kind] == value


def gone(files: Iterable[str], kept: Iterable[str]) -> list[str]:
    """The paths that are not kept; how a repository stores its files is its own business."""
    return sorted(set(files) - set(kept) - {ATTRIBUTES})


def unchanged_paths(files: Mapping[str, str], add: Mapping[str, Content]) -> Iterable[str]:
    """The paths whose content is there already."""
    return [path for path, content in add.items() if path in files and same(files[path], content)]
