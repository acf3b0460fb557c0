"""A PDF file -> Document."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile, takewhile
from pathlib import Path

from builder.errors import ExtractError
from builder.extract.compat import FAULTS, outline_of
from builder.extract.front import PLACE, front_of, title_of
from builder.extract.headings import Heading, find_headings, in_order, labels_among, roles_of
from builder.extract.lines import STAMPED_ID, Line, Page, read_page
from builder.extract.mentions import find_mentions
from builder.extract.quality import MeasuredDocument, common_share, words_of
from builder.extract.references import read_entries
from builder.extract.running import own_size, running_lines, without_cells
from builder.extract.sections import OUTSIDE, is_known, normalise, role_of, split_number
from builder.extract.text import HYPHENS, body_size, clean, join_lines, text_lines
from builder.mupdf import pymupdf
from builder.records import Document, Reference, Section
from lm_eval_tasks.base.text import is_valid

_RUN_IN = re.compile(r"\A\s*a ?b ?s ?t ?r ?a ?c ?t(?-i:(?![a-z]))\s*[.:—–-]*\s*", re.IGNORECASE)
_UNMAPPED = re.compile("[\x00-\x08\x0b-\x1f\ue000-\uf8ff\ufffd]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_END = re.compile(
    r"(?:index terms|(?:additional )?key ?words?|ccs concepts|pacs|acm reference)\b|(?:table of )?contents\W*\Z",
    re.IGNORECASE,
)
# Run-in headings.
_RUN_IN_LEVEL, _MAX_RUN_IN = 4, 80
_MIN_RELATED_WORDS = 60
_LEAST_OF_ABSTRACT, _MOST_OF_ABSTRACT = 30, 1000
# Lines among which the front of a paper without headings is.
_FIRST_LINES = 60
# Points that sizes of one text may differ by; the share of the commonest words of English in prose, and words that its lines have.
_SAME_SIZE, _PROSE, _WORDS_OF_LINE = 0.3, 0.12, 7
# From one line of a text to the next, at most: in steps of its first two lines, and in sizes of type.
_STEP, _LOOSE = 1.3, 1.4
# Parts of an abstract that are labelled.
_LABELLED = re.compile(
    r"(?:background|objectives?|aims?|purpose|introduction|(?:materials and )?methods?|design|results?|findings|conclusions?)\b",
    re.IGNORECASE,
)
_BODY = ("introduction", "related_work", "body", "conclusion")
_THANKS = re.compile(r"Acknowledge?ments?(?:[.:–—-]|\b(?=\s+[A-Z]))")


def abstract_of(lines: Sequence[Line], words: frozenset[str]) -> str:
    """Return the text of an abstract from the lines below its heading, without key words."""
    own = list(takewhile(lambda line: not _END.match(clean(line.text)), lines))
    return join_lines(running_lines(own, own_size(own)), words)


def read_pdf(path: Path) -> MeasuredDocument:
    """Read a PDF file.

    Raises:
        ExtractError: not_a_pdf, encrypted, no_pages, no_text_layer, unmapped_glyphs.
    """
    with _open(path) as pdf:
        toc = list(outline_of(pdf))
        pages = [read_page(page) for page in pdf]
        if not pages:
            raise ExtractError("no_pages", "the file opens but contains no page")
        info = {key: str(value or "") for key, value in pdf.metadata.items()}
    return assemble(pages, toc, info)


def _open(path: Path) -> pymupdf.Document:
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError as err:
        raise ExtractError("missing_file", f"{path}: {err.strerror}") from err
    if b"%PDF" not in head:
        raise ExtractError("not_a_pdf", f"{path} has no %PDF header")
    try:
        # MuPDF takes names that are text; on Linux a name need not be.
        named = is_valid(str(path))
        pdf = pymupdf.open(path, filetype="pdf") if named else pymupdf.open(stream=path.read_bytes(), filetype="pdf")
    except FAULTS as err:
        # What was raised does not say that memory was refused; its cause does.
        if "alloc" in str(err.__cause__ or ""):
            raise MemoryError(str(err.__cause__)) from err
        raise ExtractError("not_a_pdf", f"{path}: {err}") from err
    if pdf.needs_pass:
        pdf.close()
        raise ExtractError("encrypted", f"{path} needs a password")
    return pdf


def assemble(pages: Sequence[Page], toc: Sequence[tuple[int, str]], info: Mapping[str, str]) -> MeasuredDocument:
    """Build the document from its pages, the file's outline and the file's own description."""
    unmapped = _check_text(pages)
    links = [link for page in pages for link in page.links]
    size = body_size(pages)
    printed_lines = text_lines(pages)
    words = _vocabulary(printed_lines)
    lines, headings, agree = _headed(printed_lines, size, toc, words)
    before = lines[: headings[0].first] if headings else lines[:_FIRST_LINES]
    # It may begin after the word "Abstract" on its own line.
    abstract = _RUN_IN.sub("", abstract_of(list(dropwhile(lambda line: not _RUN_IN.match(line.text), before)), words))
    sections: list[Section] = []
    references: list[Reference] = []
    ends = [*(heading.first for heading in headings), len(lines)][1:]
    for heading, role, end in zip(headings, roles_of(headings), ends, strict=True):
        block = _without_lead(heading, lines[heading.last + 1 : end])
        if normalise(heading.words) == "abstract" and not sections:
            abstract = abstract_of(block, words)
            continue
        small = role in ("references", "acknowledgements")
        running = running_lines(block, min(size, own_size(block)) if small else size)
        if role == "references":
            references += read_entries(running, words, links)
        text = join_lines(running if small else without_cells(running), words)
        sections.append(Section(f"{heading.number} {heading.words}".strip(), role, heading.level, text))
    roles = {section.role for section in sections}
    abstract, opening = _opened(abstract, before, words, size, is_introduced="introduction" in roles)
    if opening and sections:
        sections.insert(0, Section("", "introduction" if roles - OUTSIDE else "body", 1, opening))
    mentions = find_mentions(sections, references)
    title = title_of(before, size)
    stamp = next((page.stamp for page in pages if page.stamp), "")
    front, stamped = front_of(pages[0].words, info, stamp, before, title), STAMPED_ID.search(stamp)
    document = Document(title, abstract, tuple(sections), tuple(references), mentions, stamped and stamped[1], front)
    return MeasuredDocument(
        document, sum(len(line.text) for line in lines), unmapped, agree, sum(page.hidden for page in pages)
    )


def _headed(
    lines: list[Line], size: float, toc: Sequence[tuple[int, str]], words: frozenset[str]
) -> tuple[list[Line], Sequence[Heading], bool]:
    """Return the lines without labels of figures that were taken for headings, the headings among them, and whether they agree."""
    found, agree = find_headings(lines, size, toc, words)
    labels = labels_among(found, lines, size)
    if labels:
        lines = [line for i, line in enumerate(lines) if i not in labels]
        found, agree = find_headings(lines, size, toc, words)
    return lines, _with_thanks(_with_related_work(_without_title(found, lines), lines), lines), agree


def _opened(
    abstract: str, before: Sequence[Line], words: frozenset[str], size: float, *, is_introduced: bool
) -> tuple[str, str]:
    """Return the abstract, and what follows it without a heading, unless a section introduces the paper.

    A letter is no abstract, so what is too long for one is looked at again.
    """
    own, opening = (abstract, "") if is_introduced else _apart(abstract)
    if own and len(own.split()) <= _MOST_OF_ABSTRACT:
        return own, opening
    found, rest = _unheaded_abstract(before, words)
    text = join_lines(running_lines(rest, size), words)
    return found, text if _is_prose(text, 2 * _LEAST_OF_ABSTRACT) and not is_introduced else ""


def _without_title(headings: Sequence[Heading], lines: Sequence[Line]) -> Sequence[Heading]:
    """Leave out a title that is taken for a heading, as in a letter without sections: nothing before it is as large."""
    if not headings:
        return headings
    # "A Survey of ..." reads as the first appendix does.
    first = headings[0]
    is_other = first.number[:1].isdigit() or len(first.number) > 1 or is_known(first.words) or lines[first.last].page
    larger = any(line.size > lines[first.first].size - _SAME_SIZE for line in lines[: first.first])
    return headings if is_other or larger else headings[1:]


def _unheaded_abstract(before: Sequence[Line], words: frozenset[str]) -> tuple[str, Sequence[Line]]:
    """Find the abstract among the lines before the first heading where none says so, as in journals of the ACM and letters.

    Returns:
        The first prose, and the lines behind it; "" and no lines if there is none.
    """
    groups: list[list[Line]] = []
    for line in before:
        last = groups[-1][-1] if groups else None
        is_alike = last and abs(last.size - line.size) < _SAME_SIZE and last.bold == line.bold
        if last and is_alike and line.y0 > last.y0 and line.y0 - last.y0 < _STEP * _step(groups[-1]):
            groups[-1].append(line)
        else:
            groups.append([line])
    for i, group in enumerate(groups):
        text = abstract_of(group, words)
        count, is_address = len(text.split()), len(PLACE.findall(text)) > 1
        is_wide = _WORDS_OF_LINE * len(group) < count <= _MOST_OF_ABSTRACT
        if is_wide and not is_address and _is_prose(text, _LEAST_OF_ABSTRACT):
            return text, [line for after in groups[i + 1 :] for line in after]
    return "", []


def _is_prose(text: str, least: int) -> bool:
    """Tell whether a text is prose: at least so many words, and the commonest ones of English among them."""
    return len(text.split()) >= least and common_share(words_of(text)) > _PROSE


def _step(group: Sequence[Line]) -> float:
    """Return how far apart the lines of a group stand, in points; of a single line, as far as lines of its size may."""
    return group[1].y0 - group[0].y0 if len(group) > 1 else _LOOSE * group[0].size


def _apart(abstract: str) -> tuple[str, str]:
    """Part an abstract from what follows it without a heading, in a paper that has no introduction."""
    first, _, rest = abstract.partition("\n")
    is_both = len(first.split()) >= _LEAST_OF_ABSTRACT and len(rest.split()) >= 2 * _LEAST_OF_ABSTRACT
    return (first, rest) if is_both and not _LABELLED.match(rest) else (abstract, "")


def _vocabulary(lines: Sequence[Line]) -> frozenset[str]:
    """Return the words that the paper prints unbroken, folded: they decide which hyphens at line ends are its own. Of a word that it prints
    with and without a hyphen, the rarer form is left out, or the joined one.
    """
    whole: list[str] = []
    is_rest = False
    for line in lines:
        text = line.text.partition(" ")[2] if is_rest else line.text
        is_rest = line.text.endswith(HYPHENS)
        whole.append(text.rpartition(" ")[0] if is_rest else text)
    counts = Counter(_WORD.findall("\n".join(whole).casefold().replace("\u2010", "-")))
    compounds = [(word, word.replace("-", "")) for word in counts if "-" in word]
    rarer = {joined if counts[joined] <= counts[word] else word for word, joined in compounds if joined in counts}
    return frozenset(counts.keys() - rarer)


def _check_text(pages: Sequence[Page]) -> int:
    """Return the number of characters without a Unicode value; an error where text is missing or unreadable."""
    text = "".join(line.text for page in pages for line in page.lines)
    if len(text) < 80 * len(pages):
        raise ExtractError("no_text_layer", f"{len(text)} characters of text on {len(pages)} pages")
    unmapped = len(_UNMAPPED.findall(text))
    if unmapped > 0.2 * len(text):
        raise ExtractError("unmapped_glyphs", f"{unmapped} of {len(text)} characters have no Unicode value")
    return unmapped


# --- parts that are paragraphs with a run-in heading: related work in the introduction, acknowledgements after the conclusion


def _with_thanks(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the acknowledgements that end the last section before the references."""
    roles = roles_of(headings)
    end = headings[roles.index("references")].first if "references" in roles else len(lines)
    last = max(
        (h.last for h, role in zip(headings, roles, strict=True) if h.first < end and role in _BODY), default=None
    )
    if last is None or "acknowledgements" in roles:
        return list(headings)
    for i in range(last + 1, end):
        if (match := _THANKS.match(lines[i].text)) and (lines[i].start or lines[i].run_in or match.group()[-1] in ".:"):
            return in_order(*headings, Heading(i, i - 1, "", "Acknowledgements", _RUN_IN_LEVEL, match.end()))
    return list(headings)


