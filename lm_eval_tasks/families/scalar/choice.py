"""The candidate that an answer to a SCALAR question names."""

import re
from collections.abc import Iterator, Sequence

from lm_eval_tasks.families.label_entries import BRACKET, one_label
from lm_eval_tasks.families.labels import plain

_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_ANSWER = re.compile(r"(?:.*\b)?(?:answer|index|reference|candidate|choice)(?:\s+is)?\s*:?\s+(.*)", re.IGNORECASE)
_CALLED = re.compile(r"answer|index|choice", re.IGNORECASE)
# What leads to a tag that is not the answer.
_NEAR = 60
_ASIDE = re.compile(r"\b(?:reject|discard|exclud)\w*[^\n]*$", re.IGNORECASE)
# Lines without a tag that decide nothing, and what a line names; one that begins with a candidate may be an item of a listing.
_UNDECIDED = re.compile(r"\b(?:not|no|nor|or|cannot|neither|either|both|than)\b|n['’]t\b", re.IGNORECASE)
_CANDIDATE = re.compile(r"\bcandidates?\W{0,4}(\d{1,6})\b", re.IGNORECASE)
_ITEM = re.compile(r"\W*(?:candidate\W{0,4})?(\d{1,6})\b", re.IGNORECASE)
# "2, because ...", "2 BERT": an index, and what is said of it.
_EXPLAINED = re.compile(
    r"[^\w-]*(?i:(?:(?:it|(?:the )?(?:correct |right |best |best-suited |most suitable )?(?:answer|index|reference|candidate))"
    r"(?: of \w+)?(?: is)?)\W+(?:candidate\W+)?)?(\d{1,6})(?:\s*[.,;:!]?\s*$|,?\s*(?:because|since|as)\b.*|\s+[A-Z].*)",
    re.DOTALL,
)


def answer_of(text: str, candidates: int) -> int | None:
    """Find the last index in <answer>..</answer>, or without a tag that at the answer's end or beginning; None if it names no candidate."""
    text = plain(text)
    within = list(_tagged(text)) or _untagged([line.strip() for line in text.split("\n") if line.strip(" {}[]\t\r")])
    numbers = (_index(BRACKET.sub(" ", content)) for content in reversed(within))
    index = next((number for number in numbers if number is not None), None)
    return index if index is not None and index < candidates else None


def _untagged(lines: Sequence[str]) -> list[str]:
    """Find what an answer without a tag says in its first and last line, the likelier behind: what is called the answer, else a candidate,
    if no other line begins with another.
    """
    called: list[str] = []
    other: list[str] = []
    for line in [*lines[:1], *lines[-1:]]:
        if _UNDECIDED.search(line) or len(set(_CANDIDATE.findall(line))) > 1:
            continue
        match = _ANSWER.fullmatch(line)
        if match and _CALLED.search(line[: match.start(1)]):
            called.append(match[1])
        else:
            other.append(match[1] if match else line)
    items = {item[1] for item in map(_ITEM.match, lines) if item}
    return [*other, *called] if len(items) < 2 else called


def _index(text: str) -> int | None:
    explained = _EXPLAINED.fullmatch(text)
    return int(explained[1]) if explained else one_label(text)


def _tagged(text: str) -> Iterator[str]:
    """Find what is between each opening mark and the next mark or, if the last was not closed, the end of its line."""
    begins: int | None = None
    for mark in _TAG.finditer(text):
        if begins is not None and not _ASIDE.search(text[max(0, begins - _NEAR) : begins]):
            yield text[begins : mark.start()]
        elif mark[1] and mark.start() and not _TAG.search(text, 0, mark.start()):
            # The prompt ended with the opening mark.
            yield text[: mark.start()].strip().rpartition("\n")[2]
        begins = None if mark[1] else mark.end()
    if begins is not None:
        yield text[begins:].strip().partition("\n")[0]
