"""Parts that are paragraphs with a run-in heading: related work in the introduction, acknowledgements after the conclusion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from builder.extract.headings import Heading, in_order, roles_of
from builder.extract.roles import role_of, split_number
from builder.extract.text import clean

if TYPE_CHECKING:
    from builder.extract.lines import Line

_LEVEL = 4
_MAX_CHARS = 80
_MIN_WORDS = 60
_BODY = ("introduction", "related_work", "body", "conclusion")
_STOP = re.compile(r"[.:–—-]$")
_THANKS = re.compile(r"Acknowledge?ments?(?:[.:–—-]|\b(?=\s+[A-Z]))")


def with_run_ins(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the run-in headings that the sections contain."""
    return _with_thanks(_with_related_work(headings, lines), lines)


def _with_thanks(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the acknowledgements that end the last section before the references."""
    roles = roles_of(headings)
    end = headings[roles.index("references")].first if "references" in roles else len(lines)
    last = max(
        (h.last for h, role in zip(headings, roles, strict=True) if h.first < end and role in _BODY), default=None
    )
    if last is None or "acknowledgements" in roles:
        return list(headings)
    for i in range(last + 1, end):
        match = _THANKS.match(lines[i].text)
        if match and (lines[i].start or lines[i].lead or match.group()[-1] in ".:"):
            return in_order([*headings, Heading(i, i - 1, "", "Acknowledgements", _LEVEL, match.end())])
    return list(headings)


def _with_related_work(headings: Sequence[Heading], lines: Sequence[Line]) -> list[Heading]:
    """Add the run-in heading of a related-work paragraph, and the one that ends it, if no section has that role.

    Only the introduction is searched: elsewhere such paragraphs mostly say where related work is discussed.
    """
    roles = roles_of(headings)
    if "related_work" in roles or "introduction" not in roles:
        return list(headings)
    at = roles.index("introduction")
    end = headings[at + 1].first if at + 1 < len(headings) else len(lines)
    run_ins = [run_in for i in range(headings[at].last + 1, end) if (run_in := _run_in(lines[i], i)) is not None]
    for k, run_in in enumerate(run_ins):
        stop = run_ins[k + 1].first if k + 1 < len(run_ins) else end
        words = sum(len(line.text.split()) for line in lines[run_in.first : stop])
        if role_of(run_in.words) == "related_work" and words >= _MIN_WORDS:
            return in_order([*headings, *run_ins[k : k + 2]])
    return list(headings)


def _run_in(line: Line, index: int) -> Heading | None:
    """The run-in heading that a line begins with, if it does."""
    if not line.start or not 0 < line.lead < _MAX_CHARS:
        return None
    text = clean(line.text[: line.lead])
    number, words = split_number(text)
    if not _STOP.search(words) or not words[:1].isupper():
        return None
    return Heading(index, index - 1, number, words.rstrip(" .:–—-"), _LEVEL, line.lead)


def without_lead(heading: Heading, block: Sequence[Line]) -> Sequence[Line]:
    """The lines below a heading, its own words taken off the line that it shares."""
    if not heading.lead or not block:
        return block
    return [replace(block[0], text=block[0].text[heading.lead :].lstrip(" .:–—-"), lead=0), *block[1:]]
