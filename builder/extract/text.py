"""Pages -> the lines that belong to the text, in reading order -> running text.

What repeats on the pages' margins (running heads, page numbers, line numbers of review versions) is furniture and goes; two-column
pages that the file does not give column by column are sorted. Words broken at line ends are joined, paragraphs kept apart.
"""

from __future__ import annotations

import re
import statistics
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.extract.lines import Line, Page

# Where heads and feet lie, in parts of the page's height; what repeats is believed to be one even if it lies further in.
_HEAD, _FOOT = 0.11, 0.90
_FAR_HEAD, _FAR_FOOT = 0.17, 0.83
_OUTER_HEAD, _OUTER_FOOT = 0.09, 0.91
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")
_PAGE_NUMBER = re.compile(r"\W*(?:page\s*)?(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE)
# What publishers print at the foot of a page, on the first page only or on each.
_NOTICE = re.compile(
    r"\W*(?:please cite this|https?://(?:dx\.)?doi\.org|doi\b|©|copyright|permission to make|all rights reserved"
    r"|received .{4,30} accepted|available online|e-?mail addresses?|\d{4}-\d{3}[\dx]/|authori[sz]ed licensed use"
    r"|this article is|to appear in|manuscript received|corresponding author|(?-i:P(?:reprint|REPRINT))\b|under review)",
    re.IGNORECASE,
)
# Sizes of type that a line of a paragraph has at least.
_WIDE = 20
_LINE_NUMBER = re.compile(r"\d{1,4}")


def body_size(pages: Sequence[Page]) -> float:
    """Return the type size (points) that most characters of the text are set in."""
    weight: Counter[float] = Counter()
    for line in (line for page in pages for line in page.lines if len(line.text) > 20):
        weight[line.size] += len(line.text)
    return weight.most_common(1)[0][0] if weight else 10.0


def text_lines(pages: Sequence[Page]) -> list[Line]:
    """Return all lines of the text in reading order, furniture left out."""
    furniture = _furniture(pages)
    kept = ((page, [line for line in page.lines if (line.page, line.y0, line.x0) not in furniture]) for page in pages)
    return [line for page, lines in kept for line in _in_reading_order(page, _without_line_numbers(page, lines))]


def _furniture(pages: Sequence[Page]) -> set[tuple[int, float, float]]:
    """Return the positions (page, y0, x0) of the lines that are page furniture."""
    usual = statistics.median(page.height for page in pages) if pages else 0.0
    placed = [(page, line) for page in pages for line in page.lines]
    seen: dict[tuple[str, int], list[Line]] = defaultdict(list)
    for page, line in placed:
        if _in_margin(page, line, usual, _FAR_HEAD, _FAR_FOOT):
            seen[_DIGITS.sub("#", line.text.casefold()), round(line.y0 / 4)].append(line)
    often = 3 if len(pages) > 5 else 2
    positions: set[tuple[int, float, float]] = set()
    bands: Counter[int] = Counter()
    for (_, band), same in seen.items():
        times = len({line.page for line in same})
        if times >= often:
            positions.update((line.page, line.y0, line.x0) for line in same)
            bands[band] += times
    for (_, band), same in seen.items():
        # A head that changes from section to section, where others do so on most pages.
        if len({line.page for line in same}) > 1 and 2 * bands[band] >= len(pages):
            positions.update((line.page, line.y0, line.x0) for line in same)
    positions |= _page_numbers(placed)
    notice = False
    for (page, line), (_, after) in zip(placed, [*placed[1:], (None, None)], strict=True):
        is_begun = notice and not line.start and line is not page.lines[0]
        notice = False
        if _in_margin(page, line, usual, _HEAD, _FOOT):
            # Within a block, the words of a notice are those of a sentence or of a reference, which the first page has not.
            begins = (line.start or line is page.lines[0]) and not _goes_on(line, after)
            is_set_off = begins or page is pages[0]
            notice = (is_set_off and _NOTICE.match(line.text) is not None) or is_begun
            is_outer = _in_margin(page, line, page.height, _OUTER_HEAD, _OUTER_FOOT)
            if notice or (is_outer and _PAGE_NUMBER.fullmatch(line.text)):
                positions.add((line.page, line.y0, line.x0))
    return positions


def _goes_on(line: Line, after: Line | None) -> bool:
    """Tell whether the next line belongs to the same paragraph."""
    if after is None or after.page != line.page or after.start or after.size != line.size:
        return False
    return after.x1 - after.x0 > _WIDE * line.size


def _page_numbers(placed: Iterable[tuple[Page, Line]]) -> set[tuple[int, float, float]]:
    """Return the positions of the bare numbers that count with the pages, at one height of three pages and more."""
    numbers: dict[tuple[int, int], list[Line]] = defaultdict(list)
    for _, line in placed:
        if _LINE_NUMBER.fullmatch(line.text):
            numbers[int(line.text) - line.page, round(line.y0 / 4)].append(line)
    often = (alike for alike in numbers.values() if len({line.page for line in alike}) > 2)
    return {(line.page, line.y0, line.x0) for alike in often for line in alike}


def _in_margin(page: Page, line: Line, usual: float, head: float, foot: float) -> bool:
    """Tell whether a line lies above `head` or below `foot`; a sideways page keeps the head of the usual, upright ones."""
    return line.y1 < head * max(page.height, usual) or line.y0 > foot * page.height


def _without_line_numbers(page: Page, lines: list[Line]) -> list[Line]:
    """Leave out the line numbers of review versions: columns of ten or more bare numbers next to the text."""
    edges = Counter(round(line.x1 / 3) for line in lines if _LINE_NUMBER.fullmatch(line.text))
    columns = {edge for edge, n in edges.items() if n >= 10}
    text_left = min((line.x0 for line in lines if len(line.text) > 40), default=0.0)
    text_right = max((line.x1 for line in lines if len(line.text) > 40), default=page.width)
    return [
        line
        for line in lines
        if not (
            _LINE_NUMBER.fullmatch(line.text)
            and round(line.x1 / 3) in columns
            and (line.x1 <= text_left + 2 or line.x0 >= text_right - 2)
        )
    ]


def _in_reading_order(page: Page, lines: list[Line]) -> Iterable[Line]:
    """Return the file's own order, unless it jumps between the columns more often than a page of text can."""
    gutter = _gutter(page, lines)
    if gutter is None:
        return lines
    sides = [side for line in lines if (side := _side(line, gutter)) and len(line.text) > 15]
    jumps = sum(a != b for a, b in pairwise(sides))
    if jumps <= 12 or 3 * jumps <= len(sides):
        return lines
    # A line across the columns ends them; others begin below it.
    across = 0
    placed: list[tuple[int, int, Line]] = []
    for line in sorted(lines, key=lambda line: (line.y0, line.x0)):
        side = _side(line, gutter)
        placed.append((across, side or 2, line))
        across += not side
    return _mark_starts([line for _, _, line in sorted(placed, key=lambda item: item[:2])])


def _gutter(page: Page, lines: list[Line]) -> float | None:
    """Return the x that separates two columns: the middle, if most long lines keep to one side of it."""
    middle = page.width / 2
    long_lines = [line for line in lines if line.x1 - line.x0 > 0.25 * page.width]
    crossing = sum(line.x0 < middle - 12 and line.x1 > middle + 12 for line in long_lines)
    return middle if len(long_lines) >= 10 and crossing < 0.3 * len(long_lines) else None


def _side(line: Line, gutter: float) -> int:
    """Return -1 left of the gutter, 1 right of it, 0 across."""
    return -1 if line.x1 <= gutter + 6 else int(line.x0 >= gutter - 6)


def _mark_starts(lines: list[Line]) -> list[Line]:
    """Mark the starts of blocks again if sorting tore the file's own blocks apart."""
    out: list[Line] = []
    for line in lines:
        last = out[-1] if out else None
        gap = line.y0 - last.y1 if last and last.page == line.page else 99.0
        out.append(replace(line, start=line.start or gap > 0.6 * line.size or gap < -2 * line.size))
    return out


# --- lines -> running text

# MuPDF resolves the ligatures that have a code point; these fonts encode theirs as control or private characters.
_LIGATURES = str.maketrans(
    {"\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st", "\ufb06": "st"}
    | {"\u00ad": "-"}
    | dict.fromkeys("\u00a0\u2009\u2028", " ")
    # What nobody can read: control characters and, but for the pieces of large brackets of Adobe's Symbol font, private ones.
    | dict.fromkeys("\u200b\ufeff\x7f", "")
    | dict.fromkeys(map(chr, [*range(9), *range(14, 32), *range(0x80, 0xA0)]), "")
    | dict.fromkeys(map(chr, range(0xE000, 0xF900)), "")
    | dict(zip(map(chr, range(0xF8EB, 0xF8F5)), "⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪", strict=True))
    | dict(zip(map(chr, range(0xF8F6, 0xF8FF)), "⎞⎟⎠⎤⎥⎦⎫⎬⎭", strict=True))
)
# Accents that a font has as characters of their own, before the letter of a word.
_MARKS = dict(zip("´¨˚ˇ˝¸˜ˆ", "\u0301\u0308\u030a\u030c\u030b\u0327\u0303\u0302", strict=True))
# A hat or a tilde within a word; at its beginning they belong to formulas.
_ACCENT = re.compile(
    # "Attacker´s" has an apostrophe.
    r"(?:(?:(?<=[^\W\d_])|(?<!\w)(?=.[^\W\d_]{3}))(?:´(?!s\b)|[¨˚ˇ˝¸])|(?<=[^\W\d_])[˜ˆ](?=[^\W\d_]{2}))(?P<letter>[^\W\d_])"
)
_CEDILLA = re.compile(r"(?<=[cCsStT])\u00b8")
_DOTLESS = str.maketrans("ıȷ", "ij")
HYPHENS = ("-", "\u2010")
_HYPHENED, _SUSPENDED = (
    re.compile(r"[^\W_][-\u2010]$"),
    re.compile(r"(?:and|or|to|nor|as|versus|vs|but|through|rather|und)\b|https?:", re.IGNORECASE),
)
_BREAK, _BLANKS = re.compile(r"(?<=[^\W\d_])[-\u2010]$"), re.compile(r"[ \t\r\f\v]+")
# Compounds whose first part is a word of its own keep their hyphen when they happen to break after it.
_KEEPS_HYPHEN = frozenset(
    "all anti based co cross data end ever fast few fine first five four full gold hand hard high human inter intra "
    "just large less long low mean meta mini mixed model most multi near non off one open post pre problem re real "
    "right second self semi short single small so soft state still sub super task ten third three time token top two "
    "ultra up user well wide word world zero".split()
)
# Of these, what begins words too: a hyphen behind it stays only where its rest is a word, or in what many papers have.
_PREFIXES = frozenset(
    "all anti co end hand inter intra mean meta mini model data off post pre re real so state sub super ten token top up".split()
)
_COMPOUNDS = frozenset(
    "data-centric data-dependent data-driven data-efficient data-free meta-learning mini-batch model-based model-dependent model-driven "
    "model-specific off-chain off-diagonal off-policy post-deployment post-hoc post-processing post-release post-training pre-defined "
    "pre-deployment pre-existing pre-extracted pre-norm pre-processing pre-release pre-specified pre-trained pre-training pre-written "
    "real-life real-time real-valued real-world sub-network sub-task super-resolution ten-fold token-level top-level".split()
)
# "multiplication", "multitude", "multinomial"
_BEHIND_MULTI = ("ple", "pli", "ply", "plex", "tud", "nomi")


# A line is looked at by several rules.
@lru_cache(maxsize=1 << 13)
def clean(text: str) -> str:
    """Return one line with ligatures and odd blanks resolved."""
    is_plain = text.isascii() and text.isprintable() and "  " not in text
    if is_plain:
        return text.strip()
    text = text.translate(_LIGATURES)
    # Most lines have none.
    if not _MARKS.keys().isdisjoint(text):
        text = _ACCENT.sub(_composed, unicodedata.normalize("NFC", _CEDILLA.sub("\u0327", text)))
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip()


def _composed(accented: re.Match[str]) -> str:
    """Return a letter with its accent, or both as they are if no letter has it."""
    letter = unicodedata.normalize("NFC", accented["letter"].translate(_DOTLESS) + _MARKS[accented.group()[0]])
    return letter if len(letter) == 1 else accented.group()


def join_lines(lines: Iterable[Line], words: frozenset[str] = frozenset()) -> str:
    """Join lines in reading order to text with one newline between paragraphs.

    Args:
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
        elif out[-1].endswith(HYPHENS) and _BREAK.search(out[-1]) and text[:1].isalpha():
            head = out[-1][:-1]
            out[-1] = head if _is_broken(head, text, words) else out[-1]
            out.append(text)
        elif _HYPHENED.search(out[-1]) and text[0].isalnum() and not _SUSPENDED.match(text):
            # "GPT-4", "10-fold"
            out.append(text)
        else:
            out += [" ", text]
        last = line
    return "".join(out)


def _is_broken(head: str, tail: str, words: frozenset[str]) -> bool:
    """Tell whether the hyphen between two line parts is only the typesetter's."""
    first = re.split(r"[^\w]", head)[-1].casefold()
    second = re.split(r"[^\w]", tail)[0].casefold()
    if first + second in words:
        return True
    if tail[0].isupper() and not head.isupper():
        return False
    # "state-of-the-art": a word that has a hyphen already is a compound.
    is_compound = any(sign in head.split()[-1] for sign in HYPHENS) or f"{first}-{second}" in words
    is_whole = first not in _PREFIXES or second in words or f"{first}-{second}" in _COMPOUNDS
    is_one_word = first == "multi" and second.startswith(_BEHIND_MULTI)
    return not (is_compound or (first in _KEEPS_HYPHEN and is_whole and not is_one_word))


def _starts_paragraph(last: Line, line: Line, before: str) -> bool:
    ended = before[-1:] in ".!?:;”\"'’)]" or len(before) < 2
    if line.page != last.page or line.y0 < last.y0 - 2 * last.height:
        # A new column or page: only an indent or a finished short line would tell, and columns differ; go by the stop.
        return False
    gap = line.y0 - last.y1
    indented = 0.6 * line.size < line.x0 - last.x0 < 4 * line.size
    begins = (line.start or indented) and (indented or gap > 0.25 * line.size)
    return ended and (begins or gap > 0.9 * line.size)
