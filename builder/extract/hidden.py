"""What of a page's text a reader does not see: not drawn, transparent, tiny, or of the colour of what lies around, under or over it.

The order and the colours in which MuPDF draws a page tell of most text that it is seen; the rest is looked at in a picture.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from builder.extract.compat import has_pictures, picture_boxes, unturned
from builder.extract.spans import Span
from builder.mupdf import pymupdf

Block = dict[str, Any]

# Bits of a span's `char_flags`: MuPDF fills or strokes its characters (https://pymupdf.readthedocs.io/en/latest/textpage.html).
_DRAWN = 16 | 32
_LEAST_ALPHA, _LEAST_SIZE = 13, 3.5
# Least difference between the pixels of a span, of 255, in any colour.
_LEAST_CONTRAST = 16
# The height of small letters, in sizes of type, to which no line above or below reaches; the share of its colour that thin strokes have
# on a coarse picture.
_X_HEIGHT, _LEAST_INK = 0.45, 0.1
# A colour that is hard to see on paper, in all three channels.
_LIGHT = 0xB0
# Single marks may fall between pixels.
_LEAST_LETTERS = 3
# The least width and height, in points, of what may lie under or over a text.
_WIDE, _HIGH = 12, 2.5
# A page's text in the order in which it is drawn, with what is painted.
_FLAGS = (
    pymupdf.TEXTFLAGS_DICT & ~pymupdf.TEXT_PRESERVE_IMAGES & ~pymupdf.TEXT_PRESERVE_LIGATURES
    | pymupdf.TEXT_COLLECT_VECTORS
)
_VECTOR = 3
# From one line of a block to the next: sizes of type within which it is the same, and at most; and points that it may be indented by
# (MuPDF's BASE_MAX_DIST and PARAGRAPH_DIST).
_BASELINE, _STEP, _INDENT = 0.8, 1.5, 0.5
# Difference between two colours, of 255 in any channel, with which one is read on the other.
_APART = 64
_OPAQUE = 255
# Fills that are held against all spans of a page at once: a plot has thousands.
_AT_ONCE = 256
# To red, green and blue in a number.
_SHIFTS = np.array([16, 8, 0])
# The share of dark text that is seen through what lies over it.
_LEAST_THROUGH = 0.2
# Points around the spans that are looked at.
_AROUND = 2.0
# Pixels of the longer side of a picture of a page, at most.
_LONGEST_SIDE = 2000


def text_of(page: pymupdf.Page) -> pymupdf.TextPage:
    """Run a page once: its text with what is painted, in the order in which it is drawn."""
    return page.get_textpage(flags=_FLAGS)


def read_blocks(page: pymupdf.Page, textpage: pymupdf.TextPage) -> tuple[list[Block], int]:
    """Return a page's blocks of text with the spans that a reader sees, and how many characters the others have.

    These are not drawn, transparent, tiny, or of the colour of what lies around them, under them or over them. This last only a picture
    of the page tells: it is drawn around the spans that may be hidden, and not at all where there is none.

    Args:
        textpage: as `text_of` returns it.
    """
    drawn: list[Block] = page.get_text("dict", textpage=textpage)["blocks"]
    unseen = set(_not_drawn(drawn))
    spans, fills, boxes = _painted(page, drawn)
    if fills:
        unseen |= {id(span) for span in _printed_over(spans, fills)}
    # Boxes are those of the page as it is before it is turned: which of them meet is not known then.
    is_turned = page.rotation and (fills or boxes)
    found = (span for _, span in spans) if is_turned else _doubtful(page, spans, fills, boxes)
    doubtful = [span for span in found if _is_asked(span) and id(span) not in unseen]
    if doubtful:
        picture = _picture(page, doubtful)
        unseen.update(id(span) for span in doubtful if not _shows(span, _core(span, picture)))
    blocks, characters = list(_whole(drawn)), 0
    for line in _lines(blocks) if unseen else ():
        taken = [span for span in line["spans"] if id(span) in unseen]
        if taken:
            characters += sum(len(span["text"].strip()) for span in taken)
            line["spans"] = [span for span in line["spans"] if id(span) not in unseen]
    return blocks, characters


def _lines(blocks: Sequence[Block]) -> Iterator[dict[str, Any]]:
    return chain.from_iterable(block.get("lines", ()) for block in blocks)


def _whole(drawn: Sequence[Block]) -> Iterator[Block]:
    """Yield the blocks of text as MuPDF makes them where nothing is painted: a rule or a box within a paragraph parts it."""
    last: Block | None = None
    is_parted = False
    for block in drawn:
        if block["type"] == _VECTOR:
            is_parted = True
            continue
        # One of type of no size has no lines.
        if not block["lines"]:
            continue
        if last and is_parted and _goes_on(last["lines"][-1], block["lines"][0]):
            last["lines"] += block["lines"]
        else:
            if last:
                yield last
            last = block
        is_parted = False
    if last:
        yield last


def _goes_on(line: dict[str, Any], after: dict[str, Any]) -> bool:
    """Tell whether MuPDF puts two lines into one block: on or near one baseline, or one step apart and the second not indented."""
    if not line["spans"] or not after["spans"] or line["dir"] != after["dir"]:
        return False
    x, first = line["spans"][0]["origin"][0], after["spans"][0]
    step = abs(first["origin"][1] - line["spans"][-1]["origin"][1]) / first["size"]
    return bool(step < _BASELINE or (step <= _STEP and first["origin"][0] <= x + _INDENT))


def _not_drawn(drawn: Sequence[Block]) -> Iterator[int]:
    """Yield the identities of the spans that are not drawn, transparent or tiny. A page has hundreds of spans: each is looked at once."""
    for line in _lines(drawn):
        for span in line["spans"]:
            if not span["char_flags"] & _DRAWN or span["alpha"] < _LEAST_ALPHA or span["size"] < _LEAST_SIZE:
                yield id(span)


def _is_asked(span: Span) -> bool:
    letters = sum(map(str.isalnum, span["text"]))
    return letters >= _LEAST_LETTERS or (letters > 0 and _is_light(span))


def _is_light(span: Span) -> bool:
    color: int = span["color"]
    return min(color >> 16 & 0xFF, color >> 8 & 0xFF, color & 0xFF) >= _LIGHT


# With its place in the order in which a page is drawn.
_Placed: TypeAlias = tuple[int, dict[str, Any]]


def _painted(
    page: pymupdf.Page, drawn: Sequence[Block]
) -> tuple[list[_Placed], list[_Placed], Sequence[Sequence[float]]]:
    """Return the spans of a page that something may hide, what large is painted, and the boxes of images and shadings."""
    fills = [
        (i, block)
        for i, block in enumerate(drawn)
        if block["type"] == _VECTOR and block["alpha"] and _is_large(block["bbox"])
        # A frame hides nothing; a thick line may.
        if not block["stroked"] or _is_light(block)
    ]
    boxes = [box for box in picture_boxes(page) if _is_large(box)] if has_pictures(page) else []
    spans = [
        (i, span)
        for i, block in enumerate(drawn)
        for line in block.get("lines", ())
        if not line["dir"][1]
        for span in line["spans"]
        if (span["color"] and _is_light(span)) or ((fills or boxes) and len(span["text"]) >= _LEAST_LETTERS)
    ]
    return spans, fills, boxes


def _doubtful(
    page: pymupdf.Page, spans: Sequence[_Placed], fills: Sequence[_Placed], boxes: Sequence[Sequence[float]]
) -> Iterator[dict[str, Any]]:
    """Yield the spans that may be hidden: light ones, and those that something large lies over, or under in their own colour.

    Dark text on a ground of another colour, with nothing over it, is seen whatever the page looks like.
    """
    if not spans:
        return iter(())
    colors = _channels([span["color"] for _, span in spans])
    hiding = (colors >= _LIGHT).all(axis=1)
    # A picture is looked at there, in whole pixels.
    own = _cores(spans) + 1 / _scale(page) * np.array([-1, -1, 1, 1])
    at = np.array([i for i, _ in spans])
    # What is left of dark text below what lies over it.
    through = np.ones(len(spans))
    for some in (fills[i : i + _AT_ONCE] for i in range(0, len(fills), _AT_ONCE)):
        meet = _meets(own, _boxes([fill["bbox"] for _, fill in some]))
        is_over = np.array([i for i, _ in some]) > at[:, np.newaxis]
        seen_through = 1 - np.array([fill["alpha"] for _, fill in some]) / _OPAQUE
        through *= np.where(meet & is_over, seen_through, 1).prod(axis=1)
        grounds = _channels([fill["color"] for _, fill in some])
        is_alike = np.abs(colors[:, np.newaxis] - grounds).max(axis=2) < _APART
        hiding |= (meet & ~is_over & is_alike).any(axis=1)
    if boxes:
        hiding |= _meets(own, _boxes(boxes)).any(axis=1)
    hiding |= through < _LEAST_THROUGH
    return (spans[int(k)][1] for k in np.flatnonzero(hiding))


def _printed_over(spans: Sequence[_Placed], fills: Sequence[_Placed]) -> Iterator[dict[str, Any]]:
    """Yield the spans that an opaque box covers and other text is printed over, as in a corrected file: a picture shows the other text."""
    at = np.array([i for i, _ in spans])
    cores = _cores(spans)
    for i, fill in fills:
        x0, y0, x1, y1 = fill["bbox"]
        if fill["alpha"] != _OPAQUE or not fill["isrect"] or fill["stroked"]:
            continue
        within = (cores[:, 0] >= x0 - 1) & (cores[:, 2] <= x1 + 1) & (cores[:, 1] >= y0) & (cores[:, 3] <= y1)
        for k in np.flatnonzero(within & (at < i)):
            if _meets(cores[at > i], cores[k : k + 1]).any():
                yield spans[int(k)][1]


def _is_large(box: Sequence[float]) -> bool:
    return box[2] - box[0] > _WIDE and box[3] - box[1] > _HIGH


def _cores(spans: Sequence[_Placed]) -> NDArray[np.float64]:
    """Return the boxes of spans between their baselines and the height of their small letters, shape (spans, 4)."""
    return _boxes(
        [
            (span["bbox"][0], span["origin"][1] - _X_HEIGHT * span["size"], span["bbox"][2], span["origin"][1])
            for _, span in spans
        ]
    )


def _boxes(boxes: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    return np.array(boxes, dtype=np.float64).reshape(-1, 4)


def _meets(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which boxes meet which others, shape (boxes, others)."""
    x0, y0, x1, y1 = boxes.T[:, :, np.newaxis]
    return np.asarray((x0 < others[:, 2]) & (x1 > others[:, 0]) & (y0 < others[:, 3]) & (y1 > others[:, 1]))


