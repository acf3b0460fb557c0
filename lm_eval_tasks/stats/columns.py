"""Samples -> columns: each metric over all samples that have it. Whatever states a score asks here.

And what reading is worth: the score with the full context minus that of each shortcut, paired by sample. A shortcut is the same model with
less to read, or a program without a language model: the floors of the metric by which models are ranked. The best of the shortcuts is not
chosen first, which would bias the gain downwards.
"""

from __future__ import annotations

import logging
import zlib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from lm_eval_tasks import families
from lm_eval_tasks.base.contract import FULL
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.intervals import FEWEST, FEWEST_OF_GAINS, SHARES, Interval, difference, level
from lm_eval_tasks.base.tables import Table, with_bounds
from lm_eval_tasks.families import registry

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

_LOGGER = logging.getLogger(__name__)
_ROUNDING = 1e-6
BEST_PROGRAM = "best program"
By = Literal["model", "program"]


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over the samples, by their identity, that have it, at least one; with the first author of each."""

    metric: str
    scores: dict[str, float]
    clusters: dict[str, str]

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def mean(self) -> float:
        return fmean(self.scores.values())

    def mean_of(self, half: int) -> float:
        """Return the mean over one half of the first authors; over all where it has none."""
        return fmean(
            [score for id_, score in self.scores.items() if _half(self.clusters[id_]) == half] or self.scores.values()
        )

    def interval(self) -> Interval:
        """Return the mean and its 95 % interval, clustered by first authors: that of a level, or of any mean for metrics that are no
        shares.
        """
        known = registry.find_metric(self.metric)
        is_share = known is None or known.limits == SHARES
        return (level if is_share else difference)(list(self.scores.values()), list(self.clusters.values()))

    def over(self, ids: Container[str]) -> Column | None:
        """Return the column over some samples; None if it has none of them."""
        return column(
            self.metric, ((id_, score, self.clusters[id_]) for id_, score in self.scores.items() if id_ in ids)
        )

    def minus(self, other: Column, fewest: int = FEWEST) -> Interval:
        """Return how much higher it is than a column over the same samples, or more of them; `fewest` first authors make an interval."""
        return difference(
            [score - other.scores[id_] for id_, score in self.scores.items()], list(self.clusters.values()), fewest
        )

    def gained_over(self, other: Column, fewest: int = FEWEST) -> Interval:
        """Return by how much it is better than another column, see `minus`."""
        over = self.minus(other, fewest)
        return over.reversed() if registry.is_lower_better(self.metric) else over


def column(metric: str, scores: Iterable[tuple[str, float, str]]) -> Column | None:
    """Return a column of (sample, score, first author); None if there are none."""
    of_id: dict[str, float] = {}
    clusters: dict[str, str] = {}
    for id_, score, cluster in scores:
        of_id[id_], clusters[id_] = score, cluster
    return Column(metric, of_id, clusters) if of_id else None


def columns_of(samples: Sequence[Sample]) -> dict[str, Column]:
    """Return metric -> its column over the samples of one task, in the order of its family; a SamplesError if a score lies beyond its
    limits. A metric that some samples lack, the first one even, is there over the others; one that all lack, or that is not registered, is
    not.
    """
    of_family = samples[0].row.of_way if samples else ()
    columns = {}
    for metric in dict.fromkeys((*of_family, *registry.METRICS)):
        name, (least, most) = metric.name, metric.limits or (-inf, inf)
        scored = [sample for sample in samples if name in sample.scores]
        for sample in scored:
            if not least - _ROUNDING <= sample.scores[name] <= most + _ROUNDING:
                raise SamplesError(
                    f"the sample {sample.id} has a {name} of {sample.scores[name]:g}, which cannot be: its file was not written by a run"
                )
        over = column(name, [(sample.identity, sample.scores[name], sample.cluster) for sample in scored])
        if over:
            columns[name] = over
    return columns


def zero_of(metric: str, columns: Mapping[str, Column]) -> Column | None:
    """Return what the best program scores on each sample that the metric scores, as its 0; None if no program has all of them.

    The program is chosen on one half of the first authors and counts on the other half, both ways: one that was lucky on the samples
    that it is chosen by would raise the floor.
    """
    known = registry.find_metric(metric)
    beside = [columns[name] for name in known.zero if name in columns] if known else []
    programs = _over_all_of(columns[metric], beside) if metric in columns else beside
    if not programs:
        return None
    choose = min if registry.is_lower_better(metric) else max
    rows: list[tuple[str, float, str]] = []
    for half in (0, 1):
        best = choose(programs, key=lambda program: program.mean_of(1 - half))
        rows += [(id_, best.scores[id_], author) for id_, author in best.clusters.items() if _half(author) == half]
    return column(BEST_PROGRAM, rows)


def _over_all_of(scored: Column, programs: Sequence[Column]) -> list[Column]:
    """Return programs over a column's samples, but those that lack some: they are no floor of the others."""
    over = [program.over(scored.scores) for program in programs]
    return [program for program in over if program and len(program.scores) == len(scored.scores)]


def _half(cluster: str) -> int:
    return zlib.crc32(cluster.encode()) % 2


# --- gains


@dataclass(frozen=True, slots=True)
class Gain:
    """Full context minus a shortcut, over the samples that have both; where lower is better, the shortcut minus the full context.

    Attributes:
        configuration: of the dataset, with how it was asked by likelihood.
        shortcut: a context, with the retriever if one was chosen, or the metric that is a program's score.
        by: whether the same model took the shortcut, or a program.
        full, short: the mean scores.
        is_headline: whether it is the task's main comparison.
        same: how many samples were asked with the same prompt in both, which differ by nothing.
    """

    configuration: str
    metric: str
    shortcut: str
    by: By
    full: float
    short: float
    gain: Interval
    is_headline: bool = False
    same: int = 0


