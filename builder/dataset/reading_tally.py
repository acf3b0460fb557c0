"""What the rows of a reading configuration say together: sizes of answers, what needs no reading, and how new the papers are."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from builder.dataset.manifest import KindStatistics, bounds_of
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.row import ReadingRow

if TYPE_CHECKING:
    from builder.dataset.row_kind import Row


@dataclass(frozen=True, slots=True)
class _Question:
    labels: int
    answers: tuple[int, ...]
    blind: float
    shortcut: float
    cluster: str
    body_masks: int


@dataclass(slots=True)
class ReadingTally:
    """Counts whole rows of a task."""

    task: str
    _kinds: dict[str, list[_Question]] = field(default_factory=lambda: defaultdict(list))
    _months: Counter[str] = field(default_factory=Counter)
    _contexts: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        if row["context"] not in self._contexts:
            self._contexts.add(row["context"])
            self._months.update(paper["published"][:7] for paper in row["papers"])
        if row["order"] == 0:
            answering, asked = reading_answering(self.task), typed(ReadingRow, row)
            self._kinds[asked.kind].append(
                _Question(
                    asked.labels,
                    asked.answer,
                    answering.blind_score(asked),
                    answering.shortcut_score(asked),
                    asked.first_author,
                    asked.tags.count("body"),
                )
            )

    def kinds(self) -> dict[str, KindStatistics]:
        return {kind: _statistics(questions) for kind, questions in sorted(self._kinds.items())}

    def months(self) -> dict[str, int]:
        return dict(sorted(self._months.items()))


def _statistics(questions: list[_Question]) -> KindStatistics:
    places = [(label - 1) / max(1, question.labels - 1) for question in questions for label in question.answers]
    scores, clusters = [question.shortcut for question in questions], [question.cluster for question in questions]
    return KindStatistics(
        n=len(questions),
        labels=round(fmean(question.labels for question in questions), 1),
        answers=round(fmean(len(question.answers) for question in questions), 2),
        empty=round(fmean(not question.answers for question in questions), 4),
        place=round(fmean(places), 4) if places else 0.5,
        blind=round(fmean(question.blind for question in questions), 4),
        shortcut=bounds_of(level(scores, clusters)),
        body_masks=sum(question.body_masks for question in questions),
    )
