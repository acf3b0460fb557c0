"""Spans of a printed line: which of them are exponents or marks of footnotes.

A mark is one only if a footnote of the same page begins with it, so that exponents and raised citations stay. MuPDF gives a
footnote's own mark as the first span of its line, or as a separate line to the left; some styles print it like the note
itself ("1. https://...").
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

Span = dict[str, Any]

# Bit of a span's `flags`.
_SUPERSCRIPT = 1
_SIGNED, _DIGITS = re.compile(r"[+\-−–]\d{1,3}"), re.compile(r"\d{1,3}(?:[./]\d{1,3})?")
# A number is an exponent behind a number, a symbol of one letter or a unit; behind a word it is a mark of a note or a citation.
_BASE = re.compile(
    r"(?:\d|(?<![^\W_])[^\W\d_]|(?<![^\W_])(?:[cdkmnµμ]m|in|ft|ms|ns|[kMGT]?eV|[kMGT]?Hz|mol|sec|min|[kM]?pc|rad|deg))$"
)
# What stands behind a whole word that is no function and no unit, before a blank or a stop, marks a citation.
_MARKS = re.compile(r"\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*,?")
_WORD = re.compile(
    r"(?:^|[\s(\[“\"‘/—–-])(?!(?:log|ln|sin|cos|tan|cot|sec|csc|arcsin|arccos|arctan|sinh|cosh|tanh|exp|lim|max|min|arg|det|dim|mod|pixels?"
    r"|arcsec|arcmin)$)[^\W\d_]?[a-z]{2,}[.,;:”]?$"
)
_AFTER_MARK = re.compile(r"(?:\s|[.,;:)\]”]|$)")


def with_exponents(spans: Sequence[Span]) -> Sequence[Span]:
    """Return the spans with a "^" before those that are exponents, as in 10^5, and without the marks of citations behind words."""
    if len(spans) > 1:
        for span in spans:
            if span["flags"] & _SUPERSCRIPT:
                return list(_marked(spans))
    return spans


def _marked(spans: Sequence[Span]) -> Iterator[Span]:
    before = ""
    for span, after in zip(spans, [*(span["text"] for span in spans[1:]), ""], strict=False):
        text = span["text"].strip()
        is_raised = (
            span["flags"] & _SUPERSCRIPT and before and not before[-1].isspace() and not span["text"][:1].isspace()
        )
        if is_raised and (_SIGNED.fullmatch(text) or (_DIGITS.fullmatch(text) and _BASE.search(before))):
            yield {**span, "text": f"^{span['text']}"}
        elif (
            is_raised
            and _MARKS.fullmatch(text)
            and _WORD.search(before)
            and _AFTER_MARK.match(span["text"].rstrip("0123456789,;–-") + after)
        ):
            yield {**span, "text": " " if span["text"].endswith(" ") else ""}
        else:
            yield span
        before = span["text"]


# --- marks of footnotes

_MARK = re.compile(r"[1-9]\d?|[*†‡§¶]")
_PLAIN = re.compile(r"([1-9]\d?)\.?\s+(?:[A-Z(“\"]|https?:)")
# Where on a page to expect footnotes that nothing else distinguishes from other small print.
_LOWER = 0.6
# What a mark follows: a word, or what closes one; an exponent follows a single letter.
_FOLLOWED = re.compile(r"(?:[^\W\d_A-Z]{2}|[A-Z]{2}|[.,;:!?)\]”’\"'])$")
_SMALLER, _RAISED = 0.7, 0.85


def marks_of(blocks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the marks of a page's footnotes: at the beginning of a line in small print."""
    every = (line["spans"] for block in blocks for line in block.get("lines", ()))
    printed = ([span for span in spans if not span["text"].isspace()] for spans in every)
    lines = [spans for spans in printed if spans]
    small = _usual_size(lines) - _SMALLER
    return frozenset([*_raised_marks(lines, small), *_plain_marks(lines, small)])


def _usual_size(lines: Sequence[Sequence[Span]]) -> float:
    """Return the size in half points that most characters are set in; 0 without characters."""
    weight: dict[float, int] = {}
    for spans in lines:
        for span in spans:
            size = span["size"]
            weight[size] = weight.get(size, 0) + len(span["text"])
    # A page has few sizes and many spans: each size is rounded once, for those of one text differ by a little.
    rounded: Counter[float] = Counter()
    for size, characters in weight.items():
        rounded[round(size * 2) / 2] += characters
    return rounded.most_common(1)[0][0] if rounded else 0.0


def _raised_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Yield marks that are raised next to small print: the first span of its line, or a separate line before it."""
    within = ((spans[0], spans[1]) for spans in lines if len(spans) > 1)
    for mark, note in chain(within, ((mine[0], after[0]) for mine, after in pairwise(lines) if len(mine) == 1)):
        if note["size"] < small and 0 <= note["bbox"][0] - mark["bbox"][2] < note["size"]:
            text = mark["text"].strip()
            if _is_raised(mark, note) and _MARK.fullmatch(text):
                yield text


def _plain_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Yield marks that are printed like their notes, in small print low on the page."""
    lowest = max((spans[0]["bbox"][3] for spans in lines), default=0.0)
    for spans in lines:
        is_note = spans[0]["size"] < small and spans[0]["bbox"][1] > _LOWER * lowest
        match = _PLAIN.match("".join(span["text"] for span in spans)) if is_note else None
        if match:
            yield match[1]


def without_marks(spans: Sequence[Span], marks: frozenset[str]) -> Sequence[Span]:
    """Return the spans of a line without the marks in it."""
    if not marks:
        return spans
    kept: list[Span] = []
    last: Span | None = None
    for span in spans:
        text = span["text"].strip()
        if not (last and text in marks and _is_raised(span, last) and _FOLLOWED.search(last["text"])):
            kept.append(span)
            last = span if text else last
    return kept


def _is_raised(span: Span, beside: Span) -> bool:
    """Tell whether a span is set smaller than the one next to it, and higher."""
    is_higher = span["flags"] & _SUPERSCRIPT or span["origin"][1] < beside["origin"][1] - 0.15 * beside["size"]
    return bool(is_higher and span["size"] < _RAISED * beside["size"])
