"""Where a paper cites each entry of its reference list, found in two ways that share nothing but the list.

The first way is the extraction's: every marker of the text with the entries that it points to. The second begins with one
entry: it takes the entry's key, a label or a first author and a year, and searches the text for it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from lm_eval_tasks.base.text import fold

if TYPE_CHECKING:
    from builder.records import Document, Reference

# Section of the document, and paragraph in its text.
Place = tuple[int, int]
Places = frozenset[Place]

_BRACKETS = re.compile(r"\[([^\[\]]{1,200})\]")
_NUMBERS = re.compile(r"\s*\d{1,4}(?:\s*[,;–—-]\s*\d{1,4})*\s*(?:,\s*(?:p|sec|ch|fig|tab)[^\]]{0,40})?", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,4})\s*[–—-]\s*(\d{1,4})")
# "[3, Sec. 4]" cites 3 alone.
_WORDS_AFTER = re.compile(r",\s*(?=[A-Za-z])")
_BRACKET_RANGE = re.compile(r"\[(\d{1,4})\] ?[–—-] ?\[(\d{1,4})\]")
_LONGEST_RANGE = 60
# Between a first author's surname and the year: co-authors, "et al.", brackets; no full stop but that of "al.".
_BETWEEN = r"(?:[^.;()\[\]\n]|\bal\.|\b[A-Z]\.){0,90}?[\s,(\[]{1,3}"


@dataclass(frozen=True, slots=True)
class CitedPlaces:
    """Where a paper cites.

    Attributes:
        first, second: entry of the reference list -> the places at which the one and the other way find it cited.
    """

    first: dict[int, Places]
    second: Callable[[int], Places | None]

    def places(self, entry: int) -> Places | None:
        """The places at which both ways find an entry cited; None if they disagree, or the second cannot tell."""
        places = self.first.get(entry, frozenset())
        return places if self.second(entry) == places else None


def citing(document: Document, sections: frozenset[int]) -> CitedPlaces:
    """Where a document cites.

    Args:
        sections: those that are looked at.
    """
    first: dict[int, set[Place]] = defaultdict(set)
    for mention in document.mentions:
        if mention.section in sections:
            paragraph = document.sections[mention.section].text.count("\n", 0, mention.start)
            for entry in mention.references:
                first[entry].add((mention.section, paragraph))
    search = cache(lambda entry: _search(document, sections, entry, keys))
    keys = _Keys(document)
    return CitedPlaces({entry: frozenset(places) for entry, places in first.items()}, search)


class _Keys:
    """What is needed of a reference list to search for its entries."""

    def __init__(self, document: Document) -> None:
        self.labels = Counter(entry.label for entry in document.references if entry.label)
        self.names = Counter(_name_and_year(entry) for entry in document.references)
        self.by_name = _cites_by_name(document)


def _cites_by_name(document: Document) -> bool:
    """Whether the text cites by names and years: no label stands between brackets in it."""
    labels = {entry.label for entry in document.references if entry.label}
    text = "\n".join(section.text for section in document.sections)
    return not any(labels & _labels(match[1]) for match in _BRACKETS.finditer(text))


def _labels(text: str) -> set[str]:
    """The labels that may stand between two brackets."""
    return {*map(str, _numbers(text)), *map(str.strip, re.split("[,;]", text))}


def _name_and_year(entry: Reference) -> tuple[str, int | None]:
    return fold(entry.authors[0]) if entry.authors else "", entry.year


def _search(document: Document, sections: frozenset[int], entry: int, keys: _Keys) -> Places | None:
    reference = document.references[entry]
    if not keys.by_name:
        if not reference.label or keys.labels[reference.label] > 1:
            return None
        cites = _numbered(int(reference.label)) if reference.label.isdecimal() else _labelled(reference.label)
    else:
        if not reference.authors or not reference.year or keys.names[_name_and_year(reference)] > 1:
            return None
        pattern = re.compile(
            rf"\b{re.escape(fold(reference.authors[0]))}\b{_BETWEEN}{reference.year}[a-z]?\b", re.IGNORECASE
        )
        cites = _named(pattern)
    return frozenset(
        (i, n)
        for i in sections
        for n, paragraph in enumerate(document.sections[i].text.split("\n"))
        if cites(paragraph)
    )


def _named(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda paragraph: pattern.search(fold(paragraph)) is not None


def _numbered(number: int) -> Callable[[str], bool]:
    """Whether a paragraph has a number between brackets, alone, in a list, or within a range."""

    def cites(paragraph: str) -> bool:
        return number in _between_brackets(paragraph) or any(
            number in _numbers(match[1]) for match in _BRACKETS.finditer(paragraph)
        )

    return cites


@lru_cache(maxsize=4096)
def _between_brackets(paragraph: str) -> frozenset[int]:
    """The numbers of ranges such as "[8]-[11]"."""
    ends = ((int(match[1]), int(match[2])) for match in _BRACKET_RANGE.finditer(paragraph))
    return frozenset(n for low, high in ends if 0 < high - low < _LONGEST_RANGE for n in range(low, high + 1))


@lru_cache(maxsize=4096)
def _numbers(text: str) -> frozenset[int]:
    if not _NUMBERS.fullmatch(text):
        return frozenset()
    text = _WORDS_AFTER.split(text)[0]
    numbers = set(map(int, re.findall(r"\d+", text)))
    for low, high in ((int(match[1]), int(match[2])) for match in _RANGE.finditer(text)):
        if 0 < high - low < _LONGEST_RANGE:
            numbers.update(range(low, high))
    return frozenset(numbers)


def _labelled(label: str) -> Callable[[str], bool]:
    """Whether a paragraph has a label between brackets, alone or in a list."""

    def cites(paragraph: str) -> bool:
        return any(label in _labels(match[1]) for match in _BRACKETS.finditer(paragraph))

    return cites
