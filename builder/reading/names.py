"""Names that give a cited work away: the head of its title, its acronyms, its authors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.records import Paper

_WORD = re.compile(r"[^\W_][\w’'-]*")
_LEAST = 3


def names_of(paper: Paper) -> frozenset[str]:
    """The words by which a text may name a work, as they are written.

    The words before a title's colon, words of title and abstract with a capital or digit within them ("ResNet", "GPT2"), and
    the surnames of its authors.
    """
    head, colon, _ = paper.title.partition(":")
    heads = _WORD.findall(head) if colon and len(head.split()) <= _LEAST else []
    coined = [word for word in _WORD.findall(paper.title) if _is_coined(word)]
    surnames = [author.split()[-1] for author in paper.authors if author.split()]
    return frozenset(word for word in (*heads, *coined, *surnames) if len(word) >= _LEAST)


def _is_coined(word: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in word[1:])


def pattern_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of some names, in capitals or not; None if there is none."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})(?:’s|'s|s)?\b", re.IGNORECASE) if ordered else None
