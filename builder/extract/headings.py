"""Which lines are headings: evidence from type, numbering, position and the file's own table of contents.

The headings whose words every reader knows (Introduction, References, ...) show how this paper sets its headings; every
other line that is set and numbered in the same way is one too. Numbers must then count up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from builder.extract.lines import Line
from builder.extract.roles import is_known, normalise, role_of, split_number
from builder.extract.text import clean

_ROMAN = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)?|table|algorithm|listing|scheme|theorem|lemma|definition|proof)\b", re.IGNORECASE
)
_SMALL_WORDS = frozenset(
    "a an and as at by for from in into is of on or the to via vs with without through using".split()
)
_MAX_CHARS = 130


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that spans lines `first` to `last` (inclusive indices into the text's lines).

    Attributes:
        number: as printed, "" where unnumbered.
        level: 1 for a section.
        lead: for a run-in heading, the number of characters of its line that belong to it, else 0.
    """

    first: int
    last: int
    number: str
    words: str
    level: int
    lead: int = 0


@dataclass(frozen=True, slots=True)
class _Candidate:
    first: int
    last: int
    number: str
    words: str
    style: tuple[float, bool, bool, bool]
    listed: int  # level in the table of contents, 0 where it is not there


def find_headings(lines: Sequence[Line], size: float, toc: Sequence[tuple[int, str]]) -> list[Heading]:
    """Find the headings of a paper, in order.

    Args:
        lines: the text's lines in reading order.
        size: the body's type size in points.
        toc: (level, title) of the file's outline; may be empty.
    """
    listed = _outline(toc)
    candidates = _after_front_matter(_candidates(lines, size, listed), lines)
    anchors = [c for c in candidates if is_known(c.words)]
    style = _section_style(anchors)
    numbering = _numbering(anchors, candidates, style)
    chosen = [h for c in candidates if (h := _judge(c, style, numbering, lines, size)) is not None]
    return _counting_up(chosen, numbering)


def _after_front_matter(candidates: list[_Candidate], lines: Sequence[Line]) -> list[_Candidate]:
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


def _outline(toc: Sequence[tuple[int, str]]) -> dict[str, int]:
    """Words of the outline's entries -> level, 1 for sections even where the outline starts with the title."""
    entries = [(level, split_number(clean(title))[1]) for level, title in toc]
    levels = [level for level, words in entries if is_known(words)]
    top = min(levels, default=1)
    return {_squeeze(words): max(1, level - top + 1) for level, words in entries if len(words) > 2}


def _squeeze(words: str) -> str:
    return "".join(c for c in words.casefold() if c.isalnum())


def _style(line: Line) -> tuple[float, bool, bool, bool]:
    letters = "".join(c for c in line.text if c.isalpha())
    caps = len(letters) > 3 and letters == letters.upper()
    return line.size, line.bold, line.italic, caps


def _candidates(lines: Sequence[Line], size: float, listed: dict[str, int]) -> list[_Candidate]:
    found: list[_Candidate] = []
    i = 0
    while i < len(lines):
        last = i
        candidate = None
        if _may_be_heading(lines, i, size):
            last = _extent(lines, i, size)
            candidate = _candidate(lines, i, last, size, listed)
            if candidate is None and last > i:
                last = i
                candidate = _candidate(lines, i, i, size, listed)
        if candidate is not None:
            found.append(candidate)
            i = last
        i += 1
    return found


def _may_be_heading(lines: Sequence[Line], i: int, size: float) -> bool:
    line = lines[i]
    if len(line.text) > _MAX_CHARS or line.size < size - 1.2 or not any(c.isalpha() for c in line.text):
        return False
    if _is_set_off(line, size):
        return True
    # Some papers set headings in the body's own type: then only well-known words on a line of their own will do.
    number, words = split_number(clean(line.text))
    return len(words) < 50 and is_known(words) and words[:1].isupper() and (line.start or bool(number))