def gains_of(samples: Iterable[Sample]) -> list[Gain]:
    """Return the gains of one run, configuration by configuration, for those that were asked with their full context."""
    by_configuration: dict[str, list[Sample]] = {}
    for sample in samples:
        name = sample.row.suffixed
        if sample.row.shown or sample.row.name == name:
            by_configuration.setdefault(name, []).append(sample)
    return [gain for name, of_name in sorted(by_configuration.items()) for gain in _gains(name, of_name)]


def _gains(configuration: str, samples: Sequence[Sample]) -> list[Gain]:
    by_context: dict[str, list[Sample]] = {}
    for sample in samples:
        name = f"{sample.row.shown} {sample.row.retriever}".strip() if sample.row.shown else FULL
        by_context.setdefault(name, []).append(sample)
    if FULL not in by_context:
        return []
    columns = {name: columns_of(of_context) for name, of_context in sorted(by_context.items())}
    prompts = {
        name: {each.identity: each.prompt_hash for each in of_context} for name, of_context in by_context.items()
    }
    row = by_context[FULL][0].row
    return gains_over(configuration, row.ranking.name, families.target_of(row.task).headline, columns, prompts)


def gains_over(
    configuration: str,
    metric: str,
    headline: str,
    columns: Mapping[str, Mapping[str, Column]],
    prompts: Mapping[str, Mapping[str, str]],
) -> list[Gain]:
    """Compute the gains over all shortcuts, but for contexts that lack samples of the full one, and those that most samples share with it:
    the model's window cuts both to one prompt.

    Args:
        metric: that models are ranked by.
        headline: the context of the main comparison.
        columns: context, the full one and shorter ones with the retriever if one was chosen -> metric -> column.
        prompts: context -> sample -> hash of its prompt, "" if it is not known.
    """
    full = columns[FULL].get(metric)
    if not full:
        return []
    floors = [zero_of(metric, columns[FULL])]
    # Bits of a weaker predictor are no shortcut: only the best one stands beside.
    if not registry.is_lower_better(metric):
        floors = [columns[FULL].get(name) for name in registry.floors_of(metric)] + floors
    gains = [
        replace(_gain(configuration, full, name, short, FEWEST_OF_GAINS), by="model", same=same)
        for name, short, same in _shorter(configuration, full, columns, prompts)
        if full.over(short.scores)
    ]
    gains += [
        _gain(configuration, full, floor.metric, floor, FEWEST) for floor in floors if floor and full.over(floor.scores)
    ]
    return [replace(gain, is_headline=gain.shortcut.partition(" ")[0] == headline) for gain in gains]


def _gain(configuration: str, full: Column, name: str, short: Column, fewest: int) -> Gain:
    """Compute the gain over a shortcut that has a score on some of the same samples; `fewest` first authors make an interval."""
    both = full.over(short.scores)
    assert both, "the shortcut has a score on none of the samples"
    return Gain(
        configuration=configuration,
        metric=full.metric,
        shortcut=name,
        by="program",
        full=both.mean,
        short=fmean(short.scores[id_] for id_ in both.scores),
        gain=both.gained_over(short, fewest),
    )


def _shorter(
    configuration: str,
    full: Column,
    columns: Mapping[str, Mapping[str, Column]],
    prompts: Mapping[str, Mapping[str, str]],
) -> Iterator[tuple[str, Column, int]]:
    """Yield the shorter contexts over which a gain is stated, with their scores and how many of their prompts are the full ones."""
    for name in (name for name in columns if name != FULL):
        short = columns[name].get(full.metric)
        scored = short.scores if short else {}
        same = sum(bool(prompts[name].get(id_)) and prompts[name][id_] == prompts[FULL].get(id_) for id_ in scored)
        if 2 * same > len(scored):
            reason = (
                f"{same} of {len(scored)} prompts are the same as with the full context: the model's window cuts both"
            )
            _warn(configuration, name, f"{reason} to the same text")
            continue
        lacking = len(full.scores.keys() - scored)
        if lacking:
            _warn(configuration, name, f"{lacking} of the {full.n} samples of the full context have no score with it")
        elif short:
            # Prompts that are the same differ by nothing but chance.
            alike = {
                id_: full.scores[id_] for id_ in full.scores if prompts[name].get(id_) == prompts[FULL].get(id_) != ""
            }
            yield name, replace(short, scores=short.scores | alike), same


@cache
def _warn(configuration: str, context: str, reason: str) -> None:
    """Say once why a gain is not stated."""
    _LOGGER.warning("%s: no gain over the context %r is stated, because %s", configuration, context, reason)


# --- as text


def gain_table(gains: Sequence[Gain]) -> Table:
    """Return a row for each gain; the headline shortcut of a task is marked."""
    head = ("Task", "Shortcut", "By", "n", "Full", "Short", "Gain [95%]", "Score", "Detectable", "Same prompts")
    return Table(head, "lllrrrrlrr", [_row(gain) for gain in gains], main=head[:7])


def _row(gain: Gain) -> tuple[object, ...]:
    over = gain.gain
    smallest = over.detectable()
    return (
        gain.configuration,
        gain.shortcut + " *" * gain.is_headline,
        gain.by,
        over.samples,
        f"{gain.full:.4f}",
        f"{gain.short:.4f}",
        with_bounds(over.mean, over.low, over.high, "+.4f"),
        gain.metric,
        "-" if smallest is None else f"{smallest:.4f}",
        gain.same,
    )
