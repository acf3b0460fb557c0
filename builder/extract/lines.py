"""PDF page -> lines of text with one style each.

MuPDF hands out a span per change of anything, often per word, and splits a printed line at wide blanks; here spans are
joined again, ligatures resolved, and the marks that no section may contain (rotated text, invisible text) left out.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Any

from builder.extract.compat import links_of
from builder.extract.hidden import read_blocks, text_of
from builder.extract.spans import Span, marks_of, with_exponents, without_marks
from builder.ids import ARXIV_PATTERN
from builder.mupdf import pymupdf

_BOLD = re.compile(r"bold|black|heavy|semibold|demi|medi\b|-medi|cmbx|cmssbx|sfbx|ecbx|\bbx|-bd|\.b$", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|slant|cmti|cmsl", re.IGNORECASE)
# "1.  R E L A T E D   W O R K", "M e t h o d o l o g y".
_SPACED = re.compile(
    r"(?:(?P<number>\d[\d.]*|[IVX]{1,4}\.)\s+)?(?P<words>(?:[A-Z.&] {1,4}){4,}[A-Z.]|[A-Z](?: {1,4}[a-z]){6,}) ?:?"
)
# TeX's fonts of large symbols, and what stands there from code 0 on (The TeXbook, appendix F).
_EXTENSION = re.compile(r"cmex|txex|pxex|MathExtension", re.IGNORECASE)
_CODES = re.compile(r"[^()\[\]{}|/\\ \x80-\U0010ffff]")
_LARGE_SYMBOLS = dict(
    enumerate(
        "()[]⌊⌋⌈⌉{}⟨⟩|‖/\\()()[]⌊⌋⌈⌉{}⟨⟩/\\ )[]⌊⌋⌈⌉{}⟨⟩/\\/\\⎛⎞⎡⎤⎣⎦⎢⎥⎧⎫⎩⎭⎨⎬⎪⏐"
        "⎝⎠⎜⎟⟨⟩⊔⊔∮∮⊙⊙⊕⊕⊗⊗∑∏∫⋃⋂⊎⋀⋁∑∏∫⋃⋂⊎⋀⋁∐∐ˆˆˆ˜˜˜[]⌊⌋⌈⌉{}√√√√√"
    )
) | {
    ord(code): symbol
    for code, symbol in zip("uvwxyz{|}~\x7f", ("", "", "‖", "↑", "↓", "", "", "", "", "⇑", "⇓"), strict=True)
}
# A section's number, without words.
_BARE_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5})\.?")
# Points that a line drawn twice is moved by, at most.
_SHIFT = 1.5
# Letters that tell a heading in capitals from the capitals of a formula.
_LEAST_OF_CAPITALS = 12
_WORDS_OF_ONE = frozenset("AIO")
# The id in arXiv's stamp, with its version.
STAMPED_ID = re.compile(rf"arXiv:\s*({ARXIV_PATTERN}(?:v\d+)?)")


@dataclass(frozen=True, slots=True)
class Line:
    """One printed line: bounding box in points, and the style that most of its characters have.

    Attributes:
        run_in: length of the leading run of bold or italic characters when the rest is neither, else 0.
        start: whether MuPDF began a new block of text with this line.
        largest: the largest size of type on the line.
    """

    page: int
    x0: float
    y0: float
    x1: float
    y1: float
    text: str
    size: float
    bold: bool
    italic: bool
    run_in: int = 0
    start: bool = False
    small_caps: bool = False
    largest: float = 0.0

    @property
    def height(self) -> float:
        return self.y1 - self.y0


# A link annotation to an address outside the file: its page, its box in points, and the address.
Hyperlink = tuple[int, tuple[float, float, float, float], str]
# The box of a printed word in points, and the word.
Word = tuple[float, float, float, float, str]


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of one page in the order of the file, its links, and the size of the page in points.

    Attributes:
        hidden: characters that a reader cannot see, which are in no line.
        stamp: arXiv's in the margin, "" if there is none.
        words: of the first page, sorted by their boxes; of others none.
    """

    width: float
    height: float
    lines: tuple[Line, ...]
    links: tuple[Hyperlink, ...] = ()
    hidden: int = 0
    stamp: str = ""
    words: tuple[Word, ...] = ()


# Text, size, font without subset tag, 1 bold + 2 italic.
_Run = tuple[str, float, str, int]


