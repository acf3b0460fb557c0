"""From an answer to the title in it, without what surrounds it.

Section 4.2 of the AcademicEval paper refines the answers of Title Writing only.
"""

from __future__ import annotations

import re

_YES = r"(?:sure|certainly|of course|okay|ok|absolutely|yes)"
_HERE = r"(?:here(?:'s|’s| is| are)|below is|this is|i (?:would )?(?:suggest|propose)|the following is)"
_NAMES = r"(?:titles?|suggestions?)"
# "Sure! ..." and "Here is the title: ..." lead in; "Okay Google: ..." and "This Is Not a Dataset: ..." are titles.
_LEAD_IN = re.compile(
    rf"^[*_]*(?:{_YES}!\s*(?=$|[\"“*])|(?:{_YES}\b[,.:!]?\s*)?{_HERE}(?=[^:\n]{{0,80}}:)(?:[^:\n]*\b{_NAMES}\b[^:\n]*|\s*):[*_]*\s*)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[*_]*(?:(?:the|a|an|my|suggested|proposed|possible|generated|predicted|final|paper)\s+)*title\s*(?:is\s*)?[*_]*(?::|\s[-–—]\s)[*_]*\s*",
    re.IGNORECASE,
)
_AROUND = " \t" + "*_~`\"'“”‘’«»"
# A heading, a quotation, an item of a list; a line that begins or ends code.
_LINE_MARK = re.compile(r"(?:#{1,6}\s+|>\s+(?!\d)|[-*]\s+|```\w*$)")
# What surrounds a title is taken off in at most this many steps.
_STEPS = 20
_QUOTES = '"“‘«'
_PAIRS = {"*": "*", "_": "_", "~": "~", "`": "`'", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}


def title(text: str, target: str = "") -> str:
    """The title in an answer: without lead-in, label, markdown and quotes around it, and nothing after its line.

    Args:
        target: the paper's own title; what belongs to it is not taken off.
    """
    rest = text.strip()
    while True:
        line, _, below = rest.partition("\n")
        line_title = _unwrap_line(line, _casefold(target))
        if line_title or not below.strip():
            return line_title
        rest = below.strip()


def _unwrap_line(line: str, target: str) -> str:
    """One line without what surrounds a title; "" if nothing is left."""
    for _ in range(_STEPS):
        if target and _casefold(line) == target:
            break
        stripped = line.strip(_AROUND)
        if target and _casefold(stripped) == target:
            return stripped
        inner = _step(line)
        if inner == line:
            break
        line = inner
    return line


def _step(line: str) -> str:
    """A line without the outermost thing that surrounds a title."""
    line = line.strip()
    if match := _LINE_MARK.match(line):
        return line[match.end() :]
    inner = _unwrap(line)
    if inner is not None:
        return inner
    match = _LEAD_IN.match(line) or _LABEL.match(line)
    return line[match.end() :] if match else line


def _unwrap(line: str) -> str | None:
    """A line without the run of markdown signs, or the pair of quotes, that encloses it; None if nothing does."""
    if not line or line[-1] not in _PAIRS.get(line[0], ""):
        return None
    opening, closing = line[0], line[-1]
    inner = line.lstrip(opening).rstrip(closing)
    both = min(len(line) - len(line.lstrip(opening)), len(line) - len(line.rstrip(closing)))
    # "This" and "that": the first mark is closed before the line ends.
    mark = closing if opening in _QUOTES else closing * both
    second = line.find(mark, both, -both)
    if second > both and line[second - 1] not in " (":
        return None
    # If there are two pairs of quotes, the inner one may be the title's own.
    both = 1 if both == 2 and opening in _QUOTES else both
    return line[both : len(line) - both] if inner else ""


def _casefold(text: str) -> str:
    return " ".join(text.casefold().split())