def _is_set_off(line: Line, size: float) -> bool:
    letters = [c for c in line.text if c.isalpha()]
    caps = len(letters) > 3 and all(c.isupper() for c in letters)
    return line.bold or line.size > size + 0.7 or caps or line.small_caps or line.italic


def _extent(lines: Sequence[Line], i: int, size: float) -> int:
    """Index of the last line of the heading that starts at `i`: lines in the same type follow closely."""
    last = i
    head = _style(lines[i])
    while last + 1 < len(lines) and last - i < 3:
        line, before = lines[last + 1], lines[last]
        close = line.page == before.page and -0.4 * line.height < line.y0 - before.y1 < 0.8 * line.size
        same = _style(line)[:3] == head[:3] and (line.bold or line.size > size + 0.7 or _style(line)[3] == head[3])
        if not close or not same or split_number(clean(line.text))[0][:1].isdigit():
            break
        if is_known(split_number(clean(line.text))[1]) or is_known(split_number(clean(lines[i].text))[1]):
            break
        last += 1
    return last


def _candidate(lines: Sequence[Line], first: int, last: int, size: float, listed: dict[str, int]) -> _Candidate | None:
    text = clean(" ".join(line.text for line in lines[first : last + 1]))
    number, words = split_number(text)
    if lines[first].small_caps or _style(lines[first])[3]:
        words = re.sub(r"\b([A-Z]) (?=[A-Z]{2,}\b)", r"\1", words)
    level = listed.get(_squeeze(words), 0) if len(words) > 2 else 0
    if len(text) > _MAX_CHARS or (_CAPTION.match(text) and not level) or not re.search(r"[^\W\d_]{2}", words):
        return None
    if last == first and not level and not is_known(words) and not _stands_alone(lines, first):
        return None
    return _Candidate(first, last, number, words, _style(lines[first]), level)


def _stands_alone(lines: Sequence[Line], i: int) -> bool:
    """Whether the line is not the first of a paragraph set in its type throughout."""
    line = lines[i]
    if i + 1 < len(lines):
        after = lines[i + 1]
        if (
            after.page == line.page
            and after.y0 < line.y0 + 0.5 * line.height
            and after.y1 > line.y0
            and after.x0 > line.x0
        ):
            return False
    return not line.text.rstrip().endswith((",", ";"))


def _section_style(anchors: Sequence[_Candidate]) -> tuple[float, bool, bool, bool] | None:
    """How sections are set: as most of the known headings that only sections have."""
    votes: Counter[tuple[float, bool, bool, bool]] = Counter()
    for anchor in anchors:
        if normalise(anchor.words) == "abstract":
            continue
        weight = 3 if role_of(anchor.words) in ("introduction", "references", "conclusion") else 1
        if anchor.number and not anchor.number.isalpha() and "." in anchor.number:
            weight = 0
        votes[anchor.style] += weight
    return votes.most_common(1)[0][0] if votes else None


def _numbering(
    anchors: Sequence[_Candidate], candidates: Sequence[_Candidate], style: tuple[float, bool, bool, bool] | None
) -> str:
    """How sections are numbered: "decimal", "roman" or "none"."""
    votes: Counter[str] = Counter()
    for anchor in anchors:
        if (
            role_of(anchor.words) in ("references", "acknowledgements", "appendix")
            or normalise(anchor.words) == "abstract"
        ):
            continue
        votes[_kind(anchor.number)] += 3 if role_of(anchor.words) == "introduction" else 1
    votes.pop("letter", None)
    if votes:
        return votes.most_common(1)[0][0]
    same = Counter(_kind(c.number) for c in candidates if c.style == style)
    return same.most_common(1)[0][0] if same else "none"


def _kind(number: str) -> str:
    if not number:
        return "none"
    if number[0].isdigit():
        return "decimal"
    return "roman" if number in _ROMAN else "letter"


