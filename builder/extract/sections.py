"""The top-level sections of a document, and which sections play a role."""

from __future__ import annotations

from dataclasses import dataclass

from builder.records import Document, Role

# Sections that are not part of the main body.
OUTSIDE: frozenset[Role] = frozenset({"references", "appendix", "acknowledgements"})


def role_span(document: Document, role: Role) -> frozenset[int]:
    """Indices of the sections of a role, the subsections of each included."""
    span: set[int] = set()
    level: int | None = None
    for i, section in enumerate(document.sections):
        if level is not None and section.level <= level:
            level = None
        if level is None and section.role == role:
            level = section.level
        if level is not None and section.role not in OUTSIDE:
            span.add(i)
    return frozenset(span)


def cited_in_related_work(document: Document) -> list[int]:
    """Indices of the entries that the related-work section cites, in the order of their first mention."""
    span = role_span(document, "related_work")
    return list(
        dict.fromkeys(i for mention in document.mentions if mention.section in span for i in mention.references)
    )


@dataclass(frozen=True, slots=True)
class TopSection:
    """A top-level section: its heading, its role, and the indices of its sections, subsections included."""

    heading: str
    role: Role
    sections: tuple[int, ...]


def parts(document: Document) -> list[TopSection]:
    """The top-level sections of a paper, references, appendices and acknowledgements left out."""
    top_parts: list[TopSection] = []
    top = min((section.level for section in document.sections), default=1)
    outside = False
    for i, section in enumerate(document.sections):
        if section.level <= top or not (top_parts or outside):
            outside = section.role in OUTSIDE
            if not outside:
                top_parts.append(TopSection(section.heading, section.role, (i,)))
        elif not outside and section.role not in OUTSIDE:
            last = top_parts[-1]
            top_parts[-1] = TopSection(last.heading, last.role, (*last.sections, i))
    return top_parts
