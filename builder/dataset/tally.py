"""What the rows of a split say together: lengths, days, licences, and what is answered without reading."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING

import networkx as nx

from builder.dataset.manifest import QUANTILES, KindStatistics, Statistics, bounds_of
from lm_eval_tasks.base.intervals import detectable_with, level
from lm_eval_tasks.base.row_format import Measured
from lm_eval_tasks.base.text import typed
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.reading.answering import reading_answering
from lm_eval_tasks.families.reading.row import ReadingRow
from lm_eval_tasks.families.scalar.row import ScalarRow
from lm_eval_tasks.families.scalar.shortcuts import Chooser

if TYPE_CHECKING:
    from builder.dataset.families import Row


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

    def add(self, row: Row) -> None:
        if row["order"] == 0:
            answering, asked = reading_answering(self.task), typed(ReadingRow, row)
            blind, shortcut = answering.blind_score(asked), answering.shortcut_score(asked)
            masks = asked.tags.count("body")
            question = _Question(asked.labels, asked.answer, blind, shortcut, asked.first_author, masks)
            self._kinds[asked.kind].append(question)

    def kinds(self) -> dict[str, KindStatistics]:
        return {kind: _statistics(questions) for kind, questions in sorted(self._kinds.items())}


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


@dataclass(slots=True)
class Tally:
    """`Statistics` in the making."""

    task: str
    reading: ReadingTally
    inputs: list[int] = field(default_factory=list)
    targets: list[int] = field(default_factory=list)
    days: Counter[str] = field(default_factory=Counter)
    licenses: Counter[str] = field(default_factory=Counter)
    labels: Counter[int] = field(default_factory=Counter)
    authors: Counter[str] = field(default_factory=Counter)
    choosers: Mapping[Measured, Chooser] = field(default_factory=dict)
    right: dict[Measured, list[float]] = field(default_factory=dict)
    clusters: list[str] = field(default_factory=list)
    co_authors: nx.Graph[str] = field(default_factory=nx.Graph)

    def add(self, row: Row) -> None:
        self.inputs.append(row["input_tokens"])
        self.days[row["published"]] += 1
        self.licenses[row["license"]] += 1
        first_author: str = next(iter(row["authors"]), row.get("paper_id") or row["id"])
        self.authors[first_author] += 1
        nx.add_star(self.co_authors, [first_author, *row["authors"]])
        if "target_tokens" in row:
            self.targets.append(row["target_tokens"])
        # The targets of questions are places.
        if "label" in row:
            self.labels[row["label"]] += 1
        # A question by id alone has no text to choose by.
        if "question" in row:
            self.clusters.append(first_author)
            asked = typed(ScalarRow, row)
            for name, choose in self.choosers.items():
                self.right.setdefault(name, []).append(float(choose(asked) == asked.label))
        if "parts" in row and "title" in row:
            self.reading.add(row)

    def close(self) -> Statistics:
        groups = [sum(self.authors[name] for name in group) for group in nx.connected_components(self.co_authors)]
        spread = None if self.task == "papers" else target_of(self.task).spread
        smallest = spread and detectable_with(self.authors.values(), spread)
        return Statistics(
            samples=len(self.inputs),
            input_tokens=sum(self.inputs),
            target_tokens=sum(self.targets),
            first=min(self.days, default=""),
            last=max(self.days, default=""),
            licenses=dict(sorted(self.licenses.items())),
            input_lengths=_lengths(self.inputs),
            target_lengths=_lengths(self.targets),
            labels=tuple(self.labels[place] for place in range(max(self.labels, default=-1) + 1)),
            detectable=smallest and round(smallest, 4),
            one_group=round(max(groups) / sum(groups), 4) if groups else None,
            shortcuts={name: bounds_of(level(right, self.clusters)) for name, right in self.right.items()},
            kinds=self.reading.kinds(),
        )


def _lengths(tokens: list[int]) -> tuple[int, ...]:
    """The lengths at each of `QUANTILES`, by nearest rank."""
    ordered = sorted(tokens)
    return tuple(ordered[ceil(share * len(ordered)) - 1] for share in QUANTILES) if ordered else ()
