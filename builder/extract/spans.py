"""Spans of a printed line: those that a reader sees, and which of them are exponents or marks of footnotes.

A mark is one only if a footnote of the same page begins with it, so that exponents and raised citations stay. MuPDF gives a
footnote's own mark as the first span of its line, or as a separate line to the left; some styles print it like the note
itself ("1. https://...").
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pymupdf
from numpy.typing import NDArray

Span = dict[str, Any]

# Bits of a span's `char_flags`: MuPDF fills or strokes its characters (https://pymupdf.readthedocs.io/en/latest/textpage.html).
_DRAWN = 16 | 32
_LEAST_ALPHA, _LEAST_SIZE = 13, 3.5
# Least difference between the pixels of a span, of 255, in any colour.
_LEAST_CONTRAST = 16
# Of a span, in sizes of its type, what no other line reaches; the share of its colour that thin strokes have on a coarse picture.
_X_HEIGHT, _LEAST_INK = 0.45, 0.1
# A colour that is hard to see on paper, in all three channels.
_LIGHT = 0xB0
# Single marks may fall between pixels.
_LEAST_LETTERS = 3
# What may lie under or over a text: kinds of MuPDF's drawing steps, and the least width and height in points.
_FILLS, _WIDE, _HIGH = frozenset({"fill-path", "fill-image", "fill-shade"}), 20, 5
# Pixels of the longer side of a picture of a page, at most.
_LONGEST_SIDE = 2000
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


def take_unseen(page: pymupdf.Page, blocks: Sequence[dict[str, Any]]) -> int:
    """Take the spans that a reader cannot see off a page's lines; how many characters they had.

    They are not drawn, transparent, tiny, or of the colour of what lies around them, under them or over them. A picture of the page
    tells this last, where something but dark text is drawn.
    """
    lines = [line for block in blocks for line in block.get("lines", ())]
    # Light text, or something large besides text.
    may_hide = any(_is_light(span) for line in lines for span in line["spans"]) or any(
        drawn in _FILLS and x1 - x0 > _WIDE and y1 - y0 > _HIGH for drawn, (x0, y0, x1, y1) in page.get_bboxlog()
    )
    picture = _picture(page) if may_hide else None
    characters = 0
    for line in lines:
        unseen = [span for span in line["spans"] if not _is_visible(span, picture, line["dir"])]
        if unseen:
            characters += sum(len(span["text"].strip()) for span in unseen)
            line["spans"] = [span for span in line["spans"] if span not in unseen]
    return characters


def _is_light(span: Span) -> bool:
    color: int = span["color"]
    return min(color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF) >= _LIGHT


# A page as it looks: pixels, shape (height, width, 3), and how many there are to a point.
_Picture = tuple[NDArray[np.uint8], float]


def _picture(page: pymupdf.Page) -> _Picture:
    scale = min(1.0, _LONGEST_SIDE / max(page.rect.width, page.rect.height, 1))
    rotation = page.rotation
    # Boxes of texts are those of the page as it is before it is turned.
    page.set_rotation(0)
    picture = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
    page.set_rotation(rotation)
    rows = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.stride)
    return rows[:, : 3 * picture.width].reshape(picture.height, picture.width, 3), scale


def _is_visible(span: Span, picture: _Picture | None, direction: Sequence[float]) -> bool:
    if not span["char_flags"] & _DRAWN or span["alpha"] < _LEAST_ALPHA or span["size"] < _LEAST_SIZE:
        return False
    letters = sum(map(str.isalnum, span["text"]))
    is_asked = letters >= _LEAST_LETTERS or (letters > 0 and _is_light(span))
    if picture is None or direction[1] or not is_asked:
        return True
    box = _core(span, *picture)
    return len(box) > 0 and _shows(span, box)


def _core(span: Span, pixels: NDArray[np.uint8], scale: float) -> NDArray[np.int64]:
    """Return the pixels, shape (n, 3), between the baseline of a span and the height of its small letters: lines above and below do not
    reach so far.
    """
    x0, _, x1, _ = (max(0, int(scale * side)) for side in span["bbox"])
    baseline = scale * span["origin"][1]
    top, bottom = max(0, int(baseline - _X_HEIGHT * scale * span["size"])), max(0, int(baseline))
    return pixels[top : bottom + 1, x0 : x1 + 1].reshape(-1, 3).astype(np.int64)


def _shows(span: Span, box: NDArray[np.int64]) -> bool:
    """Tell whether a box has a print; under light letters, whether it has another ground than they, and something of their colour."""
    if not _is_light(span):
        return int((box.max(axis=0) - box.min(axis=0)).max()) >= _LEAST_CONTRAST
    colors, counts = np.unique(box @ np.array([1 << 16, 1 << 8, 1]), return_counts=True)
    ground, own = (_channels(int(color)) for color in (colors[counts.argmax()], span["color"]))
    away = own - ground
    if int(abs(away).max()) < _LEAST_CONTRAST:
        return False
    towards = ((box - ground) @ away) / int(away @ away)
    return float(towards.max()) >= _LEAST_INK


def _channels(color: int) -> NDArray[np.int64]:
    return np.array([color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF])


def with_exponents(spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans with a "^" before those that are exponents, as in 10^5, and without the marks of citations behind words."""
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
    printed = ([span for span in spans if span["text"].strip()] for spans in every)
    lines = [spans for spans in printed if spans]
    weight: Counter[float] = Counter()
    for span in chain.from_iterable(lines):
        weight[round(span["size"] * 2) / 2] += len(span["text"])
    small = (weight.most_common(1)[0][0] if weight else 0.0) - _SMALLER
    return frozenset([*_raised_marks(lines, small), *_plain_marks(lines, small)])


def _raised_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Yield marks that are raised next to small print: the first span of its line, or a separate line before it."""
    within = ((spans[0], spans[1]) for spans in lines if len(spans) > 1)
    for mark, note in chain(within, ((mine[0], after[0]) for mine, after in pairwise(lines) if len(mine) == 1)):
        close = 0 <= note["bbox"][0] - mark["bbox"][2] < note["size"]
        if close and note["size"] < small and _is_raised(mark, note) and _MARK.fullmatch(mark["text"].strip()):
            yield mark["text"].strip()


def _plain_marks(lines: Sequence[Sequence[Span]], small: float) -> Iterator[str]:
    """Yield marks that are printed like their notes, in small print low on the page."""
    lowest = max((spans[0]["bbox"][3] for spans in lines), default=0.0)
    for spans in lines:
        is_note = spans[0]["size"] < small and spans[0]["bbox"][1] > _LOWER * lowest
        match = _PLAIN.match("".join(span["text"] for span in spans)) if is_note else None
        if match:
            yield match[1]


def without_marks(spans: Sequence[Span], marks: frozenset[str]) -> list[Span]:
    """Return the spans of a line without the marks in it."""
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