def read_page(page: pymupdf.Page) -> Page:
    """Read one page. Readers' annotations are taken off first."""
    while (annotation := page.first_annot) is not None:
        page.delete_annot(annotation)
    textpage = text_of(page)
    blocks, hidden = read_blocks(page, textpage)
    marks, raw = marks_of(blocks), _fonts_of_codes(blocks)
    lines: list[Line] = []
    # Text -> the lines that say it.
    printed: dict[str, list[Line]] = defaultdict(list)
    stamp = ""
    for block in blocks:
        start = True
        for printed_line in block.get("lines", ()):
            if abs(printed_line["dir"][0]) < 0.9:
                said = "".join(span["text"] for span in printed_line["spans"])
                stamp = stamp or (said if STAMPED_ID.search(said) else "")
                continue
            spans = with_exponents(without_marks(printed_line["spans"], marks))
            line = _line(page.number, printed_line["bbox"], _decoded(spans, raw), start)
            if line is None or (line.text in printed and _is_drawn_twice(line, printed[line.text])):
                continue
            printed[line.text].append(line)
            if lines and _is_initial(lines[-1], line):
                gap = " " if lines[-1].text in _WORDS_OF_ONE and _occurs_again(blocks, line.text.split()[0]) else ""
                head = lines[-1].text + gap
                run_in = line.run_in and line.run_in + len(head)
                lines[-1] = replace(line, text=head + line.text, run_in=run_in, start=lines[-1].start)
            elif lines and _continues(lines[-1], line):
                lines[-1] = _join(lines[-1], line)
            elif line.bold and (words := _words_behind(line, lines)) is not None:
                lines[words] = _join(line, lines[words])
            else:
                lines.append(line)
            start = False
    links = tuple((page.number, box, address) for box, address in links_of(page))
    printed_words = () if page.number else tuple(sorted(word[:5] for word in textpage.extractWORDS()))
    return Page(page.rect.width, page.rect.height, tuple(lines), links, hidden, stamp, printed_words)


def _is_drawn_twice(line: Line, alike: Sequence[Line]) -> bool:
    """Tell whether a line is drawn over another one of the same text, as some files make letters bold."""
    return any(abs(other.x0 - line.x0) < _SHIFT and abs(other.y0 - line.y0) < _SHIFT for other in alike)


def _line(page: int, box: Sequence[float], spans: Sequence[Span], start: bool) -> Line | None:
    """Join the spans of one line; None if they contain nothing printable."""
    runs = _runs(spans)
    text = _unspaced("".join([run[0] for run in runs]).strip())
    if not text:
        return None
    size, bold, italic, caps = _type_of(runs, text)
    run_in, largest = 0, size
    if len(runs) > 1:
        run_in, largest = _run_in_of(runs), max([run[1] for run in runs if run[0].strip()])
    x0, y0, x1, y1 = box
    return Line(page, x0, y0, x1, y1, text, size, bold, italic, run_in, start, caps, largest)


def _run_in_of(runs: list[_Run]) -> int:
    """Return how long the styled text is that a plain line begins with, as run-in headings do; their numbers may be plain."""
    is_numbered = not runs[0][3] and bool(runs[1][3]) and _BARE_NUMBER.fullmatch(runs[0][0].strip()) is not None
    styled = [len(piece) for piece, *_ in takewhile(lambda run: run[3], runs[is_numbered:])]
    return sum(styled, is_numbered * len(runs[0][0])) if 0 < len(styled) < len(runs) - is_numbered else 0


def _unspaced(text: str) -> str:
    """Return a letter-spaced line with its letters together: "R E L A T E D   W O R K"; any other as it is."""
    if spaced := _SPACED.fullmatch(text):
        words = (word.replace(" ", "") for word in re.split(r" {2,}", spaced["words"]))
        text = " ".join(filter(None, (spaced["number"], *words)))
    return text


def _type_of(runs: list[_Run], text: str) -> tuple[float, bool, bool, bool]:
    """Return size, bold, italic and small capitals of a line: what most of its characters have."""
    if len(runs) == 1:
        _, size, _, style = runs[0]
        return size, bool(style & 1), bool(style & 2), False
    weight: dict[tuple[float, str], int] = {}
    for piece, size, font, _ in runs:
        weight[size, font] = weight.get((size, font), 0) + len(piece)
    (size, _), _ = max(weight.items(), key=lambda item: (item[1], item[0]))
    letters = [(len(piece), style) for piece, _, _, style in runs if piece.strip()]
    total = sum(n for n, _ in letters)
    bold = 2 * sum(n for n, style in letters if style & 1) > total
    italic = 2 * sum(n for n, style in letters if style & 2) > total
    capitals = runs if text.upper() == text else _capitals_among(runs)
    sizes = {run[1] for run in capitals if any(map(str.isalpha, run[0]))}
    if len(sizes) == 2 and max(sizes) < 1.5 * min(sizes):
        return max(sizes), bold, italic and capitals is runs, True
    return size, bold, italic, False


