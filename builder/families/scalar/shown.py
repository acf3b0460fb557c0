"""How SCALAR shows a paper, the question's with a mask in it, and the candidates', as the published prompts do; or why there is none."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from builder.extract.mentions import with_particles
from builder.extract.sections import OUTSIDE, TopSection, top_sections
from builder.records import Cited, Document, Mention, Paper, Role
from builder.sources.tokenizer import token_counter
from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.families.scalar import CandidateText, Level, Scope

# Characters of any paper, the question's or a candidate's, where papers are cut.
MOST_CHARACTERS = 100_000
# Where in the work the place is.
_LOCATOR = r"(?:[,;:]?\s*(?:pp?|ch(?:ap)?|sec|fig|eq|thm|app|tables?|sections?|chapters?|figures?|equations?)\b\.?\s*[\w.,–-]{1,12}\s*)?"
# Markdown has a stroke before brackets that are no links.
_ENDS = {closing: re.compile(rf"{_LOCATOR}\\?{re.escape(closing)}", re.IGNORECASE) for closing in ")]"}
_NOT_BODY: frozenset[Role] = frozenset({"introduction", "conclusion"})


def question(
    document: Document, title: str, abstract: str, mention: Mention, scope: Scope, most: int | None = MOST_CHARACTERS
) -> str | None:
    """Make what is inside <Paper>, with a citation masked.

    Args:
        most: where it is cut, in characters; None for nowhere.

    Returns:
        None if the mask lies in no section that is shown, or beyond the cut.
    """
    every = top_sections(document)
    chosen = [one for one in every if mention.section in one.sections] if scope == "section" else every
    section = document.sections[mention.section].text
    masked = f"{section[: mention.start]}{MASK}{section[mention.end :]}"
    text = "\n\n".join(_section_texts(document, chosen, {mention.section: masked}))
    paper_text = f"{title}\n\nAbstract: {abstract}\n\n\n{text}" if scope == "full" else f"\n{text}"
    cut = paper_text[:most]
    return cut if MASK in cut and paper_text.count(MASK) == 1 else None


def whole_mention(document: Document, mention: Mention) -> Mention:
    """Return a citation with the rest of a name that it begins within, and the bracket that it opens or closes: "Ek (2020" has another."""
    text, start, end = document.sections[mention.section].text, mention.start, mention.end
    while start and _is_of_name(text[start]) and _is_of_name(text[start - 1]):
        start -= 1
    start = with_particles(text, start)
    for opening, closing in ("()", "[]"):
        unclosed = text.count(opening, start, end) - text.count(closing, start, end)
        rest = _ENDS[closing].match(text, end) if unclosed > 0 else None
        if rest:
            end = rest.end()
        elif unclosed < 0 and start and text[start - 1] == opening:
            start -= 1
    return replace(mention, start=start, end=end)


def _is_of_name(character: str) -> bool:
    return character.isalnum() or character in "-’'"


def candidate(
    document: Document | None, abstract: str, shown: CandidateText, most: int | None = MOST_CHARACTERS
) -> str | None:
    """Return what follows a candidate's title, its text cut at `most` characters; None if the candidate lacks the text for it."""
    head = f"<Abstract>Abstract: {abstract}</Abstract>"
    if shown == "concise":
        return head if abstract else None
    if document is None:
        return None
    chosen = [section for section in top_sections(document) if shown == "full" or section.role not in _NOT_BODY]
    text = "\n\n".join(_section_texts(document, chosen, {}))[:most]
    if not text.strip() or (shown == "full" and not abstract):
        return None
    return f"{head}<Content>\n{text}\n</Content>" if shown == "full" else f"<Content>\n\n{text}\n\n</Content>"


def _section_texts(document: Document, chosen: Iterable[TopSection], instead: dict[int, str]) -> Iterator[str]:
    for top in chosen:
        for i in top.sections:
            section = document.sections[i]
            mark = "##" if i == top.sections[0] else "###"
            yield f"{mark} {section.heading}\n{instead.get(i, section.text)}".rstrip()


Lengths = Literal["cut", "published"]
# Why a cited work cannot be a candidate.
Unfit = Literal["gold_without_text", "gold_too_long"]
# Tokens of a candidate, as SCALAR's code limits them (src/tasks/cloze.py).
_MOST_TOKENS = 40_000


@dataclass(frozen=True, slots=True)
class Candidate:
    """One of the four papers of a question; `content` is what follows its title."""

    id: str
    title: str
    license: str
    content: str
    authors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClozeQuestion:
    """One row of a SCALAR configuration.

    Attributes:
        text: what is inside <Paper>.
        label: index of the right candidate.
    """

    id: str
    paper: Paper
    level: Level
    section: str
    text: str
    candidates: tuple[Candidate, ...]
    label: int


def candidate_of(cited: Cited | None, level: Level, lengths: Lengths) -> Candidate | Unfit:
    """Return the candidate that a cited paper is, by what is known of it; or why it is none."""
    if cited is None:
        return "gold_without_text"
    paper, document = cited.paper, cited.document
    if lengths == "published" and document and _is_too_long(document):
        return "gold_too_long"
    content = candidate(document, paper.abstract, level.candidates, cut_at(lengths))
    if not content:
        return "gold_without_text"
    return Candidate(paper.versioned_id, paper.title, paper.license, content, paper.authors)


def cut_at(lengths: Lengths) -> int | None:
    """Return where papers are cut, in characters; None for nowhere."""
    return MOST_CHARACTERS if lengths == "cut" else None


def _is_too_long(document: Document) -> bool:
    """Tell whether a candidate's sections have more tokens (bert-base-uncased) than SCALAR's code takes."""
    texts = [section.text for section in document.sections if section.role not in OUTSIDE]
    # A character is one token at most, or three if it is a syllable of Hangul.
    return 3 * sum(map(len, texts)) > _MOST_TOKENS and sum(token_counter()(texts)) > _MOST_TOKENS
