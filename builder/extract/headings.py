"""Which candidates are headings, and of what level: evidence from type, numbering, position and the file's outline.

The headings whose words every reader knows (Introduction, References, ...) show how this paper sets its headings; every
other line that is set and numbered in the same way is one too. Numbers must then count up. If the result contradicts
itself, the next best way of numbering is tried.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from operator import itemgetter

from builder.extract.heading_candidates import HeadingCandidate, Style, find_heading_candidates
from builder.extract.lines import Line
from builder.extract.running import SENTENCE_ENDS, running_lines
from builder.extract.sections import ROMAN, is_known, normalise, role_of, split_number, weak_role_of
from builder.records import Role

_TAIL = ("references", "acknowledgements", "appendix")
_ENTRY, _MIN_ENTRIES = re.compile(r"\[(\d{1,3})\]"), 5
_ENDED_ENTRY = re.compile(r", (?:19|20)\d\d\.$")
# An entry's year, and lines of a list within which there is one.
_YEAR, _LINES_TO_YEAR = re.compile(r"\b(?:19|20)\d\d"), 25
# A heading's words occur in a paper once, or twice with an appendix or a second paper in the file.
_REPEATED = 2
# How much a section's number may be above the one before it: headings may be lost.
_GAP = 4
# This many numbers that count up are not an accident.
_COUNTED = 3
# Characters of a line that is no cell of a table.
_LEAST_OF_LINE = 40


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that spans lines `first` to `last` (inclusive); `last` = `first` - 1 for one that is not printed.

    Attributes:
        number: as printed, "" if unnumbered.
        level: 1 for a section.
        run_in: for a run-in heading, how many characters of line `first` it takes; else 0.
    """

    first: int
    last: int
    number: str
    words: str
    level: int
    run_in: int = 0


def find_headings(
    lines: Sequence[Line], size: float, toc: Sequence[tuple[int, str]], words: frozenset[str]
) -> tuple[list[Heading], bool]:
    """Find the headings of a paper, in order, and say whether they agree with one another.

    Args:
        size: the body's type size in points.
        toc: (level, title) of the file's outline; may be empty.
        words: the document's vocabulary, as `join_lines` takes it.
    """
    found = _listed_once(find_heading_candidates(lines, size, toc, words))
    # What occurs again and again is a label of figures or a row of tables.
    times = Counter(normalise(c.words) for c in found)
    outline = Counter(normalise(split_number(title)[1]) for _, title in toc)
    candidates = [
        c
        for c in found
        if not c.is_cell
        and (c.number or is_known(c.words) or times[normalise(c.words)] <= max(_REPEATED, outline[normalise(c.words)]))
    ]
    anchors = [c for c in candidates if is_known(c.words) and times[normalise(c.words)] <= _REPEATED]
    style = _section_style(anchors)
    # How many contradictions there are, and the headings, if sections are numbered in each way.
    least, best = min(
        (
            _headings_with_numbering(candidates, style, numbering, lines)
            for numbering in _numberings(anchors, candidates, style)
        ),
        key=itemgetter(0),
    )
    return _with_reference_list(_without_columns(best, lines), lines), not least


def _listed_once(candidates: Sequence[HeadingCandidate]) -> list[HeadingCandidate]:
    """Return the candidates, of which only those count as listed in the outline that are set as most of their level are, where other lines
    have the same words: "Model" is a section, and in bold type the head of a table.
    """
    styles = Counter((c.listed, c.style) for c in candidates if c.listed)
    usual = {level: style for (level, style), _ in reversed(styles.most_common())}
    as_usual = {normalise(c.words) for c in candidates if c.listed and c.style == usual[c.listed]}
    return [
        replace(c, listed=0) if c.listed and c.style != usual[c.listed] and normalise(c.words) in as_usual else c
        for c in candidates
    ]


def labels_among(headings: Sequence[Heading], lines: Sequence[Line], size: float) -> frozenset[int]:
    """Return the lines that are labels in a figure and not headings: unnumbered, between the two halves of a sentence.

    Args:
        size: the body's type size in points; what is smaller is part of a figure as well.
    """
    labels: set[int] = set()
    before, waiting = "", list[Heading]()
    for heading, end in zip(headings, [*(heading.first for heading in headings), len(lines)][1:], strict=True):
        waiting.append(heading)
        text = running_lines(lines[heading.last + 1 : end], size)
        if text:
            if _is_one_sentence(before, text[0].text):
                labels.update(i for each in waiting for i in range(each.first, each.last + 1) if _is_label(each))
            before, waiting = text[-1].text, []
    return frozenset(labels)


def _is_label(heading: Heading) -> bool:
    is_short = not heading.run_in and len(heading.words) < _LEAST_OF_LINE
    return is_short and not heading.number and role_of(heading.words) is None