def _judge(
    c: _Candidate, style: tuple[float, bool, bool, bool] | None, numbering: str, lines: Sequence[Line], size: float
) -> Heading | None:
    """Accept a candidate as a heading of some level, or not."""
    kind, role = _kind(c.number), role_of(c.words)
    same = style is not None and _alike(c.style, style)
    level = 0
    if kind == "decimal" and numbering == "decimal":
        depth = c.number.count(".") + 1
        if c.listed or depth > 1 or same or (is_known(c.words) and lines[c.first].start):
            level = depth
    elif kind == "roman" and numbering == "roman":
        level = 1 if c.listed or same or is_known(c.words) else 0
    elif kind == "letter" and "." not in c.number:
        # Letters number appendices, and the subsections of papers with Roman sections.
        if numbering == "roman":
            level = 2 if _is_titled(c.words) else 0
        else:
            level = 1 if c.listed or same else 0
    elif kind == "none":
        level = _level_unnumbered(c, same, numbering, role is not None)
    elif c.listed:
        level = c.listed
    return Heading(c.first, c.last, c.number, c.words, level) if level else None


def _level_unnumbered(c: _Candidate, same: bool, numbering: str, special: bool) -> int:
    if c.listed:
        return c.listed
    if same and numbering == "none":
        return 1 if len(c.words) < 90 and _is_titled(c.words) else 0
    if same and (special or is_known(c.words)):
        return 1
    if normalise(c.words) == "abstract":
        return 1
    if special and (c.style[1] or c.style[3] or c.style[2]):
        return 1 if role_of(c.words) in ("references", "appendix") else 2
    if same and _is_titled(c.words):
        return 2
    return 0


def _is_titled(words: str) -> bool:
    """Whether a text could be a heading by its words: begins like one, does not end like a sentence."""
    if not words[:1].isupper() and not words[:1].isdigit():
        return False
    return not words.endswith((".", ",", ";", ":")) or len(words.split()) <= 4


def _alike(a: tuple[float, bool, bool, bool], b: tuple[float, bool, bool, bool]) -> bool:
    return abs(a[0] - b[0]) <= 0.5 and a[1] == b[1] and a[2] == b[2] and (a[3] == b[3] or a[1] or a[0] > b[0] - 0.5)


def _counting_up(headings: list[Heading], numbering: str) -> list[Heading]:
    """Leave out numbered sections that break the count: list items, table rows, equations in bold."""
    if numbering == "none":
        return headings
    sections = [h for h in headings if h.level == 1 and _kind(h.number) == numbering]
    chain = set(_longest_count([_value(h.number) for h in sections]))
    good = {sections[i].first for i in chain}
    out: list[Heading] = []
    current, letter = "", "A"
    for heading in headings:
        if heading.level == 1 and _kind(heading.number) == numbering:
            if heading.first not in good:
                continue
            current, letter = heading.number, "A"
        elif numbering == "roman" and _kind(heading.number) == "letter":
            if heading.number != letter:
                continue
            letter = chr(ord(letter) + 1)
        elif _is_decimal_below(heading, numbering) and heading.number.split(".")[0] != current:
            continue
        out.append(heading)
    return out


def _is_decimal_below(heading: Heading, numbering: str) -> bool:
    return heading.level > 1 and _kind(heading.number) == "decimal" == numbering


def _value(number: str) -> int:
    head = number.split(".")[0]
    return int(head) if head.isdigit() else _ROMAN.index(head)


def _longest_count(values: Sequence[int]) -> list[int]:
    """Indices of the longest run of values that counts up by one, gaps of up to two allowed."""
    best: list[list[int]] = []
    for i, value in enumerate(values):
        before = [best[j] for j in range(i) if 0 < value - values[j] <= 2]
        longest = max(before, key=lambda run: (len(run), -run[-1]), default=[])
        best.append([*longest, i])
    return max(best, key=len, default=[])
