"""What the tasks show of a document and what they ask for.

The main body runs from the introduction up to the references; each task leaves its own section out of it
(section 3.2 of the AcademicEval paper).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from builder.extract.sections import OUTSIDE, role_span

if TYPE_CHECKING:
    from builder.records import Document, Paper, Role, Task

# Title: nothing is cut; abstract: the conclusion repeats it; the others: the section that is asked for.
_OWN: dict[Task, Role | None] = {"title": None, "abs": "conclusion", "intro": "introduction", "related": "related_work"}

# What a page has beside its text: notes on authors, captions, key words, addresses, rights.
_DEBRIS = re.compile(
    r"[*∗†‡§¶]\s?(?:corresponding author|equal contribution|equally contribut)|\b(?:these|both) authors contributed equally\b"
    r"|\bcorresponding authors?[.:]|\bdepth=\d+\s+depth=\d|(?:^|[.!?] )(?-i:Figure|Fig\.|Table) \d+[:.] (?-i:[A-Z(])"
    r"|^\W{0,2}(?:key ?words?(?: and phrases)?\s?[:—–]|index terms\s?[:—–-]|ccs concepts\b|permission to make digital"
    r"|copyright (?:©|\(c\)|\d))"
    r"|^\W{0,2}©|^\S+@\S+\.\w+$",
    re.IGNORECASE | re.MULTILINE,
)


def has_debris(text: str) -> bool:
    """Whether a text that a task would ask for has something in it that is no text of its section."""
    return _DEBRIS.search(text) is not None


def content_parts(document: Document, task: Task) -> list[str]:
    """The sections of the main body for a task, each with its heading; an empty line stands between two."""
    role = _OWN[task]
    left_out = role_span(document, role) if role else frozenset()
    # The introduction, or the first section if there is none.
    start = next((i for i, section in enumerate(document.sections) if section.role == "introduction"), 0)
    return [
        f"{section.heading}\n{section.text}".strip()
        for i, section in enumerate(document.sections)
        if i >= start and i not in left_out and section.role not in OUTSIDE
    ]


def target(paper: Paper, document: Document, task: Task) -> str:
    """The text that the task asks for, "" if the paper has none."""
    match task:
        case "title":
            return paper.title
        case "abs":
            return paper.abstract
        case "intro":
            return _section_text(document, "introduction")
        case "related":
            return _section_text(document, "related_work")


def _section_text(document: Document, role: Role) -> str:
    """The text of a role's sections, headings of subsections kept, those of the sections themselves not."""
    span = role_span(document, role)
    parts: list[str] = []
    for i in sorted(span):
        section = document.sections[i]
        parts.append(section.text if section.role == role else f"{section.heading}\n{section.text}")
    return "\n\n".join(part.strip() for part in parts if part.strip())
