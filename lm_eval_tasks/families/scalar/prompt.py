"""The prompt of a SCALAR question, as published, in slots (SCALAR paper, section 2.2 and figure 3)."""

import re
from collections.abc import Iterator

from lm_eval_tasks import prompts
from lm_eval_tasks.base.contract import BODY, MASK
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow, ShownCandidate
from lm_eval_tasks.prompts import AFTER, BEFORE, Slot


def slots_of(row: ScalarRow) -> list[Slot]:
    """Return the prompt of a row, as slots whose texts in a row are the prompt."""
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
    components: tuple[tuple[slice | None, prompts.Component, str], ...] = (
        (abstract, "candidate_abstract", "abstract"),
        (content, "candidate", "content"),
    )
    for within, component, field in components:
        if within is not None:
            yield Slot(text[position : within.start], index=index)
            yield Slot(text[within], component, index, field)
            position = within.stop
    yield Slot(text[position:] + tail, index=index)


def _between(text: str, opening: str, closing: str, *, ends_last: bool) -> slice | None:
    """Return the text after the first opening mark that has a closing one, up to its first or the last closing mark."""
    before = text.find(opening)
    start = before + len(opening)
    end = text.rfind(closing, start) if ends_last else text.find(closing, start)
    return slice(start, end) if before >= 0 and end >= 0 else None