def _is_one_sentence(text: str, after: str) -> bool:
    return text.rstrip()[-1:] not in SENTENCE_ENDS and len(text) > _LEAST_OF_LINE and after[:1].islower()


def _headings_with_numbering(
    candidates: Sequence[HeadingCandidate], style: Style | None, numbering: str, lines: Sequence[Line]
) -> tuple[int, list[Heading]]:
    """Return how often the headings contradict one another if sections are numbered in this way, and the headings."""
    lower = _lower_styles(candidates, style, lines) if numbering == "none" else frozenset()
    numbered = [c for c in candidates if _numbering_of(c.number) == numbering == "decimal" and _is_titled(c.words)]
    # What must be a section, however it is set, because its own first subsection comes next.
    parents = {c.first for c, after in pairwise(numbered) if after.number == f"{c.number}.1" and "." not in c.number}

    def level_of(candidate: HeadingCandidate) -> int:
        told = _level(candidate, style, numbering, lines)
        # "else" and "end for" are lines of an algorithm.
        is_item = bool(candidate.number and candidate.run_in)
        if told or (candidate.style in lower and not is_item and _is_titled(candidate.words.lstrip("("))):
            return told or 2
        return int(candidate.first in parents)

    judged = [(c, level_of(c)) for c in candidates]
    chosen = [Heading(c.first, c.last, c.number, c.words, level, c.run_in) for c, level in judged if level]
    headings = _drop_miscounted(chosen, numbering)
    return _contradictions(headings, numbering, candidates, style), headings


def _contradictions(
    headings: Sequence[Heading], numbering: str, candidates: Sequence[HeadingCandidate], style: Style | None
) -> int:
    """Return how many subsections lack their section, known headings fell out of the count, and numbers are left that count up in the
    sections' own style.
    """
    sections = {h.number for h in headings if h.level == 1}
    printed = {c.number for c in candidates if _numbering_of(c.number) == "decimal" and _is_titled(c.words)}
    orphans = {n for n in map(str, range(1, 30)) if {f"{n}.1", f"{n}.2"} <= printed and n not in sections}
    alike = [c for c in candidates if style is not None and c.style.alike(style) and _is_titled(c.words)]
    others = [
        _value(c.number)
        for c in alike
        if _numbering_of(c.number) in {"decimal", "roman"} - {numbering} and "." not in c.number
    ]
    left = len(_longest_count(others))
    taken = {h.first for h in headings}
    fallen = [
        c
        for c in alike
        if _numbering_of(c.number) == numbering != "none" and c.first not in taken and is_known(c.words)
    ]
    return len(orphans) + len(fallen) + (left if left >= _COUNTED else 0)


def roles_of(headings: Sequence[Heading]) -> list[Role]:
    """Return a role for every heading; what follows the references or the first appendix is appendix."""
    named = [_heading_role(heading, headings[:i]) for i, heading in enumerate(headings)]
    named = [None if _is_amid(i, headings, named) else role for i, role in enumerate(named)]
    first = next((i for i, heading in enumerate(headings) if normalise(heading.words) != "abstract"), len(headings))
    for i, heading in enumerate(headings):
        weak = weak_role_of(heading.words)
        is_late = weak == "introduction" and i > first
        if named[i] is None and weak is not None and not is_late and weak not in named and _may_have(weak, heading):
            named[i] = weak
    roles: list[Role] = []
    ended = False
    for heading, role in zip(headings, named, strict=True):
        if ended and role not in ("references", "acknowledgements"):
            role = "appendix"
        if heading.level == 1 and role in ("references", "appendix"):
            ended = True
        roles.append(role or "body")
    return roles


def _is_amid(i: int, headings: Sequence[Heading], roles: Sequence[Role | None]) -> bool:
    """Tell whether a numbered section named like one of a paper's end has sections of the body behind it: "4 Checklist for ..."."""
    numbering = _numbering_of(headings[i].number)
    if (
        roles[i] not in ("appendix", "acknowledgements")
        or headings[i].level != 1
        or numbering not in ("decimal", "roman")
    ):
        return False
    behind = takewhile(lambda pair: pair[1] != "references", zip(headings[i + 1 :], roles[i + 1 :], strict=True))
    return any(
        heading.level == 1 and _numbering_of(heading.number) == numbering and role not in _TAIL
        for heading, role in behind
    )


def _heading_role(heading: Heading, before: Sequence[Heading]) -> Role | None:
    role = role_of(heading.words)
    if role is None and heading.level == 1 and _numbering_of(heading.number) == "letter" and _has_tail(before):
        return "appendix"
    return role if role and _may_have(role, heading) else None


