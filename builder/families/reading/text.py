"""A paper's whole text, as contexts show it: title, abstract, sections and reference list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from builder.extract.sections import parts

if TYPE_CHECKING:
    from builder.records import Document, Paper


@dataclass(frozen=True, slots=True)
class ShownText:
    """A paper's whole text.

    Attributes:
        sections: index of a section of the document -> the character at which its text begins; acknowledgements and
            appendices are not shown.
        references: the character at which the reference list begins, its heading included.
    """

    text: str
    sections: dict[int, int]
    references: int


def shown_text(paper: Paper, document: Document) -> ShownText:
    """The text of a paper: headings after `##` and `###`, one paragraph a line, one reference a line."""
    written: list[str] = []
    sections: dict[int, int] = {}
    length = 0
    for section, text in _blocks(paper, document):
        written.append(text)
        length += len(text)
        if section is not None:
            sections[section] = length - len(document.sections[section].text) - len(_GAP)
    entries = "\n".join(entry.raw for entry in document.references)
    return ShownText("".join(written) + f"## References\n{entries}\n", sections, length)


_GAP = "\n\n"


def abstract_text(paper: Paper) -> str:
    """Title and abstract of a paper, as they begin its whole text."""
    return f"# {paper.title}{_GAP}## Abstract\n{paper.abstract}{_GAP}"


def _blocks(paper: Paper, document: Document) -> Iterator[tuple[int | None, str]]:
    """The blocks before the reference list, each with the section that ends it."""
    yield None, abstract_text(paper)
    for part in parts(document):
        for i in part.sections:
            mark = "##" if i == part.sections[0] else "###"
            section = document.sections[i]
            yield i, f"{mark} {section.heading}\n{section.text}{_GAP}"
