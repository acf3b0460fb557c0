"""A row of SCALAR's levels as a typed record, and its prompt, as published, in slots (SCALAR paper, section 2.2 and figure 3)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lm_eval_tasks import prompts
from lm_eval_tasks.base.contract import BODY, MASK
from lm_eval_tasks.base.text import day
from lm_eval_tasks.base.typed import Count
from lm_eval_tasks.prompts import AFTER, BEFORE, Slot


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


def slots_of(row: ScalarRow) -> list[Slot]:
    """The prompt of a row, as slots whose texts in a row are the prompt."""
    head, middle, tail = re.split(r"\{PAPER\}|\{CANDIDATES\}", prompts.words("scalar"))
    before, _, after = row.question.partition(MASK)
    title, line, before = before.partition("\n")
    paper = [Slot(title + line), Slot(before, "around", 0, BEFORE), Slot(MASK), Slot(after, "around", 0, AFTER)]
    candidates = [
        slot for i, candidate in enumerate(row.candidates) for slot in _candidate(candidate, i, row.candidate_text)
    ]
    return [Slot(head), *paper, Slot(middle), *candidates, Slot(tail)]


def _candidate(candidate: ShownCandidate, index: int, candidate_text: str) -> Iterator[Slot]:
    head, tail = prompts.words("scalar_candidate").replace("{INDEX}", str(index)).split("{CANDIDATE}")
    text = candidate.content
    # Published bodies begin after an empty line; one that is empty has none.
    yield Slot(head + ("\n" * bool(text) if candidate_text == BODY else f"{candidate.title}\n\n"), index=index)
    content = _between(text, "<Content>\n", "\n</Content>", ends_last=True)
    abstract = _between(
        text[: content.start] if content else text, "<Abstract>Abstract: ", "</Abstract>", ends_last=False
    )
    position = 0
    parts: tuple[tuple[slice | None, prompts.Part], ...] = ((abstract, "candidate_abstract"), (content, "candidate"))
    for place, part in parts:
        if place is not None:
            yield Slot(text[position : place.start], index=index)
            yield Slot(text[place], part, index, "abstract" if part == "candidate_abstract" else "content")
            position = place.stop
    yield Slot(text[position:] + tail, index=index)


def _between(text: str, opening: str, closing: str, *, ends_last: bool) -> slice | None:
    """The text after the first opening mark that has a closing one, up to its first or the last closing mark."""
    before = text.find(opening)
    start = before + len(opening)
    end = text.rfind(closing, start) if ends_last else text.find(closing, start)
    return slice(start, end) if before >= 0 and end >= 0 else None