def _may_have(role: Role, heading: Heading) -> bool:
    """Tell whether a heading may have a role: introduction and conclusion are sections; the other roles may be a subsection's."""
    return heading.level == 1 or role not in ("introduction", "conclusion")


def _section_style(anchors: Sequence[HeadingCandidate]) -> Style | None:
    """Return how sections are set: as most of the known headings that only sections have."""
    votes: Counter[Style] = Counter()
    for anchor in anchors:
        if normalise(anchor.words) != "abstract":
            weight = 3 if role_of(anchor.words) in ("introduction", "references", "conclusion") else 1
            votes[anchor.style] += 0 if "." in anchor.number else weight
    return votes.most_common(1)[0][0] if votes else None


def _lower_styles(
    candidates: Sequence[HeadingCandidate], style: Style | None, lines: Sequence[Line]
) -> frozenset[Style]:
    """Return the bold styles in which a paper without numbers sets its subsections: those used for two or more short lines."""
    votes = Counter(
        c.style
        for c in candidates
        if c.style.bold and c.style != style and not c.number and lines[c.first].start and _is_titled(c.words)
    )
    return frozenset(other for other, n in votes.items() if n > 1 and (style is None or other.size <= style.size))


def _numberings(
    anchors: Sequence[HeadingCandidate], candidates: Sequence[HeadingCandidate], style: Style | None
) -> list[str]:
    """Return the ways of numbering sections, "decimal", "roman" and "none", the likeliest first."""
    votes: Counter[str] = Counter()
    for anchor in anchors:
        if role_of(anchor.words) not in _TAIL and normalise(anchor.words) != "abstract":
            # What is not set like a section says little.
            weight = 4 if style is not None and anchor.style.alike(style) else 1
            votes[_numbering_of(anchor.number)] += weight * (3 if role_of(anchor.words) == "introduction" else 1)
    same = Counter(_numbering_of(c.number) for c in candidates if c.style == style)
    ordered = [own for own, _ in (*votes.most_common(), *same.most_common()) if own != "letter"]
    return list(dict.fromkeys([*ordered, "none", "decimal", "roman"]))


def _numbering_of(number: str, sections: str = "") -> str:
    """Return how a number is written; where `sections` are decimal, "I" is the letter of an appendix."""
    if not number or number[0].isdigit():
        return "decimal" if number else "none"
    is_letter = number not in ROMAN or (sections == "decimal" and len(number) == 1)
    return "letter" if is_letter else "roman"


def _level(c: HeadingCandidate, style: Style | None, numbering: str, lines: Sequence[Line]) -> int:
    """Return the level of a candidate, 0 if it is not a heading."""
    same = style is not None and c.style.alike(style)
    match _numbering_of(c.number, numbering):
        case "decimal" if numbering == "decimal":
            depth = c.number.count(".") + 1
            is_set_off = c.style.bold or lines[c.first].start
            # What begins an item of a list may be listed as a subsection's heading elsewhere.
            is_listed = c.listed and not c.run_in
            return depth if is_listed or depth > 1 or same or (is_known(c.words) and is_set_off) else 0
        case "roman" if numbering == "roman":
            return 1 if c.listed or same or is_known(c.words) else 0
        case "letter" if "." in c.number and numbering != "roman":
            return c.number.count(".") + 1
        case "letter" if "." not in c.number:
            # Letters number the subsections of papers with Roman sections, and appendices.
            if numbering == "roman":
                return 2 if _is_titled(c.words.removesuffix(".")) else 0
            return 1 if c.listed or same else 0
        case "none":
            return _level_unnumbered(c, same, numbering)
        case _:
            return c.listed


def _level_unnumbered(c: HeadingCandidate, same: bool, numbering: str) -> int:
    role = role_of(c.words)
    if c.listed or normalise(c.words) == "abstract":
        return c.listed or 1
    if same and numbering == "none":
        return 1 if len(c.words) < 90 and _is_titled(c.words) else 0
    if same and (role in _TAIL or is_known(c.words)):
        return 1
    if role is not None and (c.style.bold or c.style.caps or c.style.italic):
        return 1 if role in ("references", "appendix") else 2
    # A word of capitals alone, without a number where others have one, is a cell of a table.
    is_name = c.style.caps and not c.style.bold and " " not in c.words
    return 2 if same and _is_titled(c.words) and not is_name else 0


def _is_titled(words: str) -> bool:
    """Tell whether a text could be a heading by its words: begins like one, does not end like a sentence, or like an entry of the list of
    references.
    """
    return (
        not _ENDED_ENTRY.search(words)
        and (words[:1].isupper() or words[:1].isdigit())
        and (not words.endswith((".", ",", ";", ":")) or len(words.split()) <= 4)
    )


