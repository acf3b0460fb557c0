"""What reading one file gives: the document, and what is needed to tell how well it was read."""

from __future__ import annotations

from dataclasses import dataclass

from builder.records import Document


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
