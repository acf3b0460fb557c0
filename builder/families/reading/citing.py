"""Where a paper cites each entry of its reference list, and what the sections are called in which it does.

The places are found in two ways that share nothing but the list. The first way is the extraction's: every marker of the text with the
entries that it points to. The second begins with one entry: it takes the entry's key, a label or a first author and a year, and searches
the text for it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from builder.extract.mentions import PLACE
from builder.extract.sections import TopSection, normalise, split_number, top_sections
from builder.records import Document, Reference, Role
from lm_eval_tasks.base.text import fold

# Section of the document, and paragraph in its text.
Location = tuple[int, int]
Locations = frozenset[Location]

_BRACKETS = re.compile(r"\[([^\[\]]{1,200})\]")
_NUMBERS = re.compile(rf"\s*\d{{1,4}}(?:\s*[,;–—-]\s*\d{{1,4}})*\s*(?:,\s*{PLACE}[^\]]{{0,40}})?")
_RANGE = re.compile(r"(\d{1,4})\s*[–—-]\s*(\d{1,4})")
# "[3, Sec. 4]" cites 3 alone.
_WORDS_AFTER = re.compile(r",\s*(?=[A-Za-z§])")
_BRACKET_RANGE = re.compile(r"\[(\d{1,4})\] ?[–—-] ?\[(\d{1,4})\]")
_LONGEST_RANGE = 60
# Between a first author's surname and the year: co-authors, "et al.", brackets; no full stop but that of "al.".
_BETWEEN = r"(?:[^.;()\[\]\n]|\bal\.|\b[A-Z]\.){0,90}?[\s,(\[]{1,3}"


def places_of(document: Document, sections: frozenset[int]) -> Callable[[int], Locations | None]:
    """Return what gives the places in some sections at which both ways find an entry of the reference list cited; None if they disagree, or
    the second cannot tell.
    """
    first: dict[int, set[Location]] = defaultdict(set)
    for mention in document.mentions:
        if mention.section in sections:
            paragraph = document.sections[mention.section].text.count("\n", 0, mention.start)
            for entry in mention.references:
                first[entry].add((mention.section, paragraph))
    labels = Counter(entry.label for entry in document.references if entry.label)
    names = Counter(map(_name_and_year, document.references))
    text = "\n".join(section.text for section in document.sections)
    # Where no label stands between brackets, the text cites by names and years.
    by_name = not any(labels.keys() & _labels(match[1]) for match in _BRACKETS.finditer(text))

    @cache
    def locations(entry: int) -> Locations | None:
        reference = document.references[entry]
        cites = _by_name(reference, names) if by_name else _by_label(reference, labels)
        if cites is None:
            return None
        paragraphs = ((i, n, text) for i in sections for n, text in enumerate(document.sections[i].text.split("\n")))
        second = frozenset((i, n) for i, n, paragraph in paragraphs if cites(paragraph))
        return second if second == first.get(entry, set()) else None

    return locations


def _labels(text: str) -> set[str]:
    """Return the labels that may stand between two brackets."""
    return {*map(str, _numbers(text)), *map(str.strip, re.split("[,;]", text))}


def _name_and_year(entry: Reference) -> tuple[str, int | None]:
    return fold(entry.authors[0]) if entry.authors else "", entry.year


def _by_name(reference: Reference, names: Counter[tuple[str, int | None]]) -> Callable[[str], bool] | None:
    """Tell whether a paragraph cites an entry by its first author and year; None if others have the same."""
    if not reference.authors or not reference.year or names[_name_and_year(reference)] > 1:
        return None
    pattern = re.compile(
        rf"\b{re.escape(fold(reference.authors[0]))}\b{_BETWEEN}{reference.year}[a-z]?\b", re.IGNORECASE
    )
    return lambda paragraph: pattern.search(fold(paragraph)) is not None


def _by_label(reference: Reference, labels: Counter[str]) -> Callable[[str], bool] | None:
    """Tell whether a paragraph has an entry's label between brackets, alone, in a list, or within a range; None if others have the same."""
    label = reference.label
    if not label or labels[label] > 1:
        return None
    if not label.isdecimal():
        return lambda paragraph: any(label in _labels(match[1]) for match in _BRACKETS.finditer(paragraph))
    number = int(label)
    return lambda paragraph: (
        number in _between_brackets(paragraph)
        or any(number in _numbers(match[1]) for match in _BRACKETS.finditer(paragraph))
    )


