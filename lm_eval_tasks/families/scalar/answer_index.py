"""The candidate that an answer to a SCALAR question names."""

from __future__ import annotations

import re
from collections.abc import Iterator

_MARK = re.compile(r"<(/?)answer>", re.IGNORECASE)
# "2", "[2]", "Candidate 2", "index [02]."; two numbers or a negative one are not an index.
_INDEX = re.compile(r"(?:(?:candidate|index|answer)\s{0,3})?\[?\s{0,3}(\d{1,6})\s{0,3}\]?\.?", re.IGNORECASE)
# SCALAR's rule: within a line, lower case, and the word that the prompt shows in place of a number does not count.
_OPENING, _ENDING = "<answer>", "</answer>"
_WORD = re.compile(r"[Ii]ndex")


def answer_of(text: str, candidates: int) -> int | None:
    """The last index in <answer>..</answer>, however it is written; None if there is none or it names no candidate."""
    indices = [match[1] for within in _answers(text) if (match := _INDEX.fullmatch(within.strip()))]
    return _valid_index(indices[-1], candidates) if indices else None


def strict_answer_of(text: str) -> str:
    """What SCALAR's own code compares with the label (`evaluate_response` in src/evaluate/evaluate_cloze.py).

    Args:
        text: the whole answer, reasoning included.

    Returns:
        What the last tag holds, without the word "index" and without spaces at its ends; "" without a tag.
    """
    last = ""
    for line in text.split("\n"):
        end = 0
        while (start := line.find(_OPENING, end)) >= 0:
            start += len(_OPENING)
            closes = line.find(_ENDING, start)
            if closes < 0:
                break
            last, end = line[start:closes], closes + len(_ENDING)
    return _WORD.sub("", last).strip()


def _valid_index(number: str, candidates: int) -> int | None:
    return int(number) if int(number) < candidates else None


def _answers(text: str) -> Iterator[str]:
    """What is between each closing mark and the opening mark next to it."""
    begins: int | None = None
    for mark in _MARK.finditer(text):
        if not mark[1]:
            begins = mark.end()
        elif begins is not None:
            yield text[begins : mark.start()]
            begins = None
