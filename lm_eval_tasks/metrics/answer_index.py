"""The candidate that an answer to a SCALAR question names."""

from __future__ import annotations

import re
from collections import deque

_MARK = re.compile(r"<(/?)answer>", re.IGNORECASE)
# "2", "[2]", "Candidate 2", "index [02]."; two numbers or a negative one are no index.
_INDEX = re.compile(r"(?:(?:candidate|index|answer)\s{0,3})?\[?\s{0,3}(\d{1,6})\s{0,3}\]?\.?", re.IGNORECASE)
_STRICT = re.compile(r"<answer>(0|[1-9]\d{0,5})</answer>")


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>, however it is written; None where there is none or it names no candidate."""
    within = _last_answer(text)
    match = _INDEX.fullmatch(within.strip()) if within is not None else None
    return _valid(match, candidates)


def strict_answer_of(text: str, candidates: int) -> int | None:
    """The number of the last <answer>N</answer> that holds a number and nothing else, as SCALAR's own code reads answers."""
    return _valid(deque(_STRICT.finditer(text), maxlen=1)[0] if _STRICT.search(text) else None, candidates)


def _valid(match: re.Match[str] | None, candidates: int) -> int | None:
    return int(match[1]) if match and int(match[1]) < candidates else None


def _last_answer(text: str) -> str | None:
    """What stands between the last closing mark that has an opening one and the opening mark next to it."""
    begins: int | None = None
    found: str | None = None
    for mark in _MARK.finditer(text):
        if not mark[1]:
            begins = mark.end()
        elif begins is not None:
            found, begins = text[begins : mark.start()], None
    return found
