"""What SCALAR shows of a cited paper: a candidate, or why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from builder.extract.sections import OUTSIDE
from builder.families.scalar.render import MOST_CHARACTERS, candidate
from builder.samples.tokens import token_counter

if TYPE_CHECKING:
    from builder.records import Cited, Document
    from lm_eval_tasks.families.scalar import Level

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


class Candidates:
    """The candidates of one level, each made once.

    Args:
        known: id -> what is known of a cited paper.
    """

    def __init__(self, level: Level, known: Callable[[str], Cited | None], lengths: Lengths) -> None:
        self._level, self._known, self._lengths = level, known, lengths
        self._made: dict[str, Candidate | Unfit] = {}

    def __call__(self, id_: str) -> Candidate | Unfit:
        """The candidate that a cited paper is."""
        if id_ not in self._made:
            self._made[id_] = self._make(id_)
        return self._made[id_]

    def _make(self, id_: str) -> Candidate | Unfit:
        cited = self._known(id_)
        if cited is None:
            return "gold_without_text"
        if self._lengths == "published" and cited.document and _is_too_long(cited.document):
            return "gold_too_long"
        content = candidate(cited.document, cited.paper.abstract, self._level.candidates, cut_at(self._lengths))
        if not content:
            return "gold_without_text"
        paper = cited.paper
        return Candidate(paper.versioned_id, paper.title, paper.license, content, paper.authors)


def cut_at(lengths: Lengths) -> int | None:
    """Where papers are cut, in characters; None for nowhere."""
    return MOST_CHARACTERS if lengths == "cut" else None


def _is_too_long(document: Document) -> bool:
    """Whether a candidate's sections have more tokens (bert-base-uncased) than SCALAR's code takes."""
    texts = [section.text for section in document.sections if section.role not in OUTSIDE]
    # A character is one token at most, or three if it is a syllable of Hangul.
    return 3 * sum(map(len, texts)) > _MOST_TOKENS and sum(token_counter()(texts)) > _MOST_TOKENS
