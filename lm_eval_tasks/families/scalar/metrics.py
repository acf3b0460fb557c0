"""The metrics of SCALAR, over all answers of a task at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_tasks.samples.answers import Answers

Values = Sequence[float | None]
# SCALAR's rule: within a line, lower case, and the word that the prompt shows in place of a number does not count.
_OPENING, _ENDING = "<answer>", "</answer>"
_WORD = re.compile(r"[Ii]ndex")


def accuracy(answers: Answers) -> Values:
    """Share of right choices: the last `<answer>..</answer>` in up to 2,000 tokens, also `[2]`, `Candidate 2`, or "Answer: 2"."""
    return [float(answer.text == str(answer.row.label)) for answer in answers.each]


def accuracy_strict(answers: Answers) -> Values:
    """As SCALAR's own code reads answers: the number alone."""
    return [float(_strict_answer_of(answer.full) == str(answer.row.label)) for answer in answers.each]


def _strict_answer_of(text: str) -> str:
    """What SCALAR's own code compares with the label (`evaluate_response` in src/evaluate/evaluate_cloze.py).

    Args:
        text: the whole answer, reasoning included.

    Returns:
        What the last tag holds, without the word "index" and without spaces at its ends; "" without a tag.
    """
    last = ""
    for line in text.split("\n"):
        end = 0
        while (start := line.find(_OPENING, end)) >= 0:
            start += len(_OPENING)
            closes = line.find(_ENDING, start)
            if closes < 0:
                break
            last, end = line[start:closes], closes + len(_ENDING)
    return _WORD.sub("", last).strip()


def accuracy_sound(answers: Answers) -> Values:
    """Accuracy over the questions in which each candidate has a text, and none has another's."""
    scores = accuracy(answers)
    return [score if row.is_sound else None for score, row in zip(scores, answers.rows, strict=True)]


def accuracy_constant(answers: Answers) -> Values:
    """Floor: the best constant answer."""
    return [float(row.label == row.best_constant) for row in answers.rows]


def accuracy_bm25_local(answers: Answers) -> Values:
    """Without reading: the candidate that fits the masked sentence best, by BM25."""
    return [_chosen(row.bm25_local, row.label) for row in answers.rows]


def accuracy_name_local(answers: Answers) -> Values:
    """Without reading: the candidate that the names right before the mask stand in, together with BM25."""
    return [_chosen(row.name_local, row.label) for row in answers.rows]


def accuracy_embed_local(answers: Answers) -> Values:
    """Without reading: the candidate that fits the masked sentence best, by a small model. On request."""
    return [_chosen(row.embed_local, row.label) for row in answers.rows]


def _chosen(choice: int | None, label: int | None) -> float | None:
    return None if choice is None else float(choice == label)


def accuracy_random(answers: Answers) -> Values:
    """Floor: guessing."""
    return [1 / len(row.candidate_ids) if row.candidate_ids else None for row in answers.rows]
