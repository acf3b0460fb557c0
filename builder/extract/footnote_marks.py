"""Marks of footnotes in the text: raised numbers and signs, which would stick to the words that they follow ("labs.2").

A mark is one only if a footnote of the same page begins with it, so that exponents and raised citations stay. MuPDF gives a
footnote's own mark as the first span of its line, or as a separate line to the left; some styles print it like the note
itself ("1. https://...").
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from builder.extract.spans import Span

_MARK = re.compile(r"[1-9]\d?|[*†‡§¶]")
_PLAIN = re.compile(r"([1-9]\d?)\.?\s+(?:[A-Z(“\"]|https?:)")
# Where on a page to expect footnotes that nothing else distinguishes from other small print.
_LOWER = 0.6
# What a mark follows: a word, or what closes one; an exponent follows a single letter.
_FOLLOWED = re.compile(r"(?:[^\W\d_A-Z]{2}|[A-Z]{2}|[.,;:!?)\]”’\"'])$")
_SMALLER = 0.7
_RAISED = 0.85


def marks_of(blocks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """The marks of a page's footnotes: at the beginning of a line in small print."""
    lines = [
        spans
        for block in blocks
        for line in block.get("lines", ())
        if (spans := [span for span in line["spans"] if span["text"].strip()])
    ]
    exact: Counter[float] = Counter()
    for span in chain.from_iterable(lines):
        exact[span["size"]] += len(span["text"])
    weight: Counter[float] = Counter()
    for size, characters in exact.items():
        weight[round(size * 2) / 2] += characters
    small = (weight.most_common(1)[0][0] if weight else 0.0) - _SMALLER
    return frozenset([*_raised_marks(lines, small), *_plain_marks(lines, small)])


def _raised_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Marks that are raised next to small print: the first span of its line, or a separate line before it."""
    within = ((spans[0], spans[1]) for spans in lines if len(spans) > 1)
    before = ((mine[0], after[0]) for mine, after in pairwise(lines) if len(mine) == 1)
    for mark, note in chain(within, before):
        close = 0 <= note["bbox"][0] - mark["bbox"][2] < note["size"]
        if close and note["size"] < small and _is_raised(mark, note) and _MARK.fullmatch(mark["text"].strip()):
            yield mark["text"].strip()


def _plain_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Marks that are printed like their notes, in small print low on the page."""
    lowest = max((spans[0]["bbox"][3] for spans in lines), default=0.0)
    for spans in lines:
        if spans[0]["size"] < small and spans[0]["bbox"][1] > _LOWER * lowest:
            match = _PLAIN.match("".join(span["text"] for span in spans))
            if match:
                yield match[1]


def without_marks(spans: Sequence[Span], marks: frozenset[str]) -> list[Span]:
    """The spans of a line without the marks in it."""
    return list(_drop_marks(spans, marks)) if marks else list(spans)


def _drop_marks(spans: Sequence[Span], marks: frozenset[str]) -> Iterator[Span]:
    last: Span | None = None
    for span in spans:
        text = span["text"].strip()
        if last and text in marks and _is_raised(span, last) and _FOLLOWED.search(last["text"]):
            continue
        yield span
        last = span if text else last


def _is_raised(span: Span, beside: Span) -> bool:
    """Whether a span is set smaller than the one next to it, and higher."""
    smaller = span["size"] < _RAISED * beside["size"]
    return bool(smaller and (span["flags"] & 1 or span["origin"][1] < beside["origin"][1] - 0.15 * beside["size"]))
