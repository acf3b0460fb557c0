"""How answers that give each label another one are scored, and which answers name a label that there is not; labels as a prompt asks for
them, and read strictly: an answer ends with JSON. `families.labels` reads it leniently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.families.labels import list_of, pairs_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answers

Values = Sequence[float | None]
_STRICT = re.compile(r"(?:Paper|Passage|Work|Mask) ([1-9]\d{0,5})")
_FENCE = "```"
# An entry that names no label.
_UNREADABLE = "?"


def share_right_of(pairs: Mapping[int, int], asked: Sequence[int], right: Sequence[int]) -> float:
    """The share of asked labels to which the right one is given."""
    return sum(pairs.get(label) == answer for label, answer in zip(asked, right, strict=True)) / len(right)


def _of_pairs(answers: Answers, read: Callable[[str], dict[int, int] | None]) -> Values:
    return [
        share_right_of(read(answer.reply) or {}, answer.row.asked or (), answer.row.answer or ())
        if answer.row.answer
        else None
        for answer in answers.each
    ]


def share_right(answers: Answers) -> Values:
    """Share of the passages or masks that are answered right."""
    return _of_pairs(answers, pairs_of)


def share_right_strict(answers: Answers) -> Values:
    """Only JSON at the very end of an answer counts."""
    return _of_pairs(answers, strict_pairs_of)


def share_right_random(answers: Answers) -> Values:
    """Floor: naming any label that may be right."""
    return [row.chance for row in answers.rows]


def share_right_bm25(answers: Answers) -> Values:
    """Without reading: BM25 between what is shown."""
    return [
        None
        if row.shortcut is None or not row.answer
        else share_right_of(dict(zip(row.asked or (), row.shortcut, strict=False)), row.asked or (), row.answer)
        for row in answers.rows
    ]


def outside(answers: Answers) -> Values:
    """Share of answers that name a label that does not exist."""
    return _any_label(answers, lambda label, labels: label > labels)


def unreadable(answers: Answers) -> Values:
    """Share of answers with an entry that names no label. Each is a wrong entry."""
    return _any_label(answers, lambda label, _: label < 1)


def _any_label(answers: Answers, is_wrong: Callable[[int, int], bool]) -> Values:
    return [
        float(any(is_wrong(label, answer.row.labels or 0) for label in _labels(answer.reply, answer.row.asked)))
        for answer in answers.each
    ]


def _labels(reply: str, asked: Sequence[int] | None) -> Sequence[int]:
    return tuple((pairs_of(reply) or {}).values()) if asked else list_of(reply) or ()


def strict_set_of(text: str) -> tuple[int, ...] | None:
    """As `labels.set_of`, of an answer that ends with a JSON list of labels, each once."""
    content = _json_at_end(text, "[")
    numbers = _strict_numbers(content) if isinstance(content, list) else None
    return tuple(sorted(numbers)) if numbers is not None and len(set(numbers)) == len(numbers) else None


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
    """A list of labels as a prompt asks for it; `word` is what a label is called."""
    return json.dumps([_written(word, number) for number in numbers])


def write_pairs(pairs: Mapping[int, int], asked_word: str, word: str) -> str:
    """Pairs of labels as a prompt asks for them; the words are what is asked about, and what a label is called."""
    return json.dumps({_written(asked_word, first): _written(word, second) for first, second in pairs.items()})


def _written(word: str, number: int) -> str:
    return f"{word} {number}" if number > 0 else _UNREADABLE
