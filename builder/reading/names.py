"""Names that give a cited work away: the head of its title, its acronyms, its authors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.records import Paper

_WORD = re.compile(r"[^\W_][\w’'-]*")
_LEAST, _MOST_OF_HEAD = 3, 3


def names_of(paper: Paper) -> frozenset[str]:
    """What a text may name a work by: the few words before its title's colon, words of the title with a capital or digit within
    them ("ResNet", "GPT2"), and the surnames of its authors.
    """
    head, colon, _ = paper.title.partition(":")
    heads = [" ".join(head.split())] if colon and len(head.split()) <= _MOST_OF_HEAD else []
    coined = [word for word in _WORD.findall(paper.title) if _is_coined(word)]
    surnames = [author.split()[-1] for author in paper.authors if author.split()]
    return frozenset([*(name for name in (*heads, *coined) if len(name) >= _LEAST), *surnames])


def _is_coined(word: str) -> bool:
    return any(c.isupper() or c.isdigit() for c in word[1:])


def pattern_of(names: Iterable[str]) -> re.Pattern[str] | None:
    """What finds any of some names, in capitals or not; None if there is none."""
    ordered = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, ordered))})(?:’s|'s|s)?\b", re.IGNORECASE) if ordered else None
