"""Names of published revisions: `2026.11`, and `2026.11.post1` for what replaces it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"(\d{4})\.(\d{2})(?:\.post(\d+))?")


def order(name: str) -> tuple[int, int, int]:
    """A key by which revisions are sorted, oldest first; other names come before all."""
    match = _NAME.fullmatch(name)
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match else (0, 0, 0)


def replacement(name: str, taken: Iterable[str]) -> str:
    """The name of what replaces a revision: `.post1`, or the first free number."""
    base = name.partition(".post")[0]
    used = [order(other)[2] for other in taken if other.partition(".post")[0] == base]
    return f"{base}.post{max([0, *used]) + 1}"
