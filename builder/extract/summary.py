"""How well a round's files were read, for its manifest and card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from statistics import fmean
from typing import TYPE_CHECKING

from builder.extract.sections import role_span
from builder.records import Document, FileKind, Quality, ReadingSummary, Role

if TYPE_CHECKING:
    from builder.extract.stage import Documents

_WORD = re.compile(r"[a-z]{4,}")
_COMPARED: tuple[Role, ...] = ("introduction", "related_work", "conclusion")


def summarise(documents: Documents, paper_ids: Iterable[str], kinds: Sequence[FileKind]) -> ReadingSummary:
    """Means of the quality figures of the documents used, how many of each kind, and the agreement of HTML and PDF.

    Agreement is the F1 of the words of four letters and more in introduction, related work and conclusion, over the
    papers of which both files were read.

    Args:
        kinds: of files that the papers have.
    """
    used: list[Quality] = []
    agreements: list[float] = []
    for paper_id in paper_ids:
        outcomes = documents.store.outcomes(paper_id)
        figures = outcomes[documents.kinds[paper_id]][1]
        if figures is not None:
            used.append(figures)
        both = [
            documents.store.document(paper_id, kind) for kind in kinds if kind in outcomes and not outcomes[kind][0]
        ]
        if len(both) == 2 and both[0] and both[1]:
            agreements.append(agreement(both[0], both[1]))
    names = [field.name for field in fields(Quality)]
    rows = [asdict(quality) for quality in used]
    return ReadingSummary(
        documents={kind: sum(chosen == kind for chosen in documents.kinds.values()) for kind in kinds},
        means={name: round(fmean(float(row[name]) for row in rows), 4) for name in names} if rows else {},
        html_pdf_papers=len(agreements),
        html_pdf_agreement=round(fmean(agreements), 4) if agreements else None,
    )


def agreement(a: Document, b: Document) -> float:
    """F1 of the words that two readings of a paper put into its named sections."""
    first, second = _bag(a), _bag(b)
    common = (first & second).total()
    return 2 * common / (first.total() + second.total()) if common else 0.0


def _bag(document: Document) -> Counter[str]:
    span = frozenset[int]().union(*(role_span(document, role) for role in _COMPARED))
    return Counter(word for i in span for word in _WORD.findall(document.sections[i].text.casefold()))
