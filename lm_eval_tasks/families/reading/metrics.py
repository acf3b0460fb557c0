"""How answers that give each label another one are scored, and which answers name a label that there is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.families.labels import list_of, pairs_of
from lm_eval_tasks.families.reading.answer_labels import strict_pairs_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answers

Values = Sequence[float | None]


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
    """The labels that an answer gives."""
    return tuple((pairs_of(reply) or {}).values()) if asked else list_of(reply) or ()