def _capitals_among(runs: list[_Run]) -> list[_Run]:
    """Return the upright runs of a line if they are all capitals, as in a heading with a formula, which is italic; else none."""
    upright = [run for run in runs if not run[3] & 2]
    text = "".join(run[0] for run in upright)
    is_sentence = any(len(run[0].split()) > 2 for run in runs if run[3] & 2)
    return [] if is_sentence or not text.isupper() or sum(map(str.isalpha, text)) < _LEAST_OF_CAPITALS else upright


def _runs(spans: Sequence[Span]) -> list[_Run]:
    """Return the spans joined while size, font and style stay."""
    runs: list[_Run] = []
    text, key = "", (0.0, "", 0)
    for span in spans:
        # The line loses the blanks that it begins with.
        piece = span["text"] if text else span["text"].lstrip()
        new = _type(span["size"], span["font"], span["flags"])
        if new == key or piece.isspace() or not piece:
            text += piece
            continue
        if text:
            runs.append((text, *key))
        text, key = piece, new
    if text:
        runs.append((text, *key))
    return runs


@lru_cache(maxsize=1 << 12)
def _type(size: float, name: str, flags: int) -> tuple[float, str, int]:
    """Return the size in half points, font without subset tag, and its style by name and flags: 1 bold + 2 italic."""
    font = name.partition("+")[2] or name
    bold, italic = _BOLD.search(font) or flags >> 4 & 1, _ITALIC.search(font) or flags & 2
    return round(size * 2) / 2, font, (1 if bold else 0) | (2 if italic else 0)


def _fonts_of_codes(blocks: Sequence[dict[str, Any]]) -> frozenset[str]:
    """Return the fonts of TeX's large symbols on a page whose characters come as their codes, which are more than brackets.

    A few files say which characters they are; that a font has a map to Unicode does not tell, for most maps repeat the codes.
    """
    printed = [span for block in blocks for line in block.get("lines", ()) for span in line["spans"]]
    large = {font for font in {span["font"] for span in printed} if _EXTENSION.search(font)}
    spans = (span for span in printed if span["font"] in large) if large else ()
    return frozenset(span["font"] for span in spans if _CODES.search(span["text"]))


def _decoded(spans: Sequence[Span], raw: frozenset[str]) -> Sequence[Span]:
    """Return the spans with the large symbols that the codes of some fonts stand for."""
    if not raw:
        return spans
    return [{**span, "text": span["text"].translate(_LARGE_SYMBOLS)} if span["font"] in raw else span for span in spans]


def _occurs_again(blocks: Sequence[dict[str, Any]], word: str) -> bool:
    """Tell whether a page has a word elsewhere too, so that it lacks no initial."""
    spans = (span for block in blocks for line in block.get("lines", ()) for span in line["spans"])
    return bool(sum(span["text"].split().count(word) for span in spans) > 1)


def _is_initial(last: Line, line: Line) -> bool:
    """Tell whether `last` is one large letter with which the first word of `line` begins."""
    is_large = len(last.text) == 1 and last.text.isupper() and last.size > 1.8 * line.size
    is_beside = last.y0 <= line.y0 + line.size and last.y1 >= line.y1 and 0 <= line.x0 - last.x1 < line.size
    return is_large and is_beside and line.text[:1].isalpha()


def _continues(last: Line, line: Line) -> bool:
    """Tell whether `line` is on the same printed line as `last`, a word's distance or a number's tab to its right."""
    gap = line.x0 - last.x1
    if gap < -0.3 * line.size:
        return False
    overlap = min(last.y1, line.y1) - max(last.y0, line.y0)
    wide = 4.0 if len(last.text) <= 6 or (last.bold and line.bold) else 1.6
    most = 0.5 if abs(last.size - line.size) > 0.3 * last.size else wide
    return overlap >= 0.6 * min(last.height, line.height) and gap < most * line.size


def _words_behind(line: Line, lines: Sequence[Line]) -> int | None:
    """Return the line whose words a bold number begins, drawn before it: some files draw a heading's number last."""
    if not _BARE_NUMBER.fullmatch(line.text):
        return None
    return next(
        (i for i, other in enumerate(lines) if other.bold and other.text[0].isupper() and _continues(line, other)), None
    )


def _join(last: Line, line: Line) -> Line:
    longer = last if len(last.text) > len(line.text) else line
    between = " " * (line.x0 - last.x1 > 0.12 * line.size)
    run_in = last.run_in or (len(last.text) if last.bold and not line.bold else 0)
    if line.run_in and _BARE_NUMBER.fullmatch(last.text):
        run_in = len(last.text + between) + line.run_in
    return Line(
        page=longer.page,
        x0=last.x0,
        y0=min(last.y0, line.y0),
        x1=line.x1,
        y1=max(last.y1, line.y1),
        text=last.text + between + line.text,
        size=longer.size,
        bold=longer.bold,
        italic=longer.italic,
        run_in=run_in,
        start=last.start,
        small_caps=longer.small_caps,
        largest=max(last.largest, line.largest),
    )
