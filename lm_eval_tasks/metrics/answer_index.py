"""The candidate that an answer to a SCALAR question names."""

from __future__ import annotations

import re

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_INDEX = re.compile(r"\d+")


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>; None where there is none or it names no candidate."""
    found = _ANSWER.findall(text)
    index = _INDEX.search(found[-1]) if found else None
    return int(index[0]) if index and int(index[0]) < candidates else None
