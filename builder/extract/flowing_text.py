"""The running text of a page of elements (HTML, JATS), and the places in it that cite."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from builder.sources.jats.markup import UNIT

# No blank belongs before these, although pages with every element on its own line have one there.
_CLOSING = tuple(".,;:)]")
_BLANKS = re.compile(r"\s+")
_UNIT = re.compile(rf"{UNIT} $")
_PAIRS = {"(": ")", "[": "]"}


@dataclass(slots=True)
class FlowingText:
    """Text that grows with its blanks collapsed.

    Attributes:
        cites: first character, the one after the last, and what is cited, of each place.
        gaps: formulas that have no text.
    """

    parts: list[str] = field(default_factory=list)
    length: int = 0
    cites: list[tuple[int, int, tuple[str, ...]]] = field(default_factory=list)
    gaps: int = 0

    def add(self, text: str | None) -> None:
        if not text:
            return
        # Most pieces need no change; every blank but the plain one is unprintable.
        if not text.isprintable() or "  " in text:
            text = _BLANKS.sub(" ", text)
        text = text[:-1] if text.endswith(("[ ", "( ")) else text
        last = self.parts[-1][-1] if self.length else "\n"
        if text[0] == " " and (last in " \n[(" or text[1:2] in _CLOSING):
            text = text[1:]
        # A hat belongs to its letter.
        if (text[:1] in _CLOSING or text.strip() == "^") and last == " ":
            self._cut_blank()
        if text:
            self.parts.append(text)
            self.length += len(text)

    def open_mark(self, mark: str) -> int:
        """Write what marks an element, see `raised_mark`; where the element begins. A bracket is set apart from the word before."""
        if mark == "[":
            self.add(" ")
        elif mark == "^" and self.length and _UNIT.search("".join(self.parts[-2:])):
            self._cut_blank()
        start = self.length
        if mark:
            self.parts.append(mark)
            self.length += 1
        return start

    def end(self) -> int:
        """Where the text ends, a blank at its end left out."""
        return self.length - (self.length > 0 and self.parts[-1].endswith(" "))

    def end_block(self) -> None:
        if self.length and self.parts[-1].endswith(" "):
            self._cut_blank()
        if self.length and not self.parts[-1].endswith("\n"):
            self.parts.append("\n")
            self.length += 1

    def _cut_blank(self) -> None:
        self.parts[-1] = self.parts[-1][:-1]
        self.length -= 1
        if not self.parts[-1]:
            self.parts.pop()

    def __str__(self) -> str:
        return "".join(self.parts)


def within_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """The marker without the brackets around all of it, which a page counts in."""
    closing = _PAIRS.get(text[start : start + 1])
    enclosed = closing is not None and text.find(closing, start, end) == end - 1
    return (start + 1, end - 1) if enclosed else (start, end)
