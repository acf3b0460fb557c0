"""Which lines could be headings: those set off from the text by their type, and well-known words on a separate line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from builder.extract.lines import Line
from builder.extract.sections import is_known, normalise, role_of, split_number
from builder.extract.text import clean, join_lines

_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|algorithm|listing|scheme|theorem|lemma|definition|proof)\b", re.IGNORECASE
)
# Sizes of type between the cells of a table, at most.
_FAR = 20
# What an item of a list begins with.
_BULLETS = frozenset("•◦▪■□")
_ITEM = re.compile(r"[•◦▪■□–-]\s|\(\w{1,3}\)\s")
_MAX_CHARS, _MAX_PLAIN_CHARS = 130, 55
_NUMBERED_SENTENCE = re.compile(r"\d{1,2}(?:\.\d{1,2}){2,3}\.?\s+[A-Z][^.]{2,80}\.(?=\s+[A-Z])")
# Numbers of the outlines of IEEE's papers: "IV-A2 Datasets".
_OF_IEEE = re.compile(r"^[IVX]+-[A-Z]\d*\s+")
# Words of a heading that nothing but its words tells.
_MAX_PLAIN_WORDS = 5


@dataclass(frozen=True, slots=True)
class Style:
    """How a line is set; what headings of one level have in common."""

    size: float
    bold: bool
    italic: bool
    caps: bool

    def alike(self, other: Style) -> bool:
        """Tell whether two lines may be headings of one level: capitals may differ if size or weight is telling enough."""
        is_near = abs(self.size - other.size) <= 0.5 and (self.bold, self.italic) == (other.bold, other.italic)
        return is_near and (self.caps == other.caps or self.bold or self.size > other.size - 0.5)


@dataclass(frozen=True, slots=True)
class HeadingCandidate:
    """Lines `first` to `last` (inclusive) that could be a heading; `last` = `first` - 1 for one that shares its line with text.

    Attributes:
        number: as printed, "" if unnumbered.
        listed: level in the file's outline, 0 if it is not listed there.
        run_in: how many characters it takes of a line that it shares, else 0.
        is_cell: whether other text stands to its left, as in a table: it counts only where labels are told by how often they occur.
    """

    first: int
    last: int
    number: str
    words: str
    style: Style
    listed: int
    run_in: int = 0
    is_cell: bool = False


def find_heading_candidates(
    lines: Sequence[Line], size: float, toc: Sequence[tuple[int, str]], vocabulary: frozenset[str]
) -> list[HeadingCandidate]:
    """Return all candidates after the title page's matter, in order."""
    entries = [(level, split_number(_OF_IEEE.sub("", clean(title)))[1]) for level, title in toc]
    # Sections have level 1, even where the outline starts with the title.
    top = min((level for level, words in entries if is_known(words)), default=1)
    listed = {_squeeze(words): max(1, level - top + 1) for level, words in entries if len(words) > 2}
    candidates: list[HeadingCandidate] = []
    behind = 0
    for i in range(len(lines)):
        if i >= behind and _may_be_heading(lines, i, size):
            last = _extent(lines, i, size)
            ends = (last, i) if last > i else (i,)
            candidates_here = (_candidate(lines, i, end, listed, vocabulary) for end in ends)
            candidate = next(filter(None, candidates_here), None)
            if candidate is not None:
                candidates.append(candidate)
                behind = max(i, candidate.last) + 1
    return _after_front_matter(candidates, lines)


def _after_front_matter(candidates: list[HeadingCandidate], lines: Sequence[Line]) -> list[HeadingCandidate]:
    """Leave out title, authors and a printed table of contents: what precedes the abstract, or repeats later on."""
    start = next((i for i, c in enumerate(candidates) if normalise(c.words) == "abstract"), None)
    if start is None:
        start = next((i for i, c in enumerate(candidates) if role_of(c.words) == "introduction"), 0)
    if lines and candidates and lines[candidates[start].first].page <= 2:
        candidates = candidates[start:]
    for i, c in enumerate(candidates):
        if normalise(c.words) in ("contents", "table of contents") and i + 1 < len(candidates):
            first = _squeeze(candidates[i + 1].words)
            again = next((k for k, d in enumerate(candidates) if k > i + 1 and _squeeze(d.words) == first), None)
            return candidates[:i] + candidates[again or i + 1 :]
    return candidates


