"""Scores by the length of the prompt and by the place of what answers the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.intervals import SHARES, interval
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.metrics.answer_labels import pairs_of, set_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.row import PromptRow
    from lm_eval_tasks.samples.sample import Sample

# Upper ends of the bins of lengths, in units of 1,024 tokens; longer prompts are in one of their own.
BINS = {8: "8K", 16: "16K", 32: "32K", 64: "64K", 128: "128K", 256: "256K", 512: "512K", 1024: "1M"}
LONGER = "over 1M"
_UNIT = 1024
PLACES = ("first third", "middle third", "last third")
# (Sample, score, what it shares with those that it depends on).
Rows = Sequence[tuple[str, float, str]]


def by_length(samples: Sequence[Sample]) -> dict[str, dict[str, Any]]:
    """Bin of the uncut prompt's length in the model's tokens, by its upper end -> n, mean and 95 % interval of the score that models are
    ranked by. Empty if no tokenizer was known.
    """
    bins: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for sample in samples:
        metric = registry.ranking(sample.row.kind)
        if sample.row.tokens_before and metric in sample.scores:
            bins[_bin(sample.row.tokens_before)].append((sample.id, sample.scores[metric], sample.cluster))
    return {name: _summary(bins[name]) for name in (*BINS.values(), LONGER) if name in bins}


def _bin(tokens: int) -> str:
    return next((name for size, name in BINS.items() if tokens <= size * _UNIT), LONGER)


def by_place(samples: Sequence[Sample]) -> dict[str, dict[str, Any]]:
    """Third of the context where the answers stand -> the same, of each answer by itself: SCALAR's right candidates, the pairs of Next and
    Match, and the papers that answer a question of Walk, found or not. Empty for other tasks, and if prompts were answered several
    times.
    """
    thirds: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for sample in samples:
        for name, place, score in _placed(sample):
            third = PLACES[min(2, int(3 * place))]
            thirds[third].append((f"{sample.id} {name}", score, sample.cluster))
    return {name: _summary(thirds[name]) for name in PLACES if name in thirds}


def _placed(sample: Sample) -> Iterator[tuple[str, float, float]]:
    """(what is asked, place of its answer from 0 to 1, score)."""
    row, metric = sample.row, registry.ranking(sample.row.kind)
    if row.shown or sample.repeats or metric not in sample.scores:
        return
    if row.kind == "cloze" and row.label is not None:
        yield "", (row.label + 0.5) / len(row.candidate_ids or (0,)), sample.scores[metric]
    elif row.kind == "set":
        named = set_of(sample.answer) or ()
        yield from ((str(label), _place(label, row), float(label in named)) for label in row.answer or ())
    elif row.kind == "pairs":
        pairs = pairs_of(sample.answer) or {}
        for label, right in zip(row.asked or (), row.answer or (), strict=True):
            yield str(label), _place(right, row), float(pairs.get(label) == right)


def _place(label: int, row: PromptRow) -> float:
    return (label - 0.5) / max(label, row.labels or 1)


def _summary(rows: Rows) -> dict[str, Any]:
    over = interval([score for _, score, _ in rows], [cluster for _, _, cluster in rows], SHARES)
    return {"n": over.samples, "mean": over.mean, "low": over.low, "high": over.high}
