"""One entry of an answer: the labels that it names, with what may stand around them."""

import re
from collections.abc import Iterator

_NUMBER = r"(?:(?:no|nr|number)\b[.\s]{0,3})?"
WORDED = re.compile(rf"\b(?:papers?|passages?|works?|masks?|P)[\s_#:]{{0,3}}{_NUMBER}\d", re.IGNORECASE)
_LABEL = re.compile(
    r"[\s\"'(\[#]*(?:(papers?|passages?|works?|masks?|candidates?|index|answer|reference|option|choice|P)[\s_#:\"]{0,4}"
    rf"{_NUMBER}\[?)?{_NUMBER}"
    r"(\d{1,6})(?!\w|[.,–-]\d)([\s\"')\]]*)",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:and|&|\+)\s+|,\s*(?=\d)", re.IGNORECASE)
# Verbs and verdicts: a sentence about a label is no entry.
_SAID = re.compile(
    r"\s+(?:does|do|did|is|are|was|has|have|cites?|might|may|could|should|would|will|can|mentions|discusses|refers|not)\b"
)
_LAST_LABEL = re.compile(r".*\((?:paper|passage|work) (\d{1,6})\)[\s\"'.]*", re.IGNORECASE)
# What may follow a label: its title, but no choice and no range.
_TITLE, _CHOICE = re.compile(r"\(|[:.–—-](?:\s|$)"), re.compile(r"\W*(?:or|to|through|vs)\b", re.IGNORECASE)
BRACKET = re.compile(r"[\[\]{}]")
# A comma within quotes or round brackets separates nothing.
ENTRIES = re.compile(r'(?:"[^"]*"|\([^()\n]*\)|[^,;\n"(]+|["(])+')
_BULLET = re.compile(r"^(?:[-•]|and|&)\s+", re.IGNORECASE)


def entries(text: str) -> Iterator[str]:
    """Split what commas, semicolons and lines separate, outside of quotes and without brackets."""
    stripped = (_BULLET.sub("", entry.strip(" \t\r")) for entry in ENTRIES.findall(BRACKET.sub(" ", text)))
    return filter(None, stripped)


def one_label(text: str) -> int | None:
    """Read the label of an entry that names one; None for others."""
    numbers = labels_in(text.strip().rstrip(". "))
    return numbers[0] if numbers and len(numbers) == 1 else None


def labels_in(text: str) -> list[int] | None:
    """Read the labels that an entry names, with a title behind the last one perhaps; None if it names none, or a choice."""
    last = _LAST_LABEL.fullmatch(text)
    if last:
        return [int(last[1])]
    numbers: list[int] = []
    at = 0
    match = _LABEL.match(text)
    while match:
        numbers.append(int(match[2]))
        at = match.end()
        rest = text[at:]
        if not rest:
            return numbers
        joined = _AND.match(rest)
        if joined:
            at += joined.end()
        elif not WORDED.match(rest):
            return numbers if _is_title(match, rest) else None
        match = _LABEL.match(text, at)
    return None


def _is_title(label: re.Match[str], rest: str) -> bool:
    """Tell whether what follows a label is its title, not a choice, a range or a sentence about it."""
    if not (_TITLE.match(rest) or label[1] or label[3].strip()):
        return False
    is_said = _SAID.match(rest) or _SAID.match(label[3] + rest)
    return not (_CHOICE.match(rest) or is_said or rest[0] in "/?" or WORDED.search(rest))
