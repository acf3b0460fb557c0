"""A judge's own report card: does it prefer a text to the same text with damage done to it?

Original and damaged text are shown in both orders. A judge that prefers the original in both has noticed; one that follows the order
comes out at 0.5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import JudgeError
from lm_eval_tasks.judge.ask import Question
from lm_eval_tasks.judge.evidence import passages_of
from lm_eval_tasks.judge.verdict import points_of
from lm_eval_tasks.study.eyesight import ReportCard
from lm_eval_tasks.study.report_card import changes, score_noticed

if TYPE_CHECKING:
    from lm_eval_tasks.core.journal import Journal
    from lm_eval_tasks.judge.ask import Judge
    from lm_eval_tasks.study.damages.registry import Kind
    from lm_eval_tasks.study.report_card import Original


@dataclass(frozen=True, slots=True)
class _Case:
    """One changed text: the kind of change, the place of its original, and the questions in both orders."""

    kind: Kind
    place: int
    questions: tuple[Question, Question]


def cases_of(originals: Sequence[Original], passages: int | None) -> list[_Case]:
    """Everything that a judge is asked.

    Args:
        passages: of the paper's body for each sentence; None for the published prompt.
    """
    return [
        _Case(kind, place, _questions(originals[place], kind, text, passages))
        for kind, places in changes(originals)
        for place, text in places
    ]


def _questions(original: Original, kind: Kind, changed: str, passages: int | None) -> tuple[Question, Question]:
    evidence = passages_of(original.row.content or "", (original.text, changed), passages) if passages else ""
    about = f"{original.task} {kind.name}"
    return (
        Question(about, original.row.id, 0, original.text, changed, evidence),
        Question(about, original.row.id, 1, changed, original.text, evidence),
    )


def measure(originals: Sequence[Original], cases: Sequence[_Case], judge: Judge, journal: Journal) -> ReportCard:
    """Ask a judge everything that its journal has no verdict for; its report card.

    Raises:
        JudgeError: it gave no verdict that could be read.
        ServerError: the server cannot be asked.
    """
    judge.ask_all((question for case in cases for question in case.questions), 2 * len(cases), journal, None)
    points = {
        (case.kind.name, case.place): value for case in cases if (value := _points(case, judge, journal)) is not None
    }
    if not points:
        raise JudgeError(f"{judge.model!r} gave no verdict that could be read; the same command asks again")
    return ReportCard.together(_cards(originals, cases, points, judge.model))


def _cards(
    originals: Sequence[Original], cases: Sequence[_Case], points: dict[tuple[str, int], float], name: str
) -> Iterator[ReportCard]:
    for kind in {case.kind.name: case.kind for case in cases}.values():
        kind_points = {place: value for (of, place), value in points.items() if of == kind.name}
        yield score_noticed(name, kind, kind_points, originals)


def _points(case: _Case, judge: Judge, journal: Journal) -> float | None:
    """How far the original is preferred, see `points_of`; None if a verdict could not be read."""
    outcomes = [judge.outcome(question, journal) for question in case.questions]
    return points_of([outcome.winners if outcome else None for outcome in outcomes])
