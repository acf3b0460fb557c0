"""The labels that an answer to a reading question names: a JSON list for sets, a JSON object for pairs.

What stands last in an answer counts. Leniently, labels may lack quotes or be numbers alone; strictly, the answer ends with JSON as the
prompt asks for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_LISTS = re.compile(r"\[([^\[\]{}]*)\]")
_OBJECTS = re.compile(r"\{([^{}]*)\}")
_WORDED = re.compile(r"\b(?:paper|passage|work|mask|P\d)", re.IGNORECASE)
_LABEL = r"[\"'`*\[“”]{0,3}\s?(?:(?:paper|passage|work|mask)s?\s{0,2}#?|P)?(\d{1,6})[\"'`*\]“”]{0,3}"
_ITEM = re.compile(rf"\s*{_LABEL}\s*", re.IGNORECASE)
_PAIR = re.compile(rf"\s*{_LABEL}\s*(?::|->|→|=)\s*{_LABEL}\s*", re.IGNORECASE)
# A label that is given none.
_OPEN = re.compile(r"(?::|->|→|=)\s*(?:null|none|\"\")\s*$", re.IGNORECASE)
_STRICT = re.compile(r"(?:Paper|Passage|Work|Mask) ([1-9]\d{0,5})")
_FENCE = "```"


def set_of(text: str) -> tuple[int, ...] | None:
    """The labels of the last list in an answer, rising; None if there is none that can be read."""
    numbers = list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def list_of(text: str) -> tuple[int, ...] | None:
    """As `set_of`, in the order of the answer."""
    if _without_fence(text).endswith("[]"):
        return ()
    numbers = _last(text, _LISTS, _items)
    return None if numbers is None else tuple(dict.fromkeys(numbers))


def _last(text: str, pattern: re.Pattern[str], read: Callable[[str], _T | None]) -> _T | None:
    """The last stretch of a pattern that can be read. One with words counts more than numbers alone, which may be citations."""
    readable = [(match[1], content) for match in pattern.finditer(text) if (content := read(match[1])) is not None]
    worded = [content for stretch, content in readable if _WORDED.search(stretch)]
    return worded[-1] if worded else next((content for _, content in reversed(readable)), None)


def _items(text: str) -> list[int] | None:
    if not text.strip():
        return []
    matches = [_ITEM.fullmatch(item) for item in re.split("[,;]", text.strip().rstrip(","))]
    return None if None in matches else [int(match[1]) for match in matches if match]


def pairs_of(text: str) -> dict[int, int] | None:
    """The pairs of the last object in an answer; None if there is none that can be read. Of a label's pairs the last one counts."""
    return _last(text, _OBJECTS, _pairs)


def _pairs(text: str) -> dict[int, int] | None:
    matches = [_PAIR.fullmatch(item) for item in re.split("[,;\n]", text) if item.strip() and not _OPEN.search(item)]
    if not matches or None in matches:
        return None
    return {int(match[1]): int(match[2]) for match in matches if match}


def strict_set_of(text: str) -> tuple[int, ...] | None:
    """As `set_of`, of an answer that ends with a JSON list of labels, each once."""
    numbers = strict_list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def strict_list_of(text: str) -> tuple[int, ...] | None:
    """As `strict_set_of`, in the order of the answer."""
    content = _json_at_end(text, "[")
    numbers = _strict_numbers(content) if isinstance(content, list) else None
    return tuple(numbers) if numbers is not None and len(set(numbers)) == len(numbers) else None


def strict_pairs_of(text: str) -> dict[int, int] | None:
    """As `pairs_of`, of an answer that ends with a JSON object from labels to labels."""
    content = _json_at_end(text, "{")
    if not isinstance(content, dict):
        return None
    keys, values = _strict_numbers(list(content)), _strict_numbers(list(content.values()))
    return None if keys is None or values is None else dict(zip(keys, values, strict=True))


def _json_at_end(text: str, opening: str) -> object:
    """What the JSON at the end of a text says, which may stand in a fence; None if there is none."""
    text = _without_fence(text)
    begins = text.rfind(opening)
    try:
        return json.loads(text[begins:]) if begins >= 0 else None
    except (ValueError, RecursionError):
        return None


def _without_fence(text: str) -> str:
    return text.rstrip().removesuffix(_FENCE).rstrip()


def _strict_numbers(labels: Sequence[object]) -> list[int] | None:
    matches = [_STRICT.fullmatch(name) if isinstance(name, str) else None for name in labels]
    return None if None in matches else [int(match[1]) for match in matches if match]


def write_list(numbers: Sequence[int], word: str) -> str:
    """A list of labels as a prompt asks for it.

    Args:
        word: what a label is called.
    """
    return json.dumps([f"{word} {number}" for number in numbers])


def write_pairs(pairs: Mapping[int, int], asked_word: str, word: str) -> str:
    """Pairs of labels as a prompt asks for them.

    Args:
        asked_word, word: what is asked about, and what a label is called.
    """
    return json.dumps({f"{asked_word} {first}": f"{word} {second}" for first, second in pairs.items()})
