"""Lines -> running text: captions, footnotes and the contents of tables and figures left out, words broken at line ends joined,
paragraphs kept apart.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.extract.lines import Line

# MuPDF resolves the ligatures that have a code point; these fonts encode theirs as control or private characters.
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
    | {"\u00ad": "-"}
    | dict.fromkeys("\u00a0\u2009\u2028", " ")
    | dict.fromkeys("\u200b\ufeff\x00\x02\x03", "")
)
_BREAK = re.compile(r"(?<=[^\W\d_])[-\u2010]$")
_BLANKS = re.compile(r"[ \t\r\f\v]+")
# Compounds whose first part is a word of its own keep their hyphen when they happen to break after it.
_KEEPS_HYPHEN = frozenset(
    "all anti based co cross data end ever fast few fine first five four full gold hand hard high human inter intra "
    "just large less long low mean meta mini mixed model most multi near non off one open post pre problem re real "
    "right second self semi short single small so soft state still sub super task ten third three time token top two "
    "ultra up user well wide word world zero".split()
)
_PREFIXES = frozenset("anti co inter intra meta multi non post pre re sub super mini up model data".split())
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing|scheme|chart|plate|box)\s*"
    # A letter or a Roman number is a capital, and stands apart: "Tables." begins no caption.
    r"(?:[A-Z]?\.?\d+[a-z]?(?:\.\d+)?|(?<=\s)(?-i:[IVX]+|[A-Z]\d*))\s*(?:[.:|—–-]|$)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing)\s*[A-Z]?\.?\d+", re.IGNORECASE)
_SMALLER = 0.7


def clean(text: str) -> str:
    """One line with ligatures and odd blanks resolved."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    return _BLANKS.sub(" ", text.translate(_LIGATURES)).strip()


def join_lines(lines: Iterable[Line], words: frozenset[str] = frozenset()) -> str:
    """Join lines to text with one newline between paragraphs.

    Args:
        lines: in reading order.
        words: the document's own vocabulary, lower case: decides whether a hyphen at a line's end is kept.
    """
    out: list[str] = []
    last: Line | None = None
    for line in lines:
        text = clean(line.text)
        if not text:
            continue
        if not out:
            out.append(text)
        elif last is not None and _starts_paragraph(last, line, out[-1]):
            out += ["\n", text]
        elif _BREAK.search(out[-1]) and text[:1].isalpha():
            head = out[-1][:-1]
            out[-1] = head if _is_broken(head, text, words) else out[-1]
            out.append(text)
        else:
            out += [" ", text]
        last = line
    return "".join(out)


def _is_broken(head: str, tail: str, words: frozenset[str]) -> bool:
    """Whether the hyphen between two line parts is only the typesetter's."""
    first = re.split(r"[^\w]", head)[-1].casefold()
    second = re.split(r"[^\w]", tail)[0].casefold()
    if tail[0].isupper() and not head.isupper():
        return False
    if first + second in words:
        return True
    if "-" in head.split()[-1]:
        # "state-of-the-art": a word that has a hyphen already is a compound.
        return False
    if f"{first}-{second}" in words or first.isdigit():
        return False
    return not (first in _KEEPS_HYPHEN and (first not in _PREFIXES or second in words))


def _starts_paragraph(last: Line, line: Line, before: str) -> bool:
    ended = before[-1:] in ".!?:;”\"'’)]" or len(before) < 2
    if line.page != last.page or line.y0 < last.y0 - 2 * last.height:
        # A new column or page: only an indent or a finished short line would tell, and columns differ; go by the stop.
        return False
    gap = line.y0 - last.y1
    if gap > 0.9 * line.size:
        return ended
    indented = 0.6 * line.size < line.x0 - last.x0 < 4 * line.size
    return ended and (line.start or indented) and (indented or gap > 0.25 * line.size)


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
    weight: Counter[float] = Counter()
    for line in lines:
        weight[line.size] += len(line.text)
    return max(weight, key=lambda size: (weight[size], size), default=0.0)


def _is_caption(line: Line) -> bool:
    text = clean(line.text)
    label = _LABEL.match(text)
    return bool(_CAPTION.match(text)) or (label is not None and line.lead >= len(label.group()) - 1)
