"""Made-up paper -> a real PDF: one or two columns, running heads, page numbers, figures, footnotes, a reference list."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pymupdf

if TYPE_CHECKING:
    from builder.sources.sample.world import WorldPaper

_WIDTH, _HEIGHT = 612.0, 792.0
_TOP, _BOTTOM = 72.0, 712.0
_ROMAN, _BOLD, _ITALIC = "tiro", "tibo", "tiit"
_BODY, _SMALL, _LEADING = 10.0, 8.0, 1.2
_ABOUT_A_FIGURE = 5


def draw(paper: WorldPaper, path: Path) -> None:
    """Set a paper and save it; the same paper gives the same bytes."""
    setter = _Typesetter(paper)
    setter.run()
    data = setter.pdf.tobytes(garbage=3, deflate=True, no_new_id=True)
    path.write_bytes(data[: len(data) // 12] if paper.flaw == "broken" else data)


class _Typesetter:
    """Fills columns from top to bottom, page after page."""

    def __init__(self, paper: WorldPaper) -> None:
        self._paper = paper
        self.pdf = pymupdf.open()
        self._columns = 2 if paper.layout == "two-column" else 1
        self._figures = 0
        self._shape: pymupdf.Shape  # all that is on the page, drawn at once when the page is full
        self._new_page()

    @property
    def _left(self) -> float:
        return (54.0 + self._column * 261.0) if self._columns == 2 else 108.0

    @property
    def _column_width(self) -> float:
        return 243.0 if self._columns == 2 else 396.0

    def run(self) -> None:
        paper = self._paper
        self._front()
        self._footnote("Correspondence to the first author. This paper was never written by anybody.")
        counters = [0, 0]
        paragraphs = 0
        for section in paper.sections:
            unnumbered = section.heading == "Acknowledgements" or not paper.numbered
            self._heading(section.heading, section.level, "" if unnumbered else _count(counters, section.level))
            for i, text in enumerate(section.paragraphs):
                self._paragraph(text, indent=10.0 if i else 0.0)
                paragraphs += 1
                if paragraphs % _ABOUT_A_FIGURE == 0:
                    self._figure()
        self._heading("References", 1, "")
        for i, entry in enumerate(paper.references, start=1):
            self._entry(f"[{i}] {entry}" if paper.citing == "numeric" else entry)
        self._shape.commit()

    def _front(self) -> None:
        y = 92.0
        for line in _wrap(self._paper.title, _BOLD, 16.0, 430.0):
            self._write_centred(line, y, _BOLD, 16.0)
            y += 20.0
        names = ", ".join(self._paper.authors)
        for line in _wrap(names, _ROMAN, 11.0, 430.0):
            self._write_centred(line, y + 6.0, _ROMAN, 11.0)
            y += 14.0
        self._stamp()
        self._y = self._start = y + 28.0
        self._heading("Abstract", 1, "")
        self._paragraph(self._paper.abstract)

    def _stamp(self) -> None:
        text = f"arXiv:{self._paper.id}v1  [{self._paper.category}]  {self._paper.published:%d %b %Y}"
        self._shape.insert_text((30.0, 560.0), text, fontname=_ROMAN, fontsize=20.0, rotate=90, color=(0.5, 0.5, 0.5))

    def _new_page(self) -> None:
        if self.pdf.page_count:
            self._shape.commit()
        self._shape = self.pdf.new_page(width=_WIDTH, height=_HEIGHT).new_shape()
        self._column, self._start = 0, _TOP
        self._floor = [_BOTTOM] * self._columns
        self._y = self._start
        number = self.pdf.page_count
        self._write_centred(str(number), 752.0, _ROMAN, 9.0)
        if number > 1:
            surname = self._paper.authors[0].split()[-1]
            head = f"{surname} and others" if number % 2 else self._paper.title[:60]
            self._shape.insert_text((54.0, 48.0), head, fontname=_ITALIC, fontsize=8.0)

    def _room(self, height: float) -> None:
        """Go to the next column or page if the given height does not fit."""
        if self._y + height <= self._floor[self._column]:
            return
        if self._column + 1 < self._columns:
            self._column += 1
            self._y = self._start
        else:
            self._new_page()

    def _lines(self, lines: list[str], font: str, size: float, x: float) -> None:
        """Print lines, as many at a time as the column holds."""
        leading = size * _LEADING
        while lines:
            self._room(leading)
            fit = max(1, int((self._floor[self._column] - self._y) / leading))
            part, lines = lines[:fit], lines[fit:]
            self._shape.insert_text(
                (self._left + x, self._y + size), part, fontname=font, fontsize=size, lineheight=_LEADING
            )
            self._y += leading * len(part)

    def _paragraph(self, text: str, indent: float = 0.0) -> None:
        first, *rest = list(_wrap(text, _ROMAN, _BODY, self._column_width, indent))
        self._lines([first], _ROMAN, _BODY, indent)
        self._lines(rest, _ROMAN, _BODY, 0.0)
        self._y += 2.0

    def _heading(self, text: str, level: int, number: str) -> None:
        size = 12.0 if level == 1 else 10.5
        label = f"{number}  {text}" if number else text
        self._room(size * _LEADING + 40.0)
        self._y += 8.0
        self._lines(list(_wrap(label, _BOLD, size, self._column_width)), _BOLD, size, 0.0)
        self._y += 4.0

    def _entry(self, text: str) -> None:
        first, *rest = list(_wrap(text, _ROMAN, 9.0, self._column_width - 14.0))
        self._lines([first], _ROMAN, 9.0, 0.0)
        self._lines(rest, _ROMAN, 9.0, 14.0)
        self._y += 2.0

    def _figure(self) -> None:
        self._room(120.0)
        self._figures += 1
        box = pymupdf.Rect(self._left + 20, self._y + 6, self._left + self._column_width - 20, self._y + 80)
        self._shape.draw_rect(box)
        self._shape.finish(width=0.5)
        self._shape.draw_line((box.x0 + 10, box.y1 - 10), (box.x1 - 10, box.y0 + 12))
        self._shape.finish(width=0.8)
        self._shape.insert_text((box.x0 + 14, box.y0 + 14), ["error", "cost"], fontname="helv", fontsize=6.0)
        self._y += 88.0
        caption = (
            f"Figure {self._figures}: Error against cost; the dotted line marks what the baseline reaches in one pass."
        )
        self._lines(list(_wrap(caption, _ROMAN, 9.0, self._column_width)), _ROMAN, 9.0, 0.0)
        self._y += 8.0

    def _footnote(self, text: str) -> None:
        """A note at the foot of the first page's first column."""
        lines = list(_wrap(text, _ROMAN, _SMALL, self._column_width))
        height = len(lines) * _SMALL * _LEADING + 6.0
        left = 54.0 if self._columns == 2 else 108.0
        top = _BOTTOM - height
        self._floor[0] = top
        self._shape.draw_line((left, top + 3), (left + 60, top + 3))
        self._shape.finish(width=0.4)
        self._shape.insert_text((left, top + 6 + _SMALL), lines, fontname=_ROMAN, fontsize=_SMALL, lineheight=_LEADING)

    def _write_centred(self, text: str, y: float, font: str, size: float) -> None:
        x = (_WIDTH - _length(text, font, size)) / 2
        self._shape.insert_text((x, y), text, fontname=font, fontsize=size)


