"""SCALAR's levels: what is masked, who distracts, and how much is shown, as data (SCALAR paper, section 2.3, figure 2).

`LEVELS` are the benchmark's three; `ABLATIONS` are the other combinations of its tables 2 and 3 (section 4).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from builder.errors import RoundError
from builder.round.names import refuse_names

Scope = Literal["full", "section"]
CitationType = Literal["attributional", "descriptive"]
Distractors = Literal["random", "nearest"]
CandidateText = Literal["concise", "full", "body"]


@dataclass(frozen=True, slots=True)
class Level:
    """One SCALAR configuration of the dataset.

    Attributes:
        name: the configuration's name, e.g. "SCALAR-Easy".
        question: the paper around the mask, or the section alone.
        citation: which citations are masked.
        distractors: drawn from the paper's references, or from the four citations nearest to the mask.
        candidates: title and abstract; the full text; the text without title, abstract, introduction and conclusion.
    """

    name: str
    question: Scope = "full"
    citation: CitationType = "attributional"
    distractors: Distractors = "random"
    candidates: CandidateText = "full"
    task: Literal["cloze"] = "cloze"

    @property
    def short_name(self) -> str:
        """What rows call it: "easy" for "SCALAR-Easy"."""
        return self.name.removeprefix("SCALAR-").lower()


LEVELS: tuple[Level, ...] = (
    Level("SCALAR-Easy"),
    Level("SCALAR-Medium", citation="descriptive"),
    Level("SCALAR-Hard", citation="descriptive", distractors="nearest", candidates="body"),
)
ABLATIONS: tuple[Level, ...] = (
    Level("Cloze-Easy-Section-Concise", question="section", candidates="concise"),
    Level("Cloze-Easy-Full-Concise", candidates="concise"),
    Level("Cloze-Easy-Section-Full", question="section"),
    Level("Cloze-Attributional-Nearest", distractors="nearest"),
    Level("Cloze-Hard-Section-Concise", "section", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Full-Concise", "full", "descriptive", "nearest", "concise"),
    Level("Cloze-Hard-Section-Full", "section", "descriptive", "nearest", "full"),
    Level("Cloze-Hard-Full-Full", "full", "descriptive", "nearest", "full"),
)
BUILT_IN = LEVELS + ABLATIONS


def select(names: Iterable[str], own: Iterable[Level] = ()) -> tuple[Level, ...]:
    """The levels of these names, in the registry's order, and all of the round's own.

    Raises:
        RoundError: a name that is not a level, or one of the round's own levels that has the name of another.
    """
    wanted, own = set(names), tuple(own)
    known = [level.name for level in BUILT_IN]
    if unknown := sorted(wanted - set(known)):
        raise RoundError(f"unknown level {unknown[0]!r} in `scalar.levels`: choose among {', '.join(known)}")
    refuse_names([level.name for level in own], known, "level")
    return tuple(level for level in BUILT_IN if level.name in wanted) + own
