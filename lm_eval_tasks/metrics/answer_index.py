"""The candidate that an answer to a SCALAR question names."""

from __future__ import annotations

import re

_MARK = re.compile(r"<(/?)answer>", re.IGNORECASE)
_INDEX = re.compile(r"\d+")


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>; None where there is none or it names no candidate."""
    within = _last_answer(text)
    index = _INDEX.search(within) if within is not None else None
    return int(index[0]) if index and int(index[0]) < candidates else None


def _last_answer(text: str) -> str | None:
    """What stands between the last closing mark that has an opening one and the first opening mark behind the pair before it."""
    begins: int | None = None
    found: str | None = None
    for mark in _MARK.finditer(text):
        if not mark[1]:
            begins = mark.end() if begins is None else begins
        elif begins is not None:
            found, begins = text[begins : mark.start()], None
    return found
