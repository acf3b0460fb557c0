from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from builder.extract import quality
from builder.extract.quality import MeasuredDocument
from builder.records import Document, Quality, Reference, Section
from builder.round.tables import QualityTable

GOOD = Quality(words=900, coverage=0.9, hyphen_breaks=0.1, unmapped=0.0, entries=1.0, common_words=0.2, in_order=True)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, None),
        ({"words": 10}, "too_little_text"),
        ({"coverage": 0.1}, "low_coverage"),
        ({"hyphen_breaks": 30.0}, "hyphen_breaks"),
        ({"unmapped": 0.1}, "unmapped_glyphs"),
        ({"entries": 0.2}, "missing_references"),
        ({"common_words": 0.01}, "not_english"),
        ({"in_order": False}, "sections_out_of_order"),
    ],
)
def test_each_threshold_has_its_reason(change: dict[str, Any], reason: str | None) -> None:
    assert quality.fault(replace(GOOD, **change), QualityTable()) == reason


def test_thresholds_are_the_rounds() -> None:
    assert quality.fault(replace(GOOD, in_order=False), QualityTable(in_order=False)) is None
    assert quality.fault(GOOD, QualityTable(min_coverage=0.95)) == "low_coverage"


def reading(*sections: Section, labels: str = "", characters: int = 0, unmapped: int = 0) -> MeasuredDocument:
    document = Document("T", "", sections, tuple(Reference("raw", label) for label in labels.split()))
    return MeasuredDocument(document, characters or sum(len(s.text) + len(s.heading) for s in sections), unmapped)


def test_what_is_measured() -> None:
    text = "The effect of the method is in the table and it is to be seen. " * 20
    intro = Section("1 Introduction", "introduction", 1, text)
    measured = quality.measure(reading(intro, labels="1 2 3"))
    assert measured.words == 300
    assert measured.coverage == 1.0
    assert measured.common_words > 0.5
    assert (measured.entries, measured.in_order, measured.hyphen_breaks) == (1.0, True, 0.0)
    assert quality.measure(reading(intro, labels="1 2 10")).entries == pytest.approx(0.3)
    assert quality.measure(reading(intro, labels="Doe19")).entries == 1.0
    assert (
        quality.measure(reading(intro, labels="0")).entries
        == quality.measure(reading(intro, labels="²")).entries
        == 1.0
    )
    assert quality.measure(reading(intro)).entries == 0.0
    assert quality.measure(reading(intro, characters=4 * len(text))).coverage == pytest.approx(0.25, abs=0.01)
    assert quality.measure(reading(intro, characters=1000, unmapped=10)).unmapped == pytest.approx(0.01)


def test_broken_words_count_and_suspended_hyphens_do_not() -> None:
    section = Section(
        "1 Introduction", "introduction", 1, "a bro- ken word, pre- and post-training, and a-b " + "word " * 90
    )
    assert quality.measure(reading(section)).hyphen_breaks == pytest.approx(10.0, abs=0.5)


def test_the_order_of_sections() -> None:
    conclusion = Section("2 Conclusion", "conclusion", 1, "x")
    intro = Section("1 Introduction", "introduction", 1, "x")
    assert quality.measure(reading(intro, conclusion)).in_order
    assert not quality.measure(reading(conclusion, intro)).in_order


def test_an_empty_document_is_no_division_by_zero() -> None:
    assert quality.measure(MeasuredDocument(Document("", "", ()), 0, 0)).coverage == 0.0