@dataclass(frozen=True, slots=True)
class _Picture:
    """A part of a page as it looks: pixels, shape (height, width, 3), how many there are to a point, and where the first one lies."""

    pixels: NDArray[np.uint8]
    scale: float
    left: int
    top: int


def _scale(page: pymupdf.Page) -> float:
    """Return how many pixels of a page's picture there are to a point."""
    return float(min(1.0, _LONGEST_SIDE / max(page.rect.width, page.rect.height, 1)))


def _picture(page: pymupdf.Page, spans: Sequence[Span]) -> _Picture:
    """Draw the part of a page in which some spans are."""
    scale = _scale(page)
    corners = np.array([span["bbox"] for span in spans])
    around = pymupdf.Rect(*(corners[:, :2].min(axis=0) - _AROUND), *(corners[:, 2:].max(axis=0) + _AROUND))
    with unturned(page):
        picture = page.get_pixmap(
            matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False, clip=around & page.rect
        )
    rows = np.frombuffer(picture.samples, dtype=np.uint8).reshape(picture.height, picture.stride)
    pixels = rows[:, : 3 * picture.width].reshape(picture.height, picture.width, 3)
    return _Picture(pixels, scale, picture.x, picture.y)


def _core(span: Span, picture: _Picture) -> NDArray[np.int64]:
    """Return the pixels, shape (n, 3), between the baseline of a span and the height of its small letters: lines above and below do not
    reach so far.
    """
    scale = picture.scale
    x0, x1 = (max(0, int(scale * span["bbox"][side]) - picture.left) for side in (0, 2))
    baseline = scale * span["origin"][1]
    highest = baseline - _X_HEIGHT * scale * span["size"]
    top, bottom = (max(0, int(y) - picture.top) for y in (highest, baseline))
    return picture.pixels[top : bottom + 1, x0 : x1 + 1].reshape(-1, 3).astype(np.int64)


def _shows(span: Span, box: NDArray[np.int64]) -> bool:
    """Tell whether something is printed in a box; of light letters, whether the ground has another colour, and something has theirs."""
    if not len(box):
        return False
    if not _is_light(span):
        return int((box.max(axis=0) - box.min(axis=0)).max()) >= _LEAST_CONTRAST
    colors, counts = np.unique(box @ np.array([1 << 16, 1 << 8, 1]), return_counts=True)
    ground, own = _channels([colors[counts.argmax()], span["color"]])
    away = own - ground
    if int(abs(away).max()) < _LEAST_CONTRAST:
        return False
    towards = ((box - ground) @ away) / int(away @ away)
    return float(towards.max()) >= _LEAST_INK


def _channels(colors: Sequence[int]) -> NDArray[np.int64]:
    """Return red, green and blue of some colours, shape (colours, 3)."""
    return np.asarray(np.array(colors, dtype=np.int64)[:, np.newaxis] >> _SHIFTS & 0xFF)
