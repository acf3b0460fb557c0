"""What reading saves: bits per byte of the same texts with less to read minus those with more, paired by row.

That is no score of long contexts: most of an abstract stands in a paper's first words. And weaker predictors save more, so that savings of
different predictors are no race; `docs/likelihood.md` says what they are good for.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean
from typing import TYPE_CHECKING, TypeAlias

from lm_eval_tasks.base.contract import FULL, LIKELIHOOD, LOCAL, NONE, OTHER, RETRIEVED, START, WORDS
from lm_eval_tasks.base.intervals import Interval, difference
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families.answering import answering_of
from lm_eval_tasks.families.registry import is_lower_better

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

_LOGGER = logging.getLogger(__name__)
# From the least to read to the most.
_ORDER: tuple[str, ...] = (NONE, LOCAL, OTHER, *WORDS, RETRIEVED, FULL)
# What the beginning of the paper is compared with: another paper's, and nothing.
HEADLINE = ((OTHER, START), (NONE, START))
# Context -> row, by its identity, -> its sample.
Contexts: TypeAlias = "Mapping[str, Mapping[str, Sample]]"


@dataclass(frozen=True, slots=True)
class Saving:
    """Bits per byte that one context saves over another one.

    Attributes:
        task: the configuration, and how it was asked.
        less, more: the contexts.
        before, after: the mean bits per byte.
        saved: positive if there are fewer bits with more to read.
        copied: of the mean, what is saved within runs of words that the prompt with more to read shows; None without tokens.
        same: rows whose prompts are the same in both.
        cut: rows of which the model's window cut a prompt.
    """

    task: str
    less: str
    more: str
    before: float
    after: float
    saved: Interval
    copied: float | None
    same: int
    cut: int


def contexts_of(samples: Sequence[Sample]) -> dict[str, Contexts]:
    """Return task, with its format, -> context -> row -> its sample, of rows by likelihood whose score are bits."""
    tasks: dict[str, dict[str, dict[str, Sample]]] = {}
    for sample in samples:
        row = sample.row
        if (
            row.way == LIKELIHOOD
            and is_lower_better(row.ranking.name)
            and row.ranking.name in sample.scores
            and not row.family.kept
        ):
            of_task = tasks.setdefault(row.suffixed, {})
            of_task.setdefault(row.shown or FULL, {})[sample.identity] = sample
    return {
        task: {name: of_task[name] for name in _ORDER if name in of_task} for task, of_task in sorted(tasks.items())
    }


def savings_of(samples: Sequence[Sample]) -> list[Saving]:
    """Return the savings between any two contexts in which a run asked a task."""
    of_pairs = (
        saving_of(task, (less, more), contexts)
        for task, contexts in contexts_of(samples).items()
        for less, more in combinations(contexts, 2)
    )
    return [saving for saving in of_pairs if saving]


def curve_of(samples: Sequence[Sample]) -> list[Saving]:
    """Return what each step of more words saves, over the rows that have as many as the largest context shows."""
    steps: list[Saving] = []
    for task, contexts in contexts_of(samples).items():
        sizes = [name for name in contexts if name in WORDS]
        if len(sizes) < 2:
            continue
        filled = set.intersection(*(_filled(contexts[name]) for name in sizes))
        if not filled:
            continue
        over = {
            name: {id_: sample for id_, sample in of_one.items() if id_ in filled} for name, of_one in contexts.items()
        }
        first = [name for name in (NONE, OTHER) if name in contexts][:1]
        of_task = (saving_of(task, pair, over) for pair in pairwise([*first, *sizes]))
        steps += [step for step in of_task if step]
    return steps


def _filled(of_context: Mapping[str, Sample]) -> set[str]:
    """Return the rows that show as many words as their context says."""
    return {id_ for id_, sample in of_context.items() if answering_of(sample.row.task).fills(sample.row)}


def saving_of(task: str, pair: tuple[str, str], contexts: Contexts) -> Saving | None:
    """Return the saving of a pair of contexts over the rows that both have; None without any, or if most of their prompts are the same."""
    less, more = (contexts[name] for name in pair)
    both = [(less[id_], more[id_]) for id_ in less if id_ in more]
    same = sum(bool(a.prompt_hash) and a.prompt_hash == b.prompt_hash for a, b in both)
    if not both or 2 * same > len(both):
        _warn(task, pair, same, len(both))
        return None
    metric = both[0][0].row.ranking.name
    before, after = (fmean(sample.scores[metric] for sample in side) for side in zip(*both, strict=True))
    saved = difference([a.scores[metric] - b.scores[metric] for a, b in both], [a.cluster for a, _ in both])
    # Of a program, and of lm-eval's own sums, nothing is known of the parts of a text.
    is_known = any(len(each.counts) > 1 for _, sample in both for each in sample.likelihoods)
    inside = [_copied(a, b) for a, b in both] if is_known else [None]
    copied = None if None in inside else fmean(part for part in inside if part is not None)
    cut = sum(bool(a.row.tokens_cut or b.row.tokens_cut) for a, b in both)
    return Saving(task, *pair, before, after, saved, copied, same, cut)


def _warn(task: str, pair: tuple[str, str], same: int, count: int) -> None:
    """Say why a saving is not stated."""
    _LOGGER.warning(
        "%s: no saving of %s over %s is stated, because %s",
        task,
        pair[1],
        pair[0],
        f"{same} of {count} prompts are the same" if count else "no row has both",
    )


def _copied(less: Sample, more: Sample) -> float | None:
    """Return the bits, over all bytes of the text, that are saved within what the prompt with more to read shows of it."""
    [before], [after] = less.likelihoods or (None,), more.likelihoods or (None,)
    if before is None or after is None or before.counts != after.counts:
        return None
    runs = answering_of(more.row.task).copied(more.row)
    saved, share, at = 0.0, 0.0, 0
    for first, second, count in zip(before.logs, after.logs, after.counts, strict=True):
        # A token without bytes of its own goes on with the character of the one before it.
        if count:
            share = sum(max(0, min(end, at + count) - max(start, at)) for start, end in runs) / count
        saved += (second - first) * share
        at += count
    return saved / math.log(2) / at


def shown_savings(samples: Sequence[Sample]) -> Iterator[str | Table]:
    """Yield the savings of a run, and its curve, if it was asked in several contexts."""
    savings, curve = savings_of(samples), curve_of(samples)
    if savings:
        yield from ("", _table("Bits saved per byte by reading", savings))
    if any((saving.less, saving.more) in HEADLINE for saving in savings):
        yield from ("", f"* the main comparisons: what the paper's first {WORDS[START]:,} words save")
    if len(curve) > 1:
        yield from ("", _table("Bits saved per byte by each step, over rows that fill the largest", curve))


def _table(name: str, savings: Sequence[Saving]) -> Table:
    head = (
        "Task",
        "Less",
        "More",
        "n",
        "Cut",
        "Bits, less",
        "Bits, more",
        f"{name} [95%]",
        "Copied",
        "Rest",
        "Detectable",
    )
    return Table((*head, "Same prompts"), "lllrrrrrrrrr", [_row(saving) for saving in savings], main=head)


def _row(saving: Saving) -> tuple[object, ...]:
    over = saving.saved
    copied, rest = _signed(saving.copied), _signed(None if saving.copied is None else over.mean - saving.copied)
    return (
        saving.task,
        saving.less,
        saving.more + " *" * ((saving.less, saving.more) in HEADLINE),
        over.samples,
        saving.cut,
        f"{saving.before:.4f}",
        f"{saving.after:.4f}",
        with_bounds(over.mean, over.low, over.high, "+.4f"),
        copied,
        rest,
        _needed(over),
        saving.same,
    )


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.4f}"


def _needed(over: Interval) -> str:
    """Say what a saving that is not shown would have had to be."""
    bounds = over.bounds
    if bounds and not bounds[0] <= 0 <= bounds[1]:
        return "-"
    smallest = over.detectable()
    return "-" if smallest is None else f"{smallest:.4f}"
