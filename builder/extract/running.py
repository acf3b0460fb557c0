"""The lines of a section -> those of its running text: without captions, small print, and tables and figures that are set like the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from builder.extract.text import HYPHENS, clean
from lm_eval_tasks.base.rouge import FUNCTION_WORDS

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
# A number of a table with its interval or the like, whose brackets may be large.
_CELL = re.compile(r"[\d\s.,±%+*–−-]*\d\.\d[\d\s.,±%+*–−-]*[(\[][\d\s.,()\[\]±%+*–−-]+")
# Sizes of type between a caption and what follows it, and the least before one, where it begins no block of text.
_BEHIND, _BEHIND_OWN, _BEFORE = 1.2, 0.6, 0.9
# Characters of a line that a table or figure may divide from the rest of its sentence, and of one of theirs, at most.
_LEAST_OF_LINE, _MOST_OF_CELL = 30, 40
# With what a sentence may end.
SENTENCE_ENDS = frozenset('.!?:;”"’')
# Fewer lines, or words and numbers, may be a formula or a list.
_LEAST_CELLS, _LEAST_SAID, _MOST_FUNCTION_WORDS = 3, 6, 0.25
_SAID = re.compile(r"[^\W\d_]{3,}|\d+(?:[.,]\d+)*%?(?:±\d+(?:\.\d+)?%?)?")
_SIGN = re.compile(r"\w")
_FORMULA = re.compile(r"[=<>≤≥≈∼→←↦∈⊂⊆∪∩∑∏∫∂∇√∞∀∃⟨⟩{}|^]")


def running_lines(lines: Sequence[Line], size: float) -> list[Line]:
    """Return the running text among the lines of a section.

    Args:
        size: the type size of the text in points. A line without anything of this size is small print; one that is mostly of small
            capitals or subscripts is text.
    """
    kept: list[Line] = []
    skipping, least, behind = False, size - _SMALLER, _BEHIND
    for i, line in enumerate(lines):
        gap = line.y0 - lines[i - 1].y1 if i else 0.0
        if line.start:
            skipping, behind = _is_caption(line), _BEHIND
        elif line.size < least and _is_caption(line):
            skipping, behind = True, _BEHIND
        elif line.size >= least and i and _begins_caption(line, lines[i - 1], least):
            skipping, behind = True, _BEHIND_OWN
        elif skipping and kept and gap > behind * line.size:
            skipping = False
        if not skipping and (line.size >= least or (line.largest >= least and not _CELL.fullmatch(line.text))):
            kept.append(line)
    return kept


def own_size(lines: Sequence[Line]) -> float:
    """Return the type size of a part that is set smaller than the body throughout, as reference lists and abstracts are."""
    weight: Counter[float] = Counter()
    for line in lines:
        weight[line.size] += len(line.text)
    return max(weight, key=lambda size: (weight[size], size), default=0.0)


def _is_caption(line: Line) -> bool:
    text = clean(line.text)
    label = _LABEL.match(text)
    return bool(_CAPTION.match(text)) or (label is not None and line.run_in >= len(label.group()) - 1)


def _begins_caption(line: Line, before: Line, least: float) -> bool:
    """Tell whether a caption in the text's own type begins within a block: below a table's small print, or apart from the text."""
    is_apart = line.page == before.page and line.y0 - before.y1 > _BEFORE * line.size
    return (before.size < least or is_apart) and _CAPTION.match(clean(line.text)) is not None


# --- tables and figures in the text's own type


def without_cells(lines: Sequence[Line]) -> Iterator[Line]:
    """Leave out the cells of a table or the labels of a figure that stand between the two halves of a sentence."""
    i = stop = 0
    while i < len(lines):
        yield lines[i]
        if stop <= i:
            stop = _stop_of_cells(lines, i + 1)
        is_end = _is_broken_off(lines, i) and _is_second_half(lines, stop)
        i = stop if is_end and _are_cells(lines[i + 1 : stop]) else i + 1


def _is_broken_off(lines: Sequence[Line], i: int) -> bool:
    """Tell whether a line ends within a sentence, with which the next one does not go on."""
    text = lines[i].text.rstrip()
    goes_on = any(line.text[:1].islower() for line in lines[i + 1 : i + 2])
    return len(text) >= _LEAST_OF_LINE and text[-1] not in SENTENCE_ENDS and not goes_on


def _stop_of_cells(lines: Sequence[Line], start: int) -> int:
    """Return the first place from `start` on at which no cell can stand: a line goes on with a sentence, or is too long."""
    for k in range(start, len(lines)):
        text = lines[k].text
        if _is_half(text) or (len(text) > _MOST_OF_CELL and not _is_row(text)):
            return k
    return len(lines)


def _is_second_half(lines: Sequence[Line], k: int) -> bool:
    """Tell whether a line goes on with a sentence, and with no word of the line before."""
    return k < len(lines) and _is_half(lines[k].text) and not lines[k - 1].text.endswith(HYPHENS)


def _is_half(text: str) -> bool:
    return text[:1].islower() and len(text) >= _LEAST_OF_LINE


def _is_row(text: str) -> bool:
    """Tell whether a long line could be a table's row: no word or comma of it joins others."""
    return text.count(",") < 2 and not any(word.casefold() in FUNCTION_WORDS for word in text.split())


def _are_cells(lines: Sequence[Line]) -> bool:
    """Tell whether lines are cells or labels: several beside or far from one another, which say words and numbers and no formula."""
    whole = _joined(lines)
    if len(whole) < _LEAST_CELLS:
        return False
    counts = [_counted(line.text) for line in lines]
    if any(each.is_formula for each in counts):
        return False
    tokens, said, joining = (sum(column) for column in zip(*(each[:3] for each in counts), strict=True))
    is_prose = joining > _MOST_FUNCTION_WORDS * tokens
    if is_prose or said < max(_LEAST_SAID, 0.6 * tokens):
        return False
    return sum(_is_apart(line, after) for line, after in pairwise(whole)) >= 0.5 * (len(whole) - 1)


class _Counts(NamedTuple):
    """How many words and signs a line has, how many of them say something and join others, and whether it has signs of a formula."""

    tokens: int
    said: int
    joining: int
    is_formula: bool


# A line is looked at for each one before it that may be the first half.
@lru_cache(maxsize=1 << 12)
def _counted(text: str) -> _Counts:
    tokens = [token for token in text.split() if _SIGN.search(token)]
    said = sum(_SAID.fullmatch(token.strip("()[],.:;+-–")) is not None for token in tokens)
    joining = sum(token.casefold() in FUNCTION_WORDS for token in tokens)
    return _Counts(len(tokens), said, joining, _FORMULA.search(text) is not None)


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Return lines of which those that are pieces of one printed line are one."""
    whole: list[Line] = []
    for line in lines:
        if whole and _is_beside(whole[-1], line) and abs(line.x0 - whole[-1].x1) < line.size:
            whole[-1] = replace(whole[-1], x1=line.x1)
        else:
            whole.append(line)
    return whole


def _is_beside(line: Line, after: Line) -> bool:
    return line.page == after.page and -1.5 * line.height < after.y0 - line.y1 < -0.5 * line.height


def _is_apart(line: Line, after: Line) -> bool:
    """Tell whether two lines stand on one row, or farther from each other than lines of a paragraph."""
    if line.page != after.page or _is_beside(line, after):
        return True
    gap = after.y0 - line.y1
    return gap < 0 or gap > _BEFORE * line.size or abs(after.x0 - line.x0) > 2 * line.size
