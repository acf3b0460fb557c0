"""One entry of an answer: the labels that it names, with what may stand around them; and the JSON in which entries stand."""

import json
import re
from collections.abc import Iterator
from typing import Any

from lm_eval_tasks.base.text import parse_json

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


# Keys of what an object says beside its reasons, the surer first.
_OF_ANSWER = (
    re.compile(r"(?:(?:the|my|final)[\s_-]*)?(?:answers?|final)", re.IGNORECASE),
    re.compile(r"(?:(?:the|my|final)[\s_-]*)?(?:results?|output)", re.IGNORECASE),
)


def json_of(stretch: str) -> Any:
    """Parse a stretch of an answer; None if it is no JSON."""
    try:
        return parse_json(stretch, unique=True)
    except ValueError:
        return None


def written_alike(stretch: str) -> str:
    """Write JSON as all JSON of the same content: in one line, its answer alone, without brackets in its texts; others as they are."""
    content = json_of(stretch)
    # Where labels are the keys, they are the answer.
    if isinstance(content, dict) and not any(map(WORDED.match, content)):
        called = (_called(content, key) for key in _OF_ANSWER)
        content = next((own for own in called if own is not None), content)
    try:
        return stretch if content is None else json.dumps(_without_brackets(content), ensure_ascii=False)
    except RecursionError:
        return stretch


def _called(content: dict[str, Any], key: re.Pattern[str]) -> Any:
    """Return the object or list that goes by a key, if one alone does, empty only if nothing else says more; None otherwise."""
    said = [value for name, value in content.items() if key.fullmatch(name)]
    if len(said) != 1:
        return None
    # A list may be written as a text.
    own = json_of(said[0]) if isinstance(said[0], str) else said[0]
    is_own = isinstance(own, dict | list) and (
        own or not any(isinstance(value, dict) for value in content.values() if value)
    )
    return own if is_own else None


def _without_brackets(content: Any) -> Any:
    if isinstance(content, dict):
        return {BRACKET.sub(" ", key): _without_brackets(value) for key, value in content.items()}
    if isinstance(content, list):
        return [_without_brackets(value) for value in content]
    return BRACKET.sub(" ", content) if isinstance(content, str) else content


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
