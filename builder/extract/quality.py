"""What reading one file gives; how well it was read, by checks that need no gold text, and whether that is good enough to use."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.extract.sections import OUTSIDE, role_span
from builder.records import Document, ExtractReason, Quality, Role

if TYPE_CHECKING:
    from builder.round.tables import QualityTable

_WORD = re.compile(r"[^\W\d_]+")
# The same words of a text of ASCII, found faster.
_LETTERS = {code: chr(code).lower() if chr(code).isalpha() else " " for code in range(128)}
# Hyphens that come before a blank on purpose: "pre- and post-training".
_SUSPENDED = re.compile(r"[^\W\d_]- (?:and|or|to|und|nor|as)\b")
_COMMON = frozenset("the of and to in a is that for we with as by on are this be from an which it".split())
_ORDER: tuple[Role, ...] = ("introduction", "conclusion", "references")


@dataclass(frozen=True, slots=True)
class MeasuredDocument:
    """A document and counts of the characters it was read from.

    Attributes:
        characters: on the pages, page furniture left out.
        unmapped: of these, the ones without a Unicode value.
        headings_agree: whether the headings do not contradict one another.
        hidden: characters that a reader cannot see, which are in neither.
    """

    document: Document
    characters: int
    unmapped: int
    headings_agree: bool = True
    hidden: int = 0


def _share(count: int, of: int) -> float:
    return count / of if of else 0.0


def measure(reading: MeasuredDocument) -> Quality:
    """Return the figures of one reading."""
    document = reading.document
    body = " ".join(s.text for s in document.sections if s.role not in ("references", "appendix"))
    words = words_of(body)
    placed = len(document.abstract) + sum(len(s.text) + len(s.heading) for s in document.sections)
    breaks = len(re.findall(r"[^\W\d_]- [a-z]", body)) - len(_SUSPENDED.findall(body))
    roles = [section.role for section in document.sections]
    positions = [roles.index(role) for role in _ORDER if role in roles]
    labels = [int(entry.label) for entry in document.references if entry.label.isdecimal() and int(entry.label)]
    entries = min(1.0, len(labels) / max(labels)) if labels else float(bool(document.references))
    counts = [0 if s.role in OUTSIDE else len(s.text.split()) for s in document.sections]
    return Quality(
        words=len(words),
        coverage=min(1.0, _share(placed, reading.characters)),
        hyphen_breaks=_share(1000 * breaks, len(words)),
        unmapped=_share(reading.unmapped, reading.characters),
        entries=entries,
        common_words=common_share(words),
        in_order=positions == sorted(positions),
        headings_agree=reading.headings_agree,
        hidden=reading.hidden,
        abstract_words=len(document.abstract.split()),
        introduction=_share(sum(counts[i] for i in role_span(document, "introduction")), sum(counts)),
    )


def common_share(words: list[str]) -> float:
    """Return the share of the words that are among the commonest of English: about 0.2 in papers, 0.05 in other languages."""
    return sum(map(_COMMON.__contains__, words)) / len(words) if words else 0.0


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return text.translate(_LETTERS).split() if text.isascii() else _WORD.findall(text.casefold())


def fault(quality: Quality, limits: QualityTable) -> ExtractReason | None:
    """Say why a reading is not good enough, None if it is."""
    checks: tuple[tuple[bool, ExtractReason], ...] = (
        (quality.words < limits.min_words, "too_little_text"),
        (quality.common_words < limits.min_common_words, "not_english"),
        (quality.unmapped > limits.max_unmapped, "unmapped_glyphs"),
        (quality.coverage < limits.min_coverage, "low_coverage"),
        (quality.hyphen_breaks > limits.max_hyphen_breaks, "hyphen_breaks"),
        (quality.entries < limits.min_entries, "missing_references"),
        (limits.in_order and not quality.in_order, "sections_out_of_order"),
        (limits.headings_agree and not quality.headings_agree, "headings_disagree"),
        (quality.abstract_words > limits.max_abstract_words, "long_abstract"),
        (quality.introduction > limits.max_introduction, "long_introduction"),
    )
    return next((reason for failed, reason in checks if failed), None)
