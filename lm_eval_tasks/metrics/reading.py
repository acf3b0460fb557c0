"""How answers to reading questions are scored: sets against sets, pairs against pairs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.metrics.answer_labels import (
    list_of,
    pairs_of,
    set_of,
    strict_pairs_of,
    strict_set_of,
)

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answer, Answers
    from lm_eval_tasks.samples.row import PromptRow

# Kinds of questions of the families that have one kind each.
FOLLOWING, MASKS = "following", "masks"
Values = Sequence[float | None]
Read = Callable[[str], tuple[int, ...] | None]


def f1_of(answer: Collection[int], right: Collection[int]) -> float:
    """F1 of two sets; that of two empty ones is 1."""
    if not answer and not right:
        return 1.0
    return 2 * len(set(answer) & set(right)) / (len(set(answer)) + len(set(right)))


def share_right_of(pairs: Mapping[int, int], asked: Sequence[int], right: Sequence[int]) -> float:
    """The share of asked labels to which the right one is given."""
    return sum(pairs.get(label) == answer for label, answer in zip(asked, right, strict=True)) / len(right)


def shortcut_score(row: Mapping[str, Any]) -> float:
    """What the shortcut of a row of a dataset scores by its family's headline metric."""
    answer, named = row["answer"], row["shortcut"]
    if row["kind"] in (FOLLOWING, MASKS):
        return share_right_of(dict(zip(row["asked"], named, strict=True)), row["asked"], answer)
    return float(set(named) == set(answer))


def chance_of(row: Mapping[str, Any]) -> float | None:
    """What guessing scores for a row of a dataset; None for Walk, where the best constant tells it."""
    labels = int(row["labels"])
    chances = {FOLLOWING: 1 / max(1, labels - 1), MASKS: 1 / labels}
    return chances.get(row["kind"])


def blind_score(row: Mapping[str, Any]) -> float:
    """As `shortcut_score`, of the best answer that does not depend on the context: no paper, or any of the labels."""
    guessed = chance_of(row)
    return float(not row["answer"]) if guessed is None else guessed


# --- sets


def _of_sets(
    answers: Answers, measure: Callable[[tuple[int, ...], tuple[int, ...]], float], read: Read = set_of
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
    return [f1_of(_constant(row), row.answer or ()) for row in answers.rows]


def _constant(row: PromptRow) -> range:
    return range(1, (row.papers or 0) + 1 if row.best_constant else 1)


def exact_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [None if row.shortcut is None else _equal(row.shortcut, row.answer or ()) for row in answers.rows]


def set_f1_title_search(answers: Answers) -> Values:
    """Without reading: a search for titles."""
    return [None if row.shortcut is None else f1_of(row.shortcut, row.answer or ()) for row in answers.rows]


# --- pairs


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


# --- all of them


def outside(answers: Answers) -> Values:
    """Share of answers that name a label that does not exist."""
    return [
        float(any(not 1 <= label <= (answer.row.labels or 0) for label in _named(answer))) for answer in answers.each
    ]


def _named(answer: Answer) -> Collection[int]:
    if answer.row.kind == "pairs":
        return (pairs_of(answer.reply) or {}).values()
    return list_of(answer.reply) or ()
