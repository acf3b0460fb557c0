"""How answers of Walk are scored: sets against sets."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from lm_eval_tasks.families.labels import set_of
from lm_eval_tasks.families.reading.metrics import Values, strict_set_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answers


def f1_of(answer: Collection[int], right: Collection[int]) -> float:
    """F1 of two sets; that of two empty ones is 1."""
    if not answer and not right:
        return 1.0
    return 2 * len(set(answer) & set(right)) / (len(set(answer)) + len(set(right)))


def _of_sets(
    answers: Answers,
    measure: Callable[[tuple[int, ...], tuple[int, ...]], float],
    read: Callable[[str], tuple[int, ...] | None] = set_of,
) -> Values:
    """A measure of each answer's set against the right one; 0 for an answer that cannot be read."""
    sets = [read(answer.reply) for answer in answers.each]
    return [
        0.0 if named is None else measure(named, answer.row.answer or ())
        for named, answer in zip(sets, answers.each, strict=True)
    ]


def _equal(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    return float(set(first) == set(second))


def exact(answers: Answers) -> Values:
    """Share of answers that name exactly the right papers."""
    return _of_sets(answers, _equal)


def exact_strict(answers: Answers) -> Values:
    """Only JSON at the very end of an answer counts."""
    return _of_sets(answers, _equal, strict_set_of)


def set_f1(answers: Answers) -> Values:
    """F1 of the papers named."""
    return _of_sets(answers, f1_of)


def exact_blind(answers: Answers) -> Values:
    """Floor: the empty set, the only constant that is ever right."""
    return [float(not row.answer) for row in answers.rows]


def set_f1_blind(answers: Answers) -> Values:
    """Floor: the better constant, no paper or all of them."""
    constants = (range(1, (row.papers or 0) + 1 if row.best_constant else 1) for row in answers.rows)
    return [f1_of(constant, row.answer or ()) for constant, row in zip(constants, answers.rows, strict=True)]


def exact_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [None if row.shortcut is None else _equal(row.shortcut, row.answer or ()) for row in answers.rows]


def set_f1_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [None if row.shortcut is None else f1_of(row.shortcut, row.answer or ()) for row in answers.rows]
