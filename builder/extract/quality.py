"""Checks of a document that need no gold text; each failure is a reason to drop the paper."""

from __future__ import annotations

import re

from builder.errors import ExtractError
from builder.records import Document

_WORD = re.compile(r"[^\W\d_]+")
_COMMON = frozenset("the of and to in a is that for we with as by on are this be from an which it".split())
_MIN_WORDS = 300
_MIN_COMMON = 0.12


def check(document: Document) -> None:
    """Accept a document or say why not.

    Raises:
        ExtractError: no_sections, too_little_text, not_english.
    """
    text = " ".join(s.text for s in document.sections if s.role not in ("references", "appendix"))
    words = _WORD.findall(text.casefold())
    if not document.sections:
        raise ExtractError("no_sections", "no heading was found")
    if len(words) < _MIN_WORDS:
        raise ExtractError("too_little_text", f"{len(words)} words in sections")
    share = sum(word in _COMMON for word in words) / len(words)
    if share < _MIN_COMMON:
        raise ExtractError("not_english", f"{share:.0%} of the words are common English ones")
