"""The labels that an answer to a reading question names, strictly: it ends with JSON as the prompt asks for it. `families.labels` reads it
leniently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

_STRICT = re.compile(r"(?:Paper|Passage|Work|Mask) ([1-9]\d{0,5})")
_FENCE = "```"
# An entry that names no label.
_UNREADABLE = "?"


def strict_set_of(text: str) -> tuple[int, ...] | None:
    """As `labels.set_of`, of an answer that ends with a JSON list of labels, each once."""
    numbers = strict_list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def strict_list_of(text: str) -> tuple[int, ...] | None:
    """As `strict_set_of`, in the order of the answer."""
    content = _json_at_end(text, "[")
    numbers = _strict_numbers(content) if isinstance(content, list) else None
    return tuple(numbers) if numbers is not None and len(set(numbers)) == len(numbers) else None


def strict_pairs_of(text: str) -> dict[int, int] | None:
    """As `labels.pairs_of`, of an answer that ends with a JSON object from labels to labels."""
    content = _json_at_end(text, "{")
    if not isinstance(content, dict):
        return None
    keys, values = _strict_numbers(list(content)), _strict_numbers(list(content.values()))
    return None if keys is None or values is None else dict(zip(keys, values, strict=True))


def _json_at_end(text: str, opening: str) -> object:
    """What the JSON at the end of a text says, which may stand in a fence; None if there is none."""
    text = text.rstrip().removesuffix(_FENCE).rstrip()
    begins = text.rfind(opening)
    try:
        return json.loads(text[begins:]) if begins >= 0 else None
    except (ValueError, RecursionError):
        return None


def _strict_numbers(labels: Sequence[object]) -> list[int] | None:
    matches = [_STRICT.fullmatch(name) if isinstance(name, str) else None for name in labels]
    return None if None in matches else [int(match[1]) for match in matches if match]


def write_list(numbers: Sequence[int], word: str) -> str:
    """A list of labels as a prompt asks for it.

    Args:
        word: what a label is called.
    """
    return json.dumps([_written(word, number) for number in numbers])


def write_pairs(pairs: Mapping[int, int], asked_word: str, word: str) -> str:
    """Pairs of labels as a prompt asks for them.

    Args:
        asked_word, word: what is asked about, and what a label is called.
    """
    return json.dumps({_written(asked_word, first): _written(word, second) for first, second in pairs.items()})


def _written(word: str, number: int) -> str:
    return f"{word} {number}" if number > 0 else _UNREADABLE
