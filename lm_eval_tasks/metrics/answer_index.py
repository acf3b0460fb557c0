"""The candidate that an answer to a SCALAR question names."""

from __future__ import annotations

import re

_MARK = re.compile(r"<(/?)answer>", re.IGNORECASE)
# "2", "[2]", "Candidate 2", "index [02]."; two numbers or a negative one are no index.
_INDEX = re.compile(r"(?:(?:candidate|index|answer)\s{0,3})?\[?\s{0,3}(\d{1,6})\s{0,3}\]?\.?", re.IGNORECASE)
_STRICT = re.compile(r"<answer>(0|[1-9]\d{0,5})</answer>")


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>, however it is written; None where there is none or it names no candidate."""
    match = _INDEX.fullmatch(_last_answer(text).strip())
    return _valid(match[1], candidates) if match else None


def strict_answer_of(text: str, candidates: int) -> int | None:
    """The number of the last <answer>N</answer> that holds a number and nothing else, as SCALAR's own code reads answers."""
    found = _STRICT.findall(text)
    return _valid(found[-1], candidates) if found else None


def _valid(number: str, candidates: int) -> int | None:
    return int(number) if int(number) < candidates else None


def _last_answer(text: str) -> str:
    """What stands between the last closing mark that has an opening one and the opening mark next to it; "" without both."""
    begins: int | None = None
    found = ""
    for mark in _MARK.finditer(text):
        if not mark[1]:
            begins = mark.end()
        elif begins is not None:
            found, begins = text[begins : mark.start()], None
    return found
