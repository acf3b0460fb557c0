"""What questions call a section: introduction, related work, method, experiments; or what it could be called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from builder.extract.roles import normalise, split_number
from builder.extract.sections import TopSection, parts

if TYPE_CHECKING:
    from builder.records import Document

SectionKind = Literal["introduction", "related_work", "method", "experiments"]

# As the prompt of Walk says.
_EXPERIMENTS = re.compile(r"\b(?:experiment(?:s|al|ation)?|evaluations?|results?)\b")
_METHOD = re.compile(r"\b(?:methods?|methodology|approach(?:es)?|models?|frameworks?|algorithms?)\b")
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
    """Section of the document -> what it is called, a subsection by the section that it belongs to."""
    kinds: dict[int, Called] = {}
    all_parts = parts(document)
    has_introduction = any(part.role == "introduction" for part in all_parts)
    for n, part in enumerate(all_parts):
        called = _called(part)
        if n == 0 and not has_introduction:
            # What opens a paper introduces it, whatever it is called.
            called = Called(frozenset(), called.sure | called.doubtful | {"introduction"})
        kinds |= {i: _with_own_heading(called, document, part, i) for i in part.sections}
    return kinds


def _called(part: TopSection) -> Called:
    """What a top-level section is called, by its heading."""
    words = _words(part.heading)
    named: set[SectionKind] = set()
    if part.role in ("introduction", "related_work"):
        named.add(part.role)
    if _EXPERIMENTS.search(words):
        named.add("experiments")
    if _METHOD.search(words):
        named.add("method")
    nearly: set[SectionKind] = set()
    if part.role == "body" and "method" not in named and "experiments" not in named:
        # Sections with a method are often called by its name.
        nearly.add("method")
    if part.role == "body" and _NEARLY_EXPERIMENTS.search(words):
        nearly.add("experiments")
    if part.role != "related_work" and _NEARLY_RELATED.search(words):
        nearly.add("related_work")
    if len(named) == 1 and not nearly - named:
        return Called(frozenset(named), frozenset())
    return Called(frozenset(), frozenset(named | nearly))


def _with_own_heading(called: Called, document: Document, part: TopSection, section: int) -> Called:
    """What a section is called if its own heading is heeded too."""
    if section == part.sections[0]:
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
