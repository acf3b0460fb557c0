"""`academiceval study metrics`: what metrics notice. Texts are damaged on purpose; a metric that notices scores the damaged text lower."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import SHARES, interval
from lm_eval_tasks.samples.answers import Answer, Answers
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.study.damages.base import Material
from lm_eval_tasks.study.damages.registry import DAMAGES, HARMLESS, Kind, change_text
from lm_eval_tasks.study.eyesight import Eyesight, ReportCard

if TYPE_CHECKING:
    from lm_eval_tasks.metrics.registry import Metric


@dataclass(frozen=True, slots=True)
class Original:
    """A text that may be damaged.

    Attributes:
        task: "abs" and the like.
        row: the prompt that it answers.
    """

    task: str
    text: str
    row: PromptRow

    @property
    def cluster(self) -> str:
        return self.row.first_author


def _material(originals: Sequence[Original], i: int) -> Material:
    """What a text's damages may take from: another paper, of the same category if there is one, and one of the same author."""
    original = originals[i]
    others = [
        other
        for other in (*originals[i + 1 :], *originals[:i])
        if other.row.id != original.row.id and other.task == original.task
    ]
    by_author = [other for other in others if other.cluster == original.cluster]
    strangers = [other for other in others if other.cluster != original.cluster]
    similar = (other for other in strangers if other.row.primary_category == original.row.primary_category)
    stranger = next(similar, strangers[0] if strangers else None)
    return Material(
        body=original.row.own_part,
        other=stranger.text if stranger else "",
        own_other=by_author[0].text if by_author else "",
        other_body=stranger.row.own_part if stranger else "",
        citations=original.row.cited_titles or (),
    )


def measure(originals: Sequence[Original], metrics: Sequence[Metric]) -> ReportCard:
    """The report card of metrics over texts.

    Raises:
        SamplesError: there is no text.
    """
    if not originals:
        raise SamplesError("there is no text to damage: the papers have no conclusion, or the run no answer")
    before = _scores(originals, [original.text for original in originals], metrics)
    cards = [ReportCard({}, {})]
    for kind, places in changes(originals):
        after = _scores([originals[i] for i, _ in places], [text for _, text in places], metrics)
        for metric in metrics:
            points = {
                i: lower(metric, old, new)
                for (i, _), new in zip(places, after[metric.name], strict=True)
                if (old := before[metric.name][i]) is not None and new is not None
            }
            cards.append(score_noticed(metric.name, kind, points, originals))
    return ReportCard.together(cards)


def changes(originals: Sequence[Original]) -> Iterator[tuple[Kind, list[tuple[int, str]]]]:
    """Every damage and harmless change, with the places of the originals that it changes and their changed texts."""
    materials = [_material(originals, i) for i in range(len(originals))]
    return ((kind, list(_changed_texts(kind, originals, materials))) for kind in (*DAMAGES, *HARMLESS))


def score_noticed(name: str, kind: Kind, points: Mapping[int, float], originals: Sequence[Original]) -> ReportCard:
    """What a metric or judge noticed of one kind of change; nothing without points.

    Args:
        points: place of an original -> 1 if its changed text was found worse, 0 if better, between them if neither.
    """
    if not points:
        return ReportCard({}, {})
    values = list(points.values())
    over = interval([float(point == 1.0) for point in values], [originals[i].cluster for i in points], SHARES)
    lower, higher = values.count(1.0), values.count(0.0)
    seen = {kind.name: Eyesight(lower, len(values) - lower - higher, higher, over.low, over.high)}
    return ReportCard({}, {name: seen}) if kind in HARMLESS else ReportCard({name: seen}, {})


def _changed_texts(
    kind: Kind, originals: Sequence[Original], materials: Sequence[Material]
) -> Iterator[tuple[int, str]]:
    for i, (original, material) in enumerate(zip(originals, materials, strict=True)):
        if kind.tasks and original.task not in kind.tasks:
            continue
        damaged = change_text(kind, original.text, material, original.row.id)
        if damaged is not None:
            yield i, damaged.text


def lower(metric: Metric, before: float, after: float) -> float:
    """1 if the changed text scores worse, 0 if it scores better, 0.5 if nothing changed."""
    loss = _loss(metric, after) - _loss(metric, before)
    return 1.0 if loss > 0 else 0.0 if loss < 0 else 0.5


def _loss(metric: Metric, value: float) -> float:
    """How bad a value is."""
    return abs(value - 1) if metric.best == "one" else value if metric.best == "lower" else -value


def _scores(
    originals: Sequence[Original], texts: Sequence[str], metrics: Sequence[Metric]
) -> dict[str, Sequence[float | None]]:
    pairs = zip(originals, texts, strict=True)
    answers = Answers(Answer(original.row, text, text, text) for original, text in pairs)
    return {metric.name: metric.compute(answers) if texts else [] for metric in metrics}