def _drop_miscounted(headings: list[Heading], numbering: str) -> list[Heading]:
    """Leave out what breaks the count (list items, table rows, words in boxes), and lower what cannot be a section."""
    if numbering == "none":
        return headings
    sections = [h for h in headings if h.level == 1 and _numbering_of(h.number) == numbering]
    counted = [sections[i] for i in _longest_count([_value(h.number) for h in sections])]
    firsts = {h.first for h in counted}
    out: list[Heading] = []
    section, letter, appendices = "", "A", 0
    for heading in headings:
        own = _numbering_of(heading.number, numbering)
        if heading.level == 1 and own == numbering:
            # Appendices may be counted from 1 again.
            is_appendix = heading.first not in firsts and heading.number == str(appendices + 1) and _has_list(out)
            if heading.first not in firsts and not is_appendix:
                continue
            section, letter, appendices = heading.number, "A", appendices + is_appendix
        elif own == "letter":
            is_next = heading.number == letter and (numbering != "decimal" or _has_tail(out))
            # A subsection belongs to the appendix before it.
            if not is_next and not heading.number.startswith(f"{chr(ord(letter) - 1)}."):
                continue
            letter = chr(ord(letter) + is_next)
        elif heading.level > 1 and own == "decimal" == numbering and heading.number.split(".")[0] != section:
            continue
        elif (
            own == "none"
            and (counted and counted[0].first < heading.first < counted[-1].first)
            and role_of(heading.words) not in _TAIL
        ):
            # Where sections are numbered, "Summary" between two of them is a box, not a section.
            heading = replace(heading, level=max(2, heading.level))
        out.append(heading)
    return out


def _has_list(headings: Sequence[Heading]) -> bool:
    return any(role_of(h.words) == "references" for h in headings)


def _has_tail(headings: Sequence[Heading]) -> bool:
    return any(role_of(h.words) in (*_TAIL, "conclusion") for h in headings)


def _value(number: str) -> int:
    head = number.split(".")[0]
    return int(head) if head.isdigit() else ROMAN.index(head)


def _longest_count(values: Sequence[int]) -> list[int]:
    """Return the indices of the longest run of values that counts up, small gaps allowed."""
    best: list[list[int]] = []
    for i, value in enumerate(values):
        before = [best[j] for j in range(i) if 0 < value - values[j] <= _GAP]
        best.append([*max(before, key=lambda run: (len(run), -run[-1]), default=[]), i])
    return max(best, key=len, default=[])


def _without_columns(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Leave out the heads of tables' columns called "References": before the list, those below which no year stands or the sections count
    on; behind it, those that are set otherwise.
    """
    lists = [heading for heading in headings if role_of(heading.words) == "references"]
    columns = [
        heading
        for heading, after in pairwise(lists)
        if not any(map(_YEAR.search, (line.text for line in lines[heading.last + 1 : after.first][:_LINES_TO_YEAR])))
        or _counts_on(heading, after, headings)
    ]
    first = next((heading for heading in lists if heading not in columns), None)
    if first:
        set_as_list = _type_of(lines[first.first])
        columns += [each for each in lists if each.first > first.first and _type_of(lines[each.first]) != set_as_list]
    return [heading for heading in headings if heading not in columns]


def _counts_on(heading: Heading, after: Heading, headings: Sequence[Heading]) -> bool:
    """Tell whether the number of the section behind a heading, and before another, follows that of the one before it."""
    sections = [each for each in headings if each.level == 1 and _numbering_of(each.number) in ("decimal", "roman")]
    before = [_value(each.number) for each in sections if each.first < heading.first]
    behind = [_value(each.number) for each in sections if heading.first < each.first < after.first]
    return bool(before and behind) and behind[0] == before[-1] + 1


def _type_of(line: Line) -> tuple[float, bool, bool]:
    return line.size, line.bold, line.text.isupper()


def _with_reference_list(headings: list[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the heading of a reference list that has none, as in journals of physics: where entries count up from [1]."""
    if _has_list(headings):
        return headings
    for i in range(len(lines) - 1, len(lines) // 3, -1):
        if (match := _ENTRY.match(lines[i].text)) and match[1] == "1" and _entries_from(lines, i) >= _MIN_ENTRIES:
            return in_order(*headings, Heading(i, i - 1, "", "References", 1))
    return headings


def in_order(*headings: Heading) -> list[Heading]:
    """Return the headings in the order of their lines."""
    return sorted(headings, key=lambda heading: heading.first)


def _entries_from(lines: Sequence[Line], start: int) -> int:
    """Return how far the entries count up that begin at a line."""
    count = 0
    for line in lines[start:]:
        if (match := _ENTRY.match(line.text)) and int(match[1]) in (count + 1, count + 2):
            count = int(match[1])
    return count
