"""From what a model writes to what is scored: reasoning taken off, titles freed of what surrounds them.

Section 4.2 of the AcademicEval paper refines the answers of Title Writing only.
"""

from __future__ import annotations

import re
import string

_OPEN, _CLOSE = ("<think>", "<thinking>", "<reasoning>"), ("</think>", "</thinking>", "</reasoning>")
_YES = r"(?:sure|certainly|of course|okay|ok|absolutely|yes)"
_HERE = r"(?:here(?:'s| is| are)|below is|this is|i (?:would )?(?:suggest|propose)|the following is)"
# "Sure! ..." and "Sure, here is the title: ..." lead in; "Okay Google: ..." and "Here Is What Models Know" are titles.
_LEAD_IN = re.compile(rf"^(?:{_YES}!\s*|(?:{_YES}\b[,.:]?\s*)?{_HERE}\b[^:\n]{{0,80}}:\s*)", re.IGNORECASE)
_LABEL = re.compile(
    r"^(?:(?:the|a|an|my|suggested|proposed|possible|generated|predicted|final|paper)\s+)*title\s*(?:is\s*)?[:\-–—]\s*",
    re.IGNORECASE,
)
_MARKUP_BEFORE, _MARKUP_BEHIND = string.whitespace + "#>*_`~-", string.whitespace + "*_`~"
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "`": "`"}


def strip_reasoning(text: str) -> tuple[str, bool]:
    """Take the reasoning off an answer.

    Returns:
        The answer, and whether the reasoning was never finished; the answer is then empty.
    """
    ends = [text.rfind(mark) + len(mark) for mark in _CLOSE if mark in text]
    answer = text[max(ends) :] if ends else text
    if any(mark in answer for mark in _OPEN):
        return "", True
    return answer.strip(), False


def title(text: str) -> str:
    """The title in an answer: without lead-in, label, quotes and markdown, and nothing behind its line."""
    rest = text.strip()
    while True:
        line, _, below = rest.partition("\n")
        bare = _bare(line)
        if bare or not below.strip():
            return bare
        rest = below.strip()


def _bare(line: str) -> str:
    """One line without what surrounds a title; "" where nothing is left."""
    before = None
    while line != before:
        before = line
        line = line.lstrip(_MARKUP_BEFORE).rstrip(_MARKUP_BEHIND).strip()
        line = _LABEL.sub("", _LEAD_IN.sub("", line)).strip()
        if len(line) > 1 and _QUOTES.get(line[0]) == line[-1]:
            line = line[1:-1].strip()
    return line