@lru_cache(maxsize=4096)
def _between_brackets(paragraph: str) -> frozenset[int]:
    """Return the numbers of ranges such as "[8]-[11]"."""
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


SectionKind = Literal["introduction", "related_work", "method", "experiments"]

# As the prompt of Walk says.
_EXPERIMENTS = re.compile(r"\b(?:experiment(?:s|al|ation)?|evaluations?|results?)\b")
_METHOD = re.compile(r"\b(?:methods?|methodology|approach(?:es)?|models?|frameworks?|algorithms?)\b")
_CALLED_SO: dict[Role, re.Pattern[str]] = {
    "introduction": re.compile(r"\bintro(?:duction|ductory)?\b"),
    "related_work": re.compile(
        r"\b(?:related|prior|previous) (?:works?|research|literature|stud(?:y|ies)|approaches|papers?)\b"
    ),
}
# Sections that one reader takes for experiments and another does not.
_NEARLY_EXPERIMENTS = re.compile(
    r"\b(?:data(?:sets?)?|set-?ups?|settings?|implementations?|analys[ei]s|discussions?|stud(?:y|ies)|benchmarks?|baselines?"
    r"|findings?|questions?|simulations?|numerical|applications?|validation|validity|comparisons?|tests?|testing|measurements?"
    r"|observations?|performance|design|metrics?|limitations?|implications?|lessons|empirical|ablations?)\b"
)
_NEARLY_RELATED = re.compile(
    r"\b(?:background|preliminar(?:y|ies)|related|prior|previous|existing|literature|state of the art)\b"
)


@dataclass(frozen=True, slots=True)
class Called:
    """What a section is called.

    Attributes:
        sure: the kinds that everybody would call it by.
        doubtful: those that somebody may call it by.
    """

    sure: frozenset[SectionKind]
    doubtful: frozenset[SectionKind]


def section_kinds(document: Document) -> dict[int, Called]:
    """Return the section of the document -> what it is called, a subsection by the section that it belongs to."""
    called_of: dict[int, Called] = {}
    tops = top_sections(document)
    has_introduction = any(top.role == "introduction" for top in tops)
    for n, top in enumerate(tops):
        called = _called(top)
        if n == 0 and not has_introduction:
            # What opens a paper introduces it, whatever it is called.
            called = Called(frozenset(), called.sure | called.doubtful | {"introduction"})
        called_of |= {i: _with_own_heading(called, document, top, i) for i in top.sections}
    return called_of


def _called(top: TopSection) -> Called:
    words = _words(top.heading)
    named: set[SectionKind] = set()
    nearly: set[SectionKind] = set()
    if top.role in ("introduction", "related_work"):
        (named if _CALLED_SO[top.role].search(words) else nearly).add(top.role)
    if _EXPERIMENTS.search(words):
        named.add("experiments")
    if _METHOD.search(words):
        named.add("method")
    if top.role == "body" and "method" not in named and "experiments" not in named:
        # Sections with a method are often called by its name.
        nearly.add("method")
    if top.role == "body" and _NEARLY_EXPERIMENTS.search(words):
        nearly.add("experiments")
    if top.role != "related_work" and _NEARLY_RELATED.search(words):
        nearly.add("related_work")
    if len(named) == 1 and not nearly - named:
        return Called(frozenset(named), frozenset())
    return Called(frozenset(), frozenset(named | nearly))


def _with_own_heading(called: Called, document: Document, top: TopSection, section: int) -> Called:
    """Return what a section is called if its own heading is heeded too."""
    if section == top.sections[0]:
        return called
    words = _words(document.sections[section].heading)
    role = document.sections[section].role
    own: set[SectionKind] = {role} if role in ("introduction", "related_work") else set()
    if _EXPERIMENTS.search(words):
        own.add("experiments")
    if _NEARLY_RELATED.search(words):
        own.add("related_work")
    if not own - called.sure:
        return called
    return Called(frozenset(), called.sure | called.doubtful | own)


def _words(heading: str) -> str:
    return normalise(split_number(heading)[1])
