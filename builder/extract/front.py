"""The title page's matter: title and abstract as printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.extract.running_heads import own_size, running_lines
from builder.extract.text import clean, join_lines

if TYPE_CHECKING:
    from builder.extract.lines import Line

_RUN_IN = re.compile(r"\s*a ?b ?s ?t ?r ?a ?c ?t\s*[.:—–-]*\s*", re.IGNORECASE)
_END = re.compile(r"(?:index terms|key ?words?|ccs concepts|pacs|acm reference)\b", re.IGNORECASE)


def title(front: Sequence[Line], size: float) -> str:
    """The largest lines at the top of the first page; "" if nothing is larger than the body.

    Args:
        size: the body's type size in points.
    """
    top = [line for line in front if line.page == 0]
    largest = max((line.size for line in top if len(line.text) > 3), default=0.0)
    if largest <= size + 0.7:
        return ""
    return join_lines(line for line in top if line.size > largest - 0.6 and len(line.text) > 1).replace("\n", " ")


def abstract(lines: Sequence[Line], words: frozenset[str]) -> str:
    """The text of an abstract from the lines below its heading, without key words."""
    kept: list[Line] = []
    for line in running_lines(lines, own_size(lines)):
        if _END.match(clean(line.text)):
            break
        kept.append(line)
    return join_lines(kept, words)


def run_in_abstract(front: Sequence[Line], words: frozenset[str]) -> str:
    """The abstract that begins after the word "Abstract" on its own line; "" if there is none."""
    start = next((i for i, line in enumerate(front) if _RUN_IN.match(line.text)), None)
    if start is None:
        return ""
    text = abstract(front[start:], words)
    return text[match.end() :] if (match := _RUN_IN.match(text)) else text
