"""Small PDFs drawn for one layout rule each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pymupdf

ROMAN, BOLD, ITALIC = "tiro", "tibo", "tiit"
FILLER = (
    "The quick survey of the earlier results shows that a system can be built in this way and that it is of use to the "
    "people who work with it, as the measurements of the last section make plain to any reader of the paper."
)
# A whole paper, small.
PAPER = [("h1", "1  Introduction"), FILLER * 6, ("h1", "2  Method"), FILLER * 6, ("h1", "3  Conclusion"), FILLER * 3]


@dataclass(frozen=True)
class Text:
    """Lines printed at a place, one below the other."""

    lines: Sequence[str]
    x: float = 72.0
    y: float = 72.0
    size: float = 10.0
    font: str = ROMAN


def draw(path: Path, pages: Sequence[Sequence[Text]], toc: Sequence[Sequence[object]] = ()) -> Path:
    """Save a PDF whose pages hold the given texts."""
    with pymupdf.open() as pdf:
        for texts in pages:
            page = pdf.new_page(width=612, height=792)
            for text in texts:
                page.insert_text((text.x, text.y), list(text.lines), fontname=text.font, fontsize=text.size)
        if toc:
            pdf.set_toc([list(entry) for entry in toc])
        pdf.save(path)
    return path


def wrapped(text: str, characters: int = 90) -> list[str]:
    """A text in lines of about this many characters."""
    lines: list[str] = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > characters:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def stack(*items: tuple[str, str] | str, x: float = 72.0, y: float = 80.0, characters: int = 90) -> list[Text]:
    """Headings (style, text) and paragraphs, from top to bottom.

    Styles: "h1" bold 12, "h2" bold 10, "h3" italic 10, "small" roman 8, "title" bold 17.
    """
    sizes = {"h1": (BOLD, 12.0), "h2": (BOLD, 10.0), "h3": (ITALIC, 10.0), "small": (ROMAN, 8.0), "title": (BOLD, 17.0)}
    texts: list[Text] = []
    for item in items:
        style, text = item if isinstance(item, tuple) else ("body", item)
        font, size = sizes.get(style, (ROMAN, 10.0))
        lines = [text] if style in ("h1", "h2", "h3", "title") else wrapped(text, characters)
        texts.append(Text(lines, x, y, size, font))
        y += len(lines) * size * 1.25 + 12
    return texts
