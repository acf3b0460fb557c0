"""A PDF file -> Document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pymupdf

from builder.errors import ExtractError
from builder.extract.compat import FAULTS, outline_of
from builder.extract.front import FileFacts, front_of
from builder.extract.headings import Heading, find_headings, roles_of
from builder.extract.layout import body_size, text_lines
from builder.extract.lines import Line, Page, read_page
from builder.extract.mentions import find_mentions
from builder.extract.quality import MeasuredDocument
from builder.extract.references import read_entries
from builder.extract.roles import normalise
from builder.extract.run_in_headings import with_run_ins, without_lead
from builder.extract.text import clean, join_lines, own_size, running_lines
from builder.records import Document, Reference, Role, Section
from lm_eval_tasks.base.text import is_valid

_RUN_IN = re.compile(r"\s*a ?b ?s ?t ?r ?a ?c ?t\s*[.:—–-]*\s*", re.IGNORECASE)
_END = re.compile(r"(?:index terms|key ?words?|ccs concepts|pacs|acm reference)\b", re.IGNORECASE)


def title_of(front: Sequence[Line], size: float) -> str:
    """The largest lines at the top of the first page; "" if nothing is larger than the body.

    Args:
        size: the body's type size in points.
    """
    top = [line for line in front if line.page == 0]
    largest = max((line.size for line in top if len(line.text) > 3), default=0.0)
    if largest <= size + 0.7:
        return ""
    return join_lines(line for line in top if line.size > largest - 0.6 and len(line.text) > 1).replace("\n", " ")


def abstract_of(lines: Sequence[Line], words: frozenset[str]) -> str:
    """The text of an abstract from the lines below its heading, without key words."""
    kept: list[Line] = []
    for line in running_lines(lines, own_size(lines)):
        if _END.match(clean(line.text)):
            break
        kept.append(line)
    return join_lines(kept, words)


def run_in_abstract(front: Sequence[Line], words: frozenset[str]) -> str:
    """The abstract that begins after the word "Abstract" on its own line; "" if there is none."""
    start = next((i for i, line in enumerate(front) if _RUN_IN.match(line.text)), None)
    if start is None:
        return ""
    text = abstract_of(front[start:], words)
    return text[match.end() :] if (match := _RUN_IN.match(text)) else text


_HEADER_BYTES = 1024
_UNMAPPED = re.compile("[\x00-\x08\x0b-\x1f\ue000-\uf8ff\ufffd]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def read_pdf(path: Path) -> MeasuredDocument:
    """Read a PDF file.

    Raises:
        ExtractError: not_a_pdf, encrypted, no_pages, no_text_layer, unmapped_glyphs.
    """
    with _open(path) as pdf:
        toc = list(outline_of(pdf))
        stamp = ""
        pages: list[Page] = []
        for page in pdf:
            read, page_stamp = read_page(page)
            pages.append(read)
            stamp = stamp or page_stamp
        if not pages:
            raise ExtractError("no_pages", "the file opens but contains no page")
        words = sorted(tuple(word[:5]) for word in pdf[0].get_text("words"))
        facts = FileFacts(words, {key: str(value or "") for key, value in pdf.metadata.items()}, stamp)
    return assemble(pages, toc, facts)


def _open(path: Path) -> pymupdf.Document:
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER_BYTES)
    except OSError as err:
        raise ExtractError("missing_file", f"{path}: {err.strerror}") from err
    if b"%PDF" not in head:
        raise ExtractError("not_a_pdf", f"{path} has no %PDF header")
    try:
        # MuPDF takes names that are text; on Linux a name need not be.
        named = is_valid(str(path))
        pdf = pymupdf.open(path, filetype="pdf") if named else pymupdf.open(stream=path.read_bytes(), filetype="pdf")
    except FAULTS as err:
        raise ExtractError("not_a_pdf", f"{path}: {err}") from err
    if pdf.needs_pass:
        pdf.close()
        raise ExtractError("encrypted", f"{path} needs a password")
    return pdf


def assemble(pages: Sequence[Page], toc: Sequence[tuple[int, str]], file: FileFacts) -> MeasuredDocument:
    """Build the document from its pages, the file's outline and what else the file says."""
    unmapped = _check_text(pages)
    links = [link for page in pages for link in page.links]
    size = body_size(pages)
    lines = text_lines(pages)
    words = _vocabulary(lines)
    main_headings, agree = find_headings(lines, size, toc)
    headings = with_run_ins(main_headings, lines)
    before = lines[: headings[0].first] if headings else lines[:60]
    abstract = run_in_abstract(before, words)
    sections: list[Section] = []
    references: list[Reference] = []
    for heading, role, block in _blocks(headings, lines):
        if normalise(heading.words) == "abstract" and not sections:
            abstract = abstract_of(block, words)
            continue
        small = role in ("references", "acknowledgements")
        running = running_lines(block, min(size, own_size(block)) if small else size)
        if role == "references":
            references += read_entries(running, words, links)
        label = f"{heading.number} {heading.words}".strip()
        sections.append(Section(label, role, heading.level, join_lines(running, words)))
    mentions = find_mentions(sections, references)
    title = title_of(before, size)
    front = front_of(file, before, title)
    document = Document(title, abstract, tuple(sections), tuple(references), mentions, file.stamped_id, front)
    hidden = sum(page.hidden for page in pages)
    return MeasuredDocument(document, sum(len(line.text) for line in lines), unmapped, agree, hidden)


def _blocks(headings: Sequence[Heading], lines: Sequence[Line]) -> Iterator[tuple[Heading, Role, Sequence[Line]]]:
    """Each heading with its role and the lines below it."""
    ends = [*(heading.first for heading in headings), len(lines)][1:]
    for heading, role, end in zip(headings, roles_of(headings), ends, strict=True):
        yield heading, role, without_lead(heading, lines[heading.last + 1 : end])


def _vocabulary(lines: Sequence[Line]) -> frozenset[str]:
    """The words that the paper prints unbroken, folded: they decide which hyphens at line ends are its own."""
    broken = [line.text for line in lines if line.text.endswith(("-", "\u2010"))]
    unbroken = "\n".join(line.text for line in lines if not line.text.endswith(("-", "\u2010")))
    words = set(_WORD.findall(unbroken.casefold()))
    for text in broken:
        words.update(_WORD.findall(text.casefold())[:-1])
    return frozenset(words)


def _check_text(pages: Sequence[Page]) -> int:
    """The number of characters without a Unicode value; an error where text is missing or unreadable."""
    text = "".join(line.text for page in pages for line in page.lines)
    if len(text) < 80 * len(pages):
        raise ExtractError("no_text_layer", f"{len(text)} characters of text on {len(pages)} pages")
    unmapped = len(_UNMAPPED.findall(text))
    if unmapped > 0.2 * len(text):
        raise ExtractError("unmapped_glyphs", f"{unmapped} of {len(text)} characters have no Unicode value")
    return unmapped
