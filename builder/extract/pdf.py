"""A PDF file -> Document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pymupdf

from builder.errors import ExtractError
from builder.extract.headings import Heading, find_headings
from builder.extract.layout import body_size, text_lines
from builder.extract.lines import Line, Page, read_page
from builder.extract.mentions import find_mentions
from builder.extract.references import parse_entry, split_entries
from builder.extract.roles import normalise, role_of
from builder.extract.text import clean, join_lines
from builder.records import Document, Reference, Role, Section

_HEADER_BYTES = 1024
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing|scheme|chart|plate|box)\s*"
    r"(?:[A-Z]?\.?\d+[a-z]?(?:\.\d+)?|[IVX]+|[A-Z]\d*)\s*(?:[.:|—–-]|$)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:fig(?:ure|\.)?|table|tab\.|algorithm|alg\.|listing)\s*[A-Z]?\.?\d+", re.IGNORECASE)


def read_pdf(path: Path) -> Document:
    """Read a PDF file.

    Raises:
        ExtractError: not_a_pdf, encrypted, no_pages, no_text_layer, unmapped_glyphs.
    """
    with _open(path) as pdf:
        toc = [(level, title) for level, title, *_ in pdf.get_toc(simple=True)]
        stamp = None
        pages: list[Page] = []
        for page in pdf:
            read, found = read_page(page)
            pages.append(read)
            stamp = stamp or found
    if not pages:
        raise ExtractError("no_pages", "the file opens but holds no page")
    return assemble(pages, toc, stamp)


def _open(path: Path) -> pymupdf.Document:
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError as err:
        raise ExtractError("missing_file", f"{path}: {err.strerror}") from err
    if b"%PDF" not in head:
        raise ExtractError("not_a_pdf", f"{path} has no %PDF header")
    try:
        pdf = pymupdf.open(path, filetype="pdf")
    except RuntimeError as err:
        raise ExtractError("not_a_pdf", f"{path}: {err}") from err
    if pdf.needs_pass:
        pdf.close()
        raise ExtractError("encrypted", f"{path} needs a password")
    return pdf


def assemble(pages: Sequence[Page], toc: Sequence[tuple[int, str]], stamp: str | None) -> Document:
    """Build the document from its pages, the file's outline and the id stamped in the margin."""
    _check_text(pages)
    size = body_size(pages)
    lines = text_lines(pages)
    headings = find_headings(lines, size, toc)
    words = frozenset(
        word for line in lines for word in _WORD.findall(line.text.casefold()) if not line.text.endswith(word + "-")
    )
    roles = _roles(headings)
    sections: list[Section] = []
    references: list[Reference] = []
    abstract = ""
    for i, heading in enumerate(headings):
        end = headings[i + 1].first if i + 1 < len(headings) else len(lines)
        body = _body_lines(
            lines[heading.last + 1 : end], size, keep_small=roles[i] in ("references", "acknowledgements")
        )
        text = join_lines(body, words)
        if roles[i] == "references":
            references += (parse_entry(entry) for entry in split_entries(body, words))
        if normalise(heading.words) == "abstract" and not sections:
            abstract = text
            continue
        label = f"{heading.number} {heading.words}".strip()
        sections.append(Section(label, roles[i], heading.level, text))
    front = lines[: headings[0].first] if headings else lines[:60]
    mentions = find_mentions(sections, references)
    return Document(_title(front, size), abstract, tuple(sections), tuple(references), mentions, stamp)


def _check_text(pages: Sequence[Page]) -> None:
    text = "".join(line.text for page in pages for line in page.lines)
    if len(text) < 80 * len(pages):
        raise ExtractError("no_text_layer", f"{len(text)} characters of text on {len(pages)} pages")
    unmapped = sum(c == "\ufffd" or "\ue000" <= c <= "\uf8ff" or (c < " " and c not in "\t\n") for c in text)
    if unmapped > 0.2 * len(text):
        raise ExtractError("unmapped_glyphs", f"{unmapped} of {len(text)} characters have no Unicode value")


def _roles(headings: Sequence[Heading]) -> list[Role]:
    """A role for every heading; what follows the first appendix or the references is appendix."""
    roles: list[Role] = []
    ended = False
    for i, heading in enumerate(headings):
        named = role_of(heading.words)
        if (
            named is None
            and heading.level == 1
            and heading.number.isalpha()
            and len(heading.number) == 1
            and _late(headings, i)
        ):
            named = "appendix"
        if ended and named not in ("references", "acknowledgements"):
            named = "appendix"
        if heading.level == 1 and named in ("references", "appendix"):
            ended = True
        roles.append(named or "body")
    return roles


def _late(headings: Sequence[Heading], i: int) -> bool:
    return any(role_of(h.words) in ("references", "conclusion") for h in headings[:i])


def _body_lines(lines: Sequence[Line], size: float, *, keep_small: bool) -> list[Line]:
    """The lines that are running text: no captions, no small print (footnotes, tables and figures set small)."""
    kept: list[Line] = []
    skipping = False
    for i, line in enumerate(lines):
        if line.start:
            skipping = _is_caption(line)
        elif skipping and kept and line.y0 - lines[i - 1].y1 > 1.2 * line.size:
            skipping = False
        if skipping or (not keep_small and line.size < size - 0.7):
            continue
        kept.append(line)
    return kept


def _is_caption(line: Line) -> bool:
    text = clean(line.text)
    if _CAPTION.match(text):
        return True
    label = _LABEL.match(text)
    return label is not None and line.lead >= len(label.group()) - 1


def _title(front: Sequence[Line], size: float) -> str:
    """The largest lines at the top of the first page."""
    top = [line for line in front if line.page == 0]
    largest = max((line.size for line in top if len(line.text) > 3), default=0.0)
    if largest <= size + 0.7:
        return ""
    picked = [line for line in top if line.size > largest - 0.6 and len(line.text) > 1]
    return join_lines(picked).replace("\n", " ")
