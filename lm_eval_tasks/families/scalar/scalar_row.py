"""A row of SCALAR's levels as a typed record."""

from dataclasses import dataclass
from typing import ClassVar

from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A candidate; `content` is what follows its title, markup included."""

    id: str
    title: str
    license: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarRow:
    """One question: `question` is what is inside <Paper>, with the mask; `candidate_text` how much candidates show."""

    id: str
    paper_id: str
    title: str
    published: str
    license: str
    label: Count
    round: str
    level: str
    citation_type: str
    candidate_text: str
    section: str
    authors: tuple[str, ...]
    question: str
    candidates: tuple[ShownCandidate, ...]

    @property
    def first_author(self) -> str:
        """What the row shares with those that it depends on; the paper where it names no author."""
        return self.authors[0] if self.authors else self.paper_id

    @property
    def is_sound(self) -> bool:
        """Whether each candidate has a text, and none has another's."""
        return len({candidate.content.strip() for candidate in self.candidates} - {""}) == len(self.candidates)

    def __post_init__(self) -> None:
        day(self.published)
        if self.label >= len(self.candidates):
            raise ValueError(f"{self.id:.80} calls candidate {self.label} of {len(self.candidates)} right")
        if MASK not in self.question:
            raise ValueError(f"{self.id:.80} has no mask in its question")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalarOwn:
    """What the prompt of a SCALAR question says besides what all do.

    Attributes:
        best_constant: the label that is right most often.
        is_sound: whether each candidate has a text, and none has another's.
        bm25_local, name_local, embed_local: the candidates that the shortcuts name; None if they were not asked.
    """

    LONG: ClassVar[tuple[str, ...]] = ()
    level: str
    section: str
    citation_type: str
    label: Count
    candidate_ids: tuple[str, ...]
    best_constant: Count
    is_sound: bool
    bm25_local: Count | None = None
    name_local: Count | None = None
    embed_local: Count | None = None

    def __post_init__(self) -> None:
        if self.label >= len(self.candidate_ids):
            raise ValueError(f"it calls candidate {self.label} of {len(self.candidate_ids)} right")
