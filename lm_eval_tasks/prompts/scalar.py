"""The SCALAR prompt of a row, as published, in slots (SCALAR paper, section 2.2 and figure 3).

A row's `question` is what stands in <Paper>, a candidate's `content` what stands behind its title, markup included.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lm_eval_tasks.prompts import registry, templates
from lm_eval_tasks.prompts.templates import AFTER, BEFORE, Slot
from lm_eval_tasks.row_format import BODY, MASK

_ABSTRACT = re.compile(r"(?<=<Abstract>Abstract: ).*?(?=</Abstract>)", re.DOTALL)
_CONTENT = re.compile(r"(?<=<Content>\n).*(?=\n</Content>)", re.DOTALL)


def slots_of(row: Mapping[str, Any], with_paper: bool = True) -> list[Slot]:
    """The prompt of a row, as slots whose texts in a row are the prompt."""
    head, middle, tail = re.split(r"\{PAPER\}|\{CANDIDATES\}", templates.words(registry.SCALAR))
    before, _, after = row["question"].partition(MASK)
    title, line, before = before.partition("\n")
    paper = [
        Slot(title + line), Slot(before, "around", 0, BEFORE), Slot(MASK), Slot(after, "around", 0, AFTER)
    ]  # fmt: skip
    shown = [slot for i, one in enumerate(row["candidates"]) for slot in _candidate(one, i, row["candidate_text"])]
    return [Slot(head), *(paper if with_paper else [Slot(MASK)]), Slot(middle), *shown, Slot(tail)]


def _candidate(candidate: Mapping[str, Any], index: int, shown: str) -> Iterator[Slot]:
    head, tail = templates.words("scalar_candidate").replace("{INDEX}", str(index)).split("{CANDIDATE}")
    yield Slot(head + ("\n" if shown == BODY else f"{candidate['title']}\n\n"), index=index)
    text = candidate["content"]
    content = _CONTENT.search(text)
    abstract = _ABSTRACT.search(text, 0, content.start() if content else len(text))
    position = 0
    parts: tuple[tuple[Any, templates.Part], ...] = ((abstract, "candidate_abstract"), (content, "candidate"))
    for match, part in parts:
        if match is not None:
            yield Slot(text[position : match.start()], index=index)
            yield Slot(match.group(), part, index, "abstract" if part == "candidate_abstract" else "content")
            position = match.end()
    yield Slot(text[position:] + tail, index=index)
