"""Scores by the length of the prompt and by the place of what answers the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.samples.block import BinScore

if TYPE_CHECKING:
    from lm_eval_tasks.families.answering import Placed
    from lm_eval_tasks.samples.sample import Sample

# Upper ends of the bins of lengths, in units of 1,024 tokens; longer prompts are in one of their own.
BINS = {8: "8K", 16: "16K", 32: "32K", 64: "64K", 128: "128K", 256: "256K", 512: "512K", 1024: "1M"}
LONGER = "over 1M"
_UNIT = 1024
PLACES = ("first third", "middle third", "last third")
# (Sample, score, what it shares with those that it depends on).
Rows = Sequence[tuple[str, float, str]]


def by_length(samples: Sequence[Sample]) -> dict[str, BinScore]:
    """Bin of the uncut prompt's length in the model's tokens, by its upper end -> n, mean and 95 % interval of the score that models are
    ranked by. Empty if no tokenizer was known.
    """
    bins: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for sample in samples:
        metric = sample.row.family.ranking
        if sample.row.tokens_before and metric in sample.scores:
            bins[_bin(sample.row.tokens_before)].append((sample.id, sample.scores[metric], sample.cluster))
    return {name: _summary(bins[name]) for name in (*BINS.values(), LONGER) if name in bins}


def _bin(tokens: int) -> str:
    return next((name for size, name in BINS.items() if tokens <= size * _UNIT), LONGER)


def by_place(samples: Sequence[Sample]) -> dict[str, BinScore]:
    """Third of the context where the answers stand -> the same: of SCALAR's right candidates and of the pairs of Next and Match, each by
    itself; of Walk, the F1 within the third. Empty for other tasks, and if prompts were answered several times.
    """
    thirds: dict[str, list[tuple[str, float, str]]] = defaultdict(list)
    for sample in samples:
        for name, place, score in _placed(sample):
            third = PLACES[min(2, int(3 * place))]
            thirds[third].append((f"{sample.id} {name}", score, sample.cluster))
    return {name: _summary(thirds[name]) for name in PLACES if name in thirds}


def _placed(sample: Sample) -> Iterator[Placed]:
    row, metric = sample.row, sample.row.family.ranking
    if not row.shown and not sample.repeats and metric in sample.scores:
        yield from answering_of(row.task).placed(row, sample.answer, sample.scores[metric])


def _summary(rows: Rows) -> BinScore:
    over = level([score for _, score, _ in rows], [cluster for _, _, cluster in rows])
    return BinScore(over.samples, over.mean, over.low, over.high)