def _count(counters: list[int], level: int) -> str:
    counters[level - 1] += 1
    if level == 1:
        counters[1] = 0
        return str(counters[0])
    return f"{counters[0]}.{counters[1]}"


def _wrap(text: str, font: str, size: float, width: float, indent: float = 0.0) -> Iterator[str]:
    """Break a text into lines; words too long for the rest of a line are hyphenated now and then."""
    blank = _length(" ", font, size)
    line: list[str] = []
    used = indent
    for word in text.split():
        length = _length(word, font, size)
        if line and used + blank + length > width:
            head = _head(word, width - used - blank, font, size)
            if head:
                line.append(head + "-")
                word = word[len(head) :]
                length = _length(word, font, size)
            yield " ".join(line)
            line, used = [], 0.0
        used += length + (blank if line else 0.0)
        line.append(word)
    if line:
        yield " ".join(line)


def _head(word: str, room: float, font: str, size: float) -> str:
    """The first half of a long word, if it fits: where a typesetter would hyphenate it."""
    head = word[: len(word) // 2]
    return head if len(word) > 9 and word.isalpha() and _length(head + "-", font, size) <= room else ""


@cache
def _length(word: str, font: str, size: float) -> float:
    return float(pymupdf.get_text_length(word, fontname=font, fontsize=size))