def _squeeze(words: str) -> str:
    return "".join(c for c in words.casefold() if c.isalnum())


def _style_of(line: Line) -> Style:
    return Style(line.size, line.bold, line.italic, _is_in_capitals(line.text))


def _is_in_capitals(text: str) -> bool:
    return text.isupper() and sum(map(str.isalpha, text)) > 3


def _may_be_heading(lines: Sequence[Line], i: int, size: float) -> bool:
    line = lines[i]
    if len(line.text) > _MAX_CHARS or line.text.isdigit() or line.text[0] in _BULLETS:
        return False
    if line.size < size - 1.2:
        # Reference lists set small have headings set small.
        return line.bold and role_of(split_number(clean(line.text))[1]) == "references"
    if line.size < size and _is_before(lines, i):
        # The head of a table's row.
        return False
    if line.bold or line.size > size + 0.7 or line.small_caps or line.italic or _is_in_capitals(line.text):
        return any(c.isalpha() for c in line.text) and not _is_mixed(lines, i)
    is_numbered = line.text[0].isdigit()
    if len(line.text) > _MAX_PLAIN_CHARS and not line.run_in and not is_numbered:
        return False
    number, words = split_number(clean(line.text))
    is_alone = all(after.start for after in lines[i + 1 : i + 2]) and not words.endswith(".")
    if split_number(_lead_of(line))[0] or (number.count(".") > 1 and line.start and is_alone):
        return True
    # Some papers set headings in the body's own type: then only well-known words on a separate line will do.
    if len(line.text) > _MAX_PLAIN_CHARS:
        return False
    return words[:1].isupper() and (line.start or bool(number)) and is_known(words) and not _goes_on(lines, i, words)


def _is_mixed(lines: Sequence[Line], i: int) -> bool:
    """Tell whether a line without a number is the first of a paragraph that begins in another type, and no run-in heading."""
    line = lines[i]
    goes_on = any(not after.start and not after.bold for after in lines[i + 1 : i + 2])
    return _is_divided(line) and goes_on and not _lead_of(line) and not split_number(line.text)[0]


def _is_divided(line: Line) -> bool:
    """Tell whether a line begins in another type and goes on for more than a word."""
    return bool(line.run_in) and len(line.text[line.run_in :].split()) > 1


def _goes_on(lines: Sequence[Line], i: int, words: str) -> bool:
    """Tell whether a line in the body's own type begins a sentence: "Prior work on ...", "The proposed ..."."""
    if _lead_of(lines[i]):
        return False
    after = next((clean(line.text) for line in lines[i + 1 : i + 2]), "")
    return after[:1].islower() or words.endswith((".", ",", ";", "-")) or (len(words.split()) > _MAX_PLAIN_WORDS)


def _extent(lines: Sequence[Line], i: int, size: float) -> int:
    """Return the index of the last line of the heading that starts at `i`: lines in the same type follow closely."""
    number, words = split_number(clean(lines[i].text))
    if _lead_of(lines[i]) or is_known(words):
        return i
    last, head = i, _style_of(lines[i])
    while last + 1 < len(lines) and last - i < 3:
        line, before = lines[last + 1], lines[last]
        close = line.page == before.page and -0.4 * line.height < line.y0 - before.y1 < 0.8 * line.size
        style = _style_of(line)
        goes_on = not line.start and (line.text[:1].islower() or before.text.endswith("-"))
        same = (style.size, style.bold, style.italic) == (head.size, head.bold, head.italic) and (
            line.bold or line.size > size + 0.7 or style.caps == head.caps
        )
        if close and _lead_of(line):
            # Of more than one line, it is a paragraph's, and no part of this heading.
            begun = next((k for k in range(last + 1, i, -1) if lines[k].start), 0)
            if begun or same or goes_on:
                return (begun or i + 1) - 1
        next_number, next_words = split_number(clean(line.text))
        stands_alone = role_of(next_words) is not None or (is_known(next_words) and not number)
        is_other = stands_alone or (line.start and _is_divided(line)) or _ITEM.match(line.text)
        if not close or not same or next_number[:1].isdigit() or is_other:
            break
        last += 1
    return last


