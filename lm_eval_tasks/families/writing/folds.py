"""A paper's sections as folds: each is left out once and asked for (K-fold cross-validation, appendix B of the AcademicEval paper).

The body of a writing row prints its sections one below the other, headings first, an empty line between two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lm_eval_tasks.base.row_format import FOLD

if TYPE_CHECKING:
    from lm_eval_tasks.families.writing.row import WritingRow

# Words that a fold must have to be asked for, as targets of the other tasks.
_FEWEST_WORDS = 50
_NUMBER = re.compile(r"(?P<top>\d{1,2}|[IVX]{1,5}|[A-Z])(?P<below>(?:\.\d{1,2})*)[.)]?\s+\S")


@dataclass(frozen=True, slots=True)
class Fold:
    """A section with its subsections.

    Attributes:
        heading: as printed, number included.
        text: without the section's own heading, with those of its subsections.
        printed: as the body prints it.
    """

    heading: str
    text: str
    printed: str


def folds_of(content: str) -> list[Fold]:
    """The sections of a body, in order."""
    groups: list[list[str]] = []
    for part in content.split("\n\n"):
        if groups and _is_below(part, groups[-1][0]):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [_fold(parts) for parts in groups]


def by_fold(rows: Iterable[WritingRow]) -> Iterator[WritingRow]:
    """A row for each section of each paper that can be asked for: the section as target, the rest of the body as content."""
    for row in rows:
        folds = folds_of(row.content)
        for i, fold in enumerate(folds):
            rest = "\n\n".join(other.printed for k, other in enumerate(folds) if k != i)
            if rest and fold.heading and len(fold.text.split()) >= _FEWEST_WORDS:
                yield replace(row, id=f"{row.id}{FOLD}{i + 1}", content=rest, heading=fold.heading, target=fold.text)


def _fold(parts: list[str]) -> Fold:
    heading, _, text = parts[0].partition("\n")
    return Fold(heading, "\n\n".join(filter(None, [text, *parts[1:]])), "\n\n".join(parts))


def _is_below(part: str, section: str) -> bool:
    """Whether a part is a subsection of a section: 3.1 of 3, and A of II."""
    number, above = _NUMBER.match(part), _NUMBER.match(section)
    if number is None or above is None:
        return False
    if number["below"]:
        return number["top"] == above["top"]
    return number["top"].isalpha() and _is_roman(above["top"]) and not _is_roman(number["top"])


def _is_roman(number: str) -> bool:
    return re.fullmatch(r"[IVX]+", number) is not None
