"""`academiceval metrics`: what metrics notice. Texts are damaged on purpose; a metric that notices scores the damaged text lower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.metrics.scored import Answers
from lm_eval_tasks.study.damages.base import Material
from lm_eval_tasks.study.damages.registry import DAMAGES, HARMLESS, Kind, changed
from lm_eval_tasks.study.eyesight import Eyesight, ReportCard

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.registry import Metric


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be damaged.

    Attributes:
        task: "abs" and the like.
        cluster: the first author.
        doc: the row that it answers, with its prompt.
    """

    task: str
    id: str
    cluster: str
    category: str
    text: str
    target: str
    doc: Mapping[str, Any]

    @property
    def shown(self) -> str:
        """What the prompt shows of the paper itself."""
        return str(self.doc["prompt"][self.doc["target_at"] :])


def _material(candidates: Sequence[Candidate], i: int) -> Material:
    """What a text's damages may take from: another paper, of the same category if there is one, and one of the same author."""
    own = candidates[i]
    others = [one for one in (*candidates[i + 1 :], *candidates[:i]) if one.id != own.id and one.task == own.task]
    by_author = [one for one in others if one.cluster == own.cluster]
    strangers = [one for one in others if one.cluster != own.cluster]
    other = next((one for one in strangers if one.category == own.category), strangers[0] if strangers else None)
    return Material(
        body=own.shown, other=other.text if other else "", own_other=by_author[0].text if by_author else "",
        other_body=other.shown if other else "", citations=tuple(own.doc.get("cited_titles") or ()),
    )  # fmt: skip


def measure(candidates: Sequence[Candidate], metrics: Sequence[Metric]) -> ReportCard:
    """The report card of metrics over texts.

    Raises:
        SamplesError: there is no text.
    """
    if not candidates:
        raise SamplesError("there is no text to damage: the papers have no conclusion, or the run no answer")
    before = _scores(candidates, [one.text for one in candidates], metrics)
    cards = [ReportCard({}, {})]
    for kind, places in changes(candidates):
        after = _scores([candidates[i] for i, _ in places], [text for _, text in places], metrics)
        for metric in metrics:
            points = {
                i: lower(metric, old, new)
                for (i, _), new in zip(places, after[metric.name], strict=True)
                if (old := before[metric.name][i]) is not None and new is not None
            }
            cards.append(noted(metric.name, kind, points, candidates, len(places)))
    return ReportCard.together(cards)


def changes(candidates: Sequence[Candidate]) -> Iterator[tuple[Kind, list[tuple[int, str]]]]:
    """Every damage and harmless change, with the places of the candidates that it changes and their changed texts."""
    materials = [_material(candidates, i) for i in range(len(candidates))]
    return ((kind, list(_changed(kind, candidates, materials))) for kind in (*DAMAGES, *HARMLESS))


def noted(
    name: str, kind: Kind, points: Mapping[int, float], candidates: Sequence[Candidate], places: int
) -> ReportCard:
    """What a metric or judge noticed of one kind of change; nothing without points.

    Args:
        points: place of a candidate -> 1 if its changed text was found worse, 0 if better, 0.5 if neither.
        places: candidates that were changed.
    """
    if not points:
        return ReportCard({}, {})
    # A harmless change that changes nothing is not a false alarm.
    values = [float(one == 1.0) if kind in HARMLESS else one for one in points.values()]
    over = interval(values, [candidates[i].cluster for i in points])
    seen = {kind.name: Eyesight(over.mean, _share(over.low), _share(over.high), len(points), len(candidates) - places)}
    return ReportCard({}, {name: seen}) if kind in HARMLESS else ReportCard({name: seen}, {})


def _share(value: float | None) -> float | None:
    """A bound of a share."""
    return None if value is None else min(1.0, max(0.0, value))


def _changed(kind: Kind, candidates: Sequence[Candidate], materials: Sequence[Material]) -> Iterator[tuple[int, str]]:
    for i, (one, material) in enumerate(zip(candidates, materials, strict=True)):
        if kind.tasks and one.task not in kind.tasks:
            continue
        made = changed(kind, one.text, material, one.id)
        if made is not None:
            yield i, made.text


def lower(metric: Metric, before: float, after: float) -> float:
    """1 if the changed text scores worse, 0 if it scores better, 0.5 if nothing changed."""
    loss = _loss(metric, after) - _loss(metric, before)
    return 1.0 if loss > 0 else 0.0 if loss < 0 else 0.5


def _loss(metric: Metric, value: float) -> float:
    """How bad a value is."""
    return abs(value - 1) if metric.best == "one" else value if metric.best == "lower" else -value


def _scores(
    candidates: Sequence[Candidate], texts: Sequence[str], metrics: Sequence[Metric]
) -> dict[str, Sequence[float | None]]:
    docs = [one.doc for one in candidates]
    answers = Answers(docs, texts, [False] * len(texts), [one.target for one in candidates], raw=texts, whole=texts)
    return {metric.name: metric.compute(answers) if texts else [] for metric in metrics}
