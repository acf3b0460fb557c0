"""How SCALAR shows a paper: the question's with a mask in it, and the candidates', as the published prompts do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from builder.extract.sections import TopSection, parts
from lm_eval_tasks.base.row_format import MASK

if TYPE_CHECKING:
    from builder.records import Document, Mention, Role
    from lm_eval_tasks.families.scalar import CandidateText, Scope

# Characters of any paper, the question's or a candidate's, where papers are cut.
MOST_CHARACTERS = 100_000
_NOT_BODY: frozenset[Role] = frozenset({"introduction", "conclusion"})


def question(
    document: Document,
    title: str,
    abstract: str,
    mention: Mention,
    part: TopSection,
    scope: Scope,
    all_parts: Sequence[TopSection],
    most: int | None = MOST_CHARACTERS,
) -> str | None:
    """What is inside <Paper>, with the citation masked; None if the mask lies beyond what is shown of a paper.

    Args:
        most: where it is cut, in characters; None for nowhere.
    """
    chosen = [part] if scope == "section" else all_parts
    section = document.sections[mention.section].text
    masked = f"{section[: mention.start]}{MASK}{section[mention.end :]}"
    text = "\n\n".join(_section_texts(document, chosen, {mention.section: masked}))
    paper_text = f"{title}\n\nAbstract: {abstract}\n\n\n{text}" if scope == "full" else f"\n{text}"
    cut = paper_text[:most]
    return cut if MASK in cut and paper_text.count(MASK) == 1 else None


def candidate(
    document: Document | None, abstract: str, kind: CandidateText, most: int | None = MOST_CHARACTERS
) -> str | None:
    """What follows a candidate's title, its text cut at `most` characters; None if the candidate lacks the text for it."""
    head = f"<Abstract>Abstract: {abstract}</Abstract>"
    if kind == "concise":
        return head if abstract else None
    if document is None:
        return None
    chosen = [part for part in parts(document) if kind == "full" or part.role not in _NOT_BODY]
    text = "\n\n".join(_section_texts(document, chosen, {}))[:most]
    if not text.strip() or (kind == "full" and not abstract):
        return None
    return f"{head}<Content>\n{text}\n</Content>" if kind == "full" else f"<Content>\n\n{text}\n\n</Content>"


def _section_texts(document: Document, chosen: Iterable[TopSection], instead: dict[int, str]) -> Iterator[str]:
    for part in chosen:
        for i in part.sections:
            section = document.sections[i]
            mark = "##" if i == part.sections[0] else "###"
            yield f"{mark} {section.heading}\n{instead.get(i, section.text)}".rstrip()
