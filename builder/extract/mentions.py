"""Where the sections of a paper cite: the marks in their text, and the entries of the reference list that these name."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from builder.records import Mention, Reference, Section
from lm_eval_tasks.base.text import fold

# "[3, Theorem 2.1]" names a place in the work.
PLACE = r"(?i:p|sec|ch|th(?:m|eor)|lem|prop|cor|def|rem|eqn?\b|fig|tab|app|exam|§)"
_NUMERIC = re.compile(rf"\[\s*(\d{{1,4}}(?:\s*[,;–—-]\s*\d{{1,4}})*)\s*(?:,\s*{PLACE}[^\]]{{0,30}})?\]")
_IN_A_WORK = re.compile(rf"{PLACE}[a-z]*(?:\.\s?|\s)\S*\d")
# "[8]-[11]", as IEEE journals print it, and then what is between one pair of brackets.
_RANGE = re.compile(r"\[\s*(\d{1,4}\s*\]\s*[–—-]\s*\[\s*\d{1,4})\s*\]")
# "(14)", "(25; 15)", as some journals of the sciences print it. Equations have such numbers too, but for less than half of a list.
_ROUND, _LEAST_OF_LIST = re.compile(r"(?<!\w)\(\s*(\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*)\s*\)"), 0.5
_NUMBERED_OTHERWISE = re.compile(r"\b(?:eqs?|equations?|figs?|figure|table|step|item)\.?\s*$", re.IGNORECASE)
_NUMBER = re.compile(r"[+\-−–]?\d+(?:\.\d+)?")
_LABELS = re.compile(r"\[([^\[\]]{2,120})\]")
_YEAR = re.compile(r"(?<![\d.])((?:19|20)\d{2})([a-z]?)(?!\d)")
# More works of the same authors: another year, or another letter.
_MORE = re.compile(r"\s?,\s?(?:and )?((?:19|20)\d{2})?([a-z]?)(?<![\s,])(?=\s*[,;)\]])")
_SURNAME = r"[^\W\d_][^\W\d_'’\-]*(?:[ '’\-][^\W\d_]+){0,2}"
# What may come between a first author's surname and the year.
_OTHERS = re.compile(rf"(?:, {_SURNAME}){{0,4}}(?:,? et al\.?|,? (?:and|&) {_SURNAME})?(?:’s|'s)?")
_SECOND = re.compile(r"(?:\band|&)\s+(?:[^\W\d_][\w'’-]*\s)*([^\W\d_][\w'’-]*?)(?:’s|'s)?$")
# What stands before a surname and belongs to it.
_PARTICLES = re.compile(
    r"(?<![\w-])(?:(?:van|von|de|del|della|den|der|di|da|dos|du|la|le|ten|ter|el|al|bin|ibn) ){1,3}$", re.IGNORECASE
)
_LONGEST_PARTICLES = 24
_ENDS, _WITHIN_A_MARK = re.compile(r"[;()\[\]\n]|\. "), re.compile(r"[,;]")
_WINDOW, _CITED_NUMBERS, _NEAR = 100, 60, 12
_NOT_CITED = ("references", "appendix", "acknowledgements")


# First author and year -> the entries, with their places in the list.
_ByName = dict[tuple[str, int], list[tuple[int, Reference]]]


def find_mentions(sections: Sequence[Section], references: Sequence[Reference]) -> tuple[Mention, ...]:
    """Find every citation marker, in order, with the entries that it points to.

    A paper marks in one way; labels may be printed in the list without being used in the text, so each way is tried and
    the one that finds most is taken.
    """
    by_label: dict[str, int] = {}
    for i, entry in enumerate(references):
        if entry.label:
            # Where numbers begin again, the text cites the first list: the second one is an appendix's.
            by_label.setdefault(entry.label, i)
    by_name: _ByName = defaultdict(list)
    for i, entry in enumerate(references):
        if entry.authors and entry.year:
            by_name[fold(entry.authors[0]), entry.year].append((i, entry))

    def by_number(section: int, text: str) -> Iterator[Mention]:
        return _bracketed(section, _in_brackets(text), _expand, by_label)

    def by_any_label(section: int, text: str) -> Iterator[Mention]:
        return _bracketed(section, _LABELS.finditer(text), _WITHIN_A_MARK.split, by_label)

    def by_author_and_year(section: int, text: str) -> Iterator[Mention]:
        return _author_year_mentions(section, text, by_name)

    citing = [(i, section.text) for i, section in enumerate(sections) if section.role not in _NOT_CITED]
    found = [
        tuple(mention for i, text in citing for mention in way(i, text))
        for way in (by_number, by_any_label, by_author_and_year)
    ]
    return max(found, key=len) or _in_round_brackets(citing, by_label)


def _in_round_brackets(citing: Iterable[tuple[int, str]], by_label: dict[str, int]) -> tuple[Mention, ...]:
    """Find the marks in round brackets, if they name most of the list."""
    found = [mention for i, text in citing for mention in _bracketed(i, _in_round(text), _expand, by_label)]
    cited = {entry for mention in found for entry in mention.references}
    return tuple(found) if len(cited) >= _LEAST_OF_LIST * len(by_label) else ()


def _in_round(text: str) -> Iterator[re.Match[str]]:
    """Yield the numbers in round brackets that are those of no equation, figure or step."""
    for match in _ROUND.finditer(text):
        if not _NUMBERED_OTHERWISE.search(text, max(0, match.start() - _NEAR), match.start()):
            yield match


def _bracketed(
    s: int, marks: Iterable[re.Match[str]], labels_in: Callable[[str], Iterable[str]], by_label: dict[str, int]
) -> Iterator[Mention]:
    """Yield the marks in brackets that name labels of the list."""
    highest = max((int(label) for label in by_label if label.isdecimal()), default=0)
    for match in marks:
        labels = [label.strip() for label in labels_in(match[1])]
        cited = tuple(dict.fromkeys(by_label[label] for label in labels if label in by_label))
        # "[0, 1]" and "[-0.5, 1]" are intervals: no list has such numbers, and none goes beyond its highest one.
        numbers = [label for label in labels if _NUMBER.fullmatch(label) and label not in by_label]
        is_interval = any(not number.isdecimal() or not 0 < int(number) < highest for number in numbers)
        works = [label for label in labels if label in by_label or not _IN_A_WORK.match(label)]
        if cited and not is_interval:
            yield Mention(s, match.start(1), match.end(1), cited, len(works) > 1)


def _in_brackets(text: str) -> Iterator[re.Match[str]]:
    """Yield the markers of numbers, ranges of two brackets as one."""
    ranges = [match for match in _RANGE.finditer(text) if len([*_expand(match[1])]) > 1]
    covered = [match.span() for match in ranges]
    single = (match for match in _NUMERIC.finditer(text) if not any(a <= match.start() < b for a, b in covered))
    yield from sorted([*ranges, *single], key=lambda match: match.start())


def _expand(text: str) -> Iterator[str]:
    """Yield the numbers of "3, 5-7"."""
    for piece in _WITHIN_A_MARK.split(text):
        ends = [int(n) for n in re.findall(r"\d+", piece)]
        is_range = len(ends) == 2 and 0 < ends[1] - ends[0] < _CITED_NUMBERS
        yield from map(str, range(ends[0], ends[1] + 1) if is_range else ends)


def _author_year_mentions(s: int, text: str, by_name: _ByName) -> Iterator[Mention]:
    hits: list[tuple[int, int, list[int], bool]] = []
    covered = 0
    for match in _YEAR.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start()].rstrip(" ,([")
        names = _ENDS.split(before)[-1]
        if match.start() >= covered and (author := _find_author(names, int(match[1]), by_name)):
            skipped, surname, others = author
            start = max(0, match.start() - _WINDOW) + len(before) - len(names) + skipped
            cited, covered = _works_of(text, match, partial(_entry_of, by_name, surname, others))
            hits.append((with_particles(text, start), covered, cited, len(cited) > 1))
    for i, (start, end, cited, are_several) in enumerate(hits):
        joined = (i > 0 and _same_group(text, hits[i - 1][1], start)) or (
            i + 1 < len(hits) and _same_group(text, end, hits[i + 1][0])
        )
        # With the bracket that it opened, as in "Ek (2019)", "Ek [2019]".
        closed = end + any(
            text[end : end + 1] == closing and text.count(opening, start, end) > text.count(closing, start, end)
            for opening, closing in ("()", "[]")
        )
        yield Mention(s, start, closed, tuple(dict.fromkeys(cited)), joined or are_several)


def _works_of(text: str, first: re.Match[str], entry_of: Callable[[int, str], int | None]) -> tuple[list[int], int]:
    """Return the entries of a mark that names its authors once, as in "Ek, 2019a,b, 2020", and where the mark ends.

    Args:
        entry_of: the authors' entry of a year with a letter, if there is one.
    """
    year, letter, end = int(first[1]), first[2], first.end()
    found = entry_of(year, letter)
    cited = [entry_of(year, "") if found is None else found]
    while more := _MORE.match(text, end):
        other_year, other_letter = more.groups()
        # A letter alone goes on only with a year that has one.
        is_another = bool(other_year or letter)
        year, letter = int(other_year or year), other_letter
        entry = entry_of(year, letter) if is_another else None
        if entry is None:
            break
        cited.append(entry)
        end = more.end()
    return [entry for entry in cited if entry is not None], end


def with_particles(text: str, start: int) -> int:
    """Return where a name begins whose surname begins at `start`: "van den Oord"."""
    particles = _PARTICLES.search(text, max(0, start - _LONGEST_PARTICLES), start) if text[start].isupper() else None
    return particles.start() if particles else start


def _entry_of(by_name: _ByName, surname: str, others: str, year: int, letter: str) -> int | None:
    """Return the entry that authors, year and letter name; None for no such one.

    The letter that an entry prints decides, then who else wrote it; of several the first, or that of the letter's place.

    Args:
        others: what stands between the first author's surname and the year.
    """
    works = by_name.get((surname, year), [])
    printed = {i: re.search(rf"{year}([a-z])\b", entry.raw) for i, entry in works}
    theirs = [work for work in works if _are_authors(others, work[1])]
    for i, _ in (*theirs, *works):
        if letter and (match := printed[i]) and match[1] == letter:
            return i
    plain = [[work for work in pool if letter or not printed[work[0]]] for pool in (theirs, works)]
    chosen = plain[0] or theirs or plain[1] or works
    order = ord(letter or "a") - ord("a")
    return next((i for i, _ in (*chosen[order:], *works[order:])), None)


def _are_authors(others: str, entry: Reference) -> bool:
    """Tell whether an entry's authors behind the first are those that a mark names, as far as it does."""
    if "et al" in others:
        return len(entry.authors) > 2 or re.search(r"\bet al\b", entry.raw) is not None
    second = _SECOND.search(others)
    return fold(second[1]) in map(fold, entry.authors[1:]) if second else len(entry.authors) == 1


def _find_author(names: str, year: int, by_name: _ByName) -> tuple[int, str, str] | None:
    """Return how many characters precede the first author in `names`, that author's key, and what follows the surname; None unless the list
    has a work by this author from that year.
    """
    for word in re.finditer(r"[^\s,]+", names):
        rest = names[word.start() :]
        for surname in (re.split(r",| and | & | et al|['’]s", rest)[0], word.group()):
            others = rest[len(surname) :]
            if by_name.get((fold(surname), year)) and _OTHERS.fullmatch(others):
                return word.start(), fold(surname), others
    return None


def _same_group(text: str, end: int, start: int) -> bool:
    between = text[end:start]
    return start - end < 12 and ";" in between and ")" not in between
