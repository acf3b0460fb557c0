"""Spans of a printed line: those that a reader sees, and which of them are exponents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

Span = dict[str, Any]

# Bits of a span's `char_flags`: MuPDF fills or strokes its characters (https://pymupdf.readthedocs.io/en/latest/textpage.html).
_DRAWN = 16 | 32
_LEAST_ALPHA, _WHITE = 13, 0xF8
# Bit of a span's `flags`.
_SUPERSCRIPT = 1
_SIGNED, _DIGITS = re.compile(r"[+\-−–]\d{1,3}"), re.compile(r"\d{1,3}")
# A number is an exponent behind a number, a symbol of one letter or a unit; behind other words it is a mark of a note or a citation.
_BASE = re.compile(r"(?:\d|(?<![^\W_])[^\W\d_]|(?<![^\W_])(?:[cdkmnµμ]m|in|ft|ms|ns))$")


def is_visible(span: Span) -> bool:
    """Whether a span is drawn, in a colour that stands out on paper. White labels within figures are no running text either."""
    color = span["color"]
    is_white = min(color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF) >= _WHITE
    return bool(span["char_flags"] & _DRAWN) and span["alpha"] >= _LEAST_ALPHA and not is_white


def take_unseen(blocks: Sequence[dict[str, Any]]) -> int:
    """Take the spans that a reader cannot see off a page's lines; how many characters they had."""
    characters = 0
    for line in (line for block in blocks for line in block.get("lines", ())):
        unseen = [span for span in line["spans"] if not is_visible(span)]
        if unseen:
            characters += sum(len(span["text"].strip()) for span in unseen)
            line["spans"] = [span for span in line["spans"] if is_visible(span)]
    return characters


def with_exponents(spans: Sequence[Span]) -> Iterator[Span]:
    """The spans with a "^" before those that are exponents, as in 10^5."""
    before = ""
    for span in spans:
        text = span["text"].strip()
        is_raised = span["flags"] & _SUPERSCRIPT and before and not before[-1].isspace()
        if is_raised and (_SIGNED.fullmatch(text) or (_DIGITS.fullmatch(text) and _BASE.search(before))):
            yield {**span, "text": f"^{span['text']}"}
        else:
            yield span
        before = span["text"]
