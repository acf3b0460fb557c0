"""The candidate that an answer to a SCALAR question names, by SCALAR's own rule."""

from __future__ import annotations

import re

# SCALAR's rule: within a line, lower case, and the word that the prompt shows in place of a number does not count.
_OPENING, _ENDING = "<answer>", "</answer>"
_WORD = re.compile(r"[Ii]ndex")


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
