"""What a round says of the questions of a reading configuration: what programs score on them that do not read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from statistics import fmean
from typing import Any

from builder.parquet.schema import Row
from lm_eval_tasks.base.figures import Bounds, KindStatistics
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.reading_row import ReadingRow


@dataclass(frozen=True, slots=True)
class _Question:
    labels: int
    answers: tuple[int, ...]
    blind: float
    shortcut: float
    cluster: str
    body_masks: int

    def right_ones(self) -> int:
        return len(self.answers)

    def is_empty(self) -> bool:
        return not self.answers


@dataclass(slots=True)
class ReadingMeasure:
    """Counts the questions of each kind."""

    task: str
    kinds: dict[str, list[_Question]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: Row, first_author: str) -> None:
        """Take one row. Each order of a question has one, of which the first counts; one by id has no title."""
        if "title" not in row or row["order"] != 0:
            return
        answering, read = reading_answering(self.task), typed(ReadingRow, row)
        self.kinds[read.kind].append(
            _Question(
                labels=read.labels,
                answers=read.answer,
                blind=answering.blind_score(read),
                shortcut=answering.shortcut_score(read),
                cluster=read.first_author,
                body_masks=read.tags.count("body"),
            )
        )

    def results(self) -> dict[str, Any]:
        """Give `kinds` of `Statistics`."""
        return {"kinds": {kind: _statistics(questions) for kind, questions in sorted(self.kinds.items())}}


def _statistics(questions: list[_Question]) -> KindStatistics:
    places = [(label - 1) / max(1, question.labels - 1) for question in questions for label in question.answers]
    scores = [question.shortcut for question in questions]
    clusters = [question.cluster for question in questions]

    def mean(value: Callable[[_Question], float], digits: int = 4) -> float:
        return round(fmean(map(value, questions)), digits)

    return KindStatistics(
        n=len(questions),
        labels=mean(attrgetter("labels"), digits=1),
        answers=mean(_Question.right_ones, digits=2),
        empty=mean(_Question.is_empty),
        place=round(fmean(places), 4) if places else 0.5,
        blind=mean(attrgetter("blind")),
        shortcut=Bounds.of(level(scores, clusters)),
        body_masks=sum(question.body_masks for question in questions),
    )