def _candidate(
    lines: Sequence[Line], first: int, last: int, listed: dict[str, int], vocabulary: frozenset[str]
) -> HeadingCandidate | None:
    lead = _lead_of(lines[first]) if last == first else ""
    text = lead or " ".join(join_lines(lines[first : last + 1], vocabulary).split())
    number, words = split_number(text)
    if lines[first].small_caps or _style_of(lines[first]).caps:
        words = re.sub(r"\b([A-Z]) (?=[A-Z]{2,}\b)", r"\1", words)
    level = listed.get(_squeeze(words), 0) if len(words) > 2 else 0
    is_caption = _CAPTION.match(text) and not level
    is_alone = bool(lead) or last > first or _stands_alone(lines, first)
    is_text = not (is_alone or level or is_known(words))
    if len(text) > _MAX_CHARS or is_caption or is_text or not re.search(r"[^\W\d_]{2}", words):
        return None
    run_in = _end_of_lead(lines[first]) if lead else 0
    last, style = first - 1 if lead else last, _style_of(lines[first])
    if lead and not style.bold:
        # It is set apart from a line that is mostly text.
        style = replace(style, italic=True)
    is_cell = not level and not is_known(words) and _is_behind(lines, first)
    return HeadingCandidate(first, last, number, words, style, level, run_in, is_cell)


def _lead_of(line: Line) -> str:
    """Return the heading that stands on one line with the text below it, as in journals of the ACM; "" if there is none."""
    end = _end_of_lead(line)
    if not end:
        return ""
    lead, rest = clean(line.text[:end]), line.text[end:].split()
    number, words = split_number(lead)
    # Behind a colon a symbol goes on with the heading.
    is_ended = words.endswith((".", "?", "!")) or (
        words.endswith(":") and " " in words and bool(rest) and rest[0].isascii()
    )
    return lead.rstrip(" .:") if is_ended and len(rest) > (not number) else ""


def _end_of_lead(line: Line) -> int:
    """Return how many characters of a line are set apart from the rest, or are a sentence with the number of a subsection."""
    is_plain = line.start and not (line.run_in or line.bold or line.italic)
    sentence = _NUMBERED_SENTENCE.match(line.text) if is_plain else None
    return sentence.end() if sentence else line.run_in


def _stands_alone(lines: Sequence[Line], i: int) -> bool:
    """Tell whether the line is not the first of a paragraph set in its type throughout."""
    line = lines[i]
    return not _is_before(lines, i) and not line.text.rstrip().endswith((",", ";"))


def _is_before(lines: Sequence[Line], i: int) -> bool:
    """Tell whether the next line is printed beside a line, to its right."""
    line = lines[i]
    return any(_share_a_line(line, after) and after.x0 > line.x0 for after in lines[i + 1 : i + 2])


def _is_behind(lines: Sequence[Line], i: int) -> bool:
    """Tell whether the line before is printed beside a line, to its left and not a column away."""
    line = lines[i]
    before = lines[max(0, i - 1) : i]
    return any(_share_a_line(line, other) and 0 < line.x0 - other.x1 < _FAR * line.size for other in before)


def _share_a_line(line: Line, other: Line) -> bool:
    return other.page == line.page and other.y0 < line.y0 + 0.5 * line.height and other.y1 > line.y0