def _with_related_work(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the run-in heading of a related-work paragraph, and the one that ends it, if no section has that role.

    Only the introduction is searched: elsewhere such paragraphs mostly say where related work is discussed.
    """
    roles = roles_of(headings)
    if "related_work" in roles or "introduction" not in roles:
        return list(headings)
    at = roles.index("introduction")
    end = headings[at + 1].first if at + 1 < len(headings) else len(lines)
    run_ins = [run_in for i in range(headings[at].last + 1, end) if (run_in := _run_in(lines[i], i)) is not None]
    for k, run_in in enumerate(run_ins):
        stop = run_ins[k + 1].first if k + 1 < len(run_ins) else end
        words = sum(len(line.text.split()) for line in lines[run_in.first : stop])
        if role_of(run_in.words) == "related_work" and words >= _MIN_RELATED_WORDS:
            return in_order(*headings, *run_ins[k : k + 2])
    return list(headings)


def _run_in(line: Line, index: int) -> Heading | None:
    if not line.start or not 0 < line.run_in < _MAX_RUN_IN:
        return None
    number, words = split_number(clean(line.text[: line.run_in]))
    if not words.endswith((".", ":", "–", "—", "-")) or not words[:1].isupper():
        return None
    return Heading(index, index - 1, number, words.rstrip(" .:–—-"), _RUN_IN_LEVEL, line.run_in)


def _without_lead(heading: Heading, block: Sequence[Line]) -> Sequence[Line]:
    """Return the lines below a heading, its own words taken off the line that it shares."""
    if heading.run_in and block:
        block = [replace(block[0], text=block[0].text[heading.run_in :].lstrip(" .:–—-"), run_in=0), *block[1:]]
    return block
