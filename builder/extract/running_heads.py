"""Which lines of a section are running text: captions, footnotes and the contents of tables and figures are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from builder.extract.text import clean

if TYPE_CHECKING:
    from builder.extract.lines import Line

_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing|scheme|chart|plate|box)\s*"
    # A letter or a Roman number is a capital, and stands apart: "Tables." begins no caption.
    r"(?:[A-Z]?\.?\d+[a-z]?(?:\.\d+)?|(?<=\s)(?-i:[IVX]+|[A-Z]\d*))\s*(?:[.:|—–-]|$)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing)\s*[A-Z]?\.?\d+", re.IGNORECASE)
_SMALLER = 0.7


def running_lines(lines: Sequence[Line], size: float) -> list[Line]:
    """The running text among the lines of a section.

    Args:
        size: the type size of running text in points; what is set smaller is small print.
    """
    kept: list[Line] = []
    skipping = False
    for i, line in enumerate(lines):
        if line.start:
            skipping = _is_caption(line)
        elif skipping and kept and line.y0 - lines[i - 1].y1 > 1.2 * line.size:
            skipping = False
        if not skipping and line.size >= size - _SMALLER:
            kept.append(line)
    return kept


def own_size(lines: Sequence[Line]) -> float:
    """The type size of a part that is set smaller than the body throughout, as reference lists and abstracts are."""
    weight: dict[float, int] = {}
    for line in lines:
        weight[line.size] = weight.get(line.size, 0) + len(line.text)
    return max(weight, key=lambda size: (weight[size], size), default=0.0)


def _is_caption(line: Line) -> bool:
    text = clean(line.text)
    if _CAPTION.match(text):
        return True
    label = _LABEL.match(text)
    return label is not None and line.lead >= len(label.group()) - 1
