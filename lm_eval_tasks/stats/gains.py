"""What reading is worth: the score with the full context minus that of each shortcut, paired by sample.

A shortcut is the same model with less to read (`tasks.records`), or a program without a language model: the floors of the metric by which
models are ranked. A model reads a task if the lower bounds of its gains over all of the task's shortcuts are above 0. The best of the
shortcuts is not chosen first, which would bias the gain downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from lm_eval_tasks.core.intervals import DIFFERENCES, Interval, interval
from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.tasks.records import HEADLINE, SHORTER

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

By = Literal["model", "program"]


@dataclass(frozen=True, slots=True)
class Gain:
    """Full context minus a shortcut, over the samples that have both.

    Attributes:
        configuration: of the dataset.
        shortcut: a context, with the retriever if one was chosen, or the metric that is a program's score.
        by: whether the same model took the shortcut, or a program.
        full, short: the mean scores.
        is_headline: whether it is the task's main comparison.
    """

    configuration: str
    metric: str
    shortcut: str
    by: By
    full: float
    short: float
    gain: Interval
    is_headline: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a model reads a task.

    Attributes:
        reads: None if that cannot be told.
        reasons: why it cannot be told, or what is missing besides.
    """

    configuration: str
    reads: bool | None
    reasons: tuple[str, ...]


def gains_of(samples: Iterable[Sample]) -> list[Gain]:
    """The gains of one run, configuration by configuration, for those that were asked with their full context."""
    by_configuration: dict[str, list[Sample]] = {}
    for sample in samples:
        if sample.row.shown or sample.row.name == sample.row.setting:
            by_configuration.setdefault(sample.row.setting, []).append(sample)
    return [gain for name, of_name in sorted(by_configuration.items()) for gain in _gains(name, of_name)]


def _gains(configuration: str, samples: Sequence[Sample]) -> Iterator[Gain]:
    full = [sample for sample in samples if not sample.row.shown]
    if not full:
        return
    metric = registry.ranking(full[0].row.kind)
    scores = {sample.id: sample.scores[metric] for sample in full if metric in sample.scores}
    clusters = {sample.id: sample.cluster for sample in full}
    shorter: dict[tuple[str, str], dict[str, float]] = {}
    for sample in samples:
        if sample.row.shown and metric in sample.scores:
            key = (sample.row.shown, sample.row.retriever)
            shorter.setdefault(key, {})[sample.id] = sample.scores[metric]
    headline = HEADLINE[context_task(full[0])]
    for (context, retriever), of_context in sorted(shorter.items()):
        name = f"{context} {retriever}".strip()
        is_headline = context == headline
        gain = gain_over(configuration, metric, name, "model", scores, of_context, clusters, is_headline=is_headline)
        yield from [gain] if gain else []
    registered = registry.find_metric(metric)
    for floor in registered.floors if registered else ():
        of_floor = {sample.id: sample.scores[floor] for sample in full if floor in sample.scores}
        gain = gain_over(configuration, metric, floor, "program", scores, of_floor, clusters)
        yield from [gain] if gain else []


def gain_over(
    configuration: str,
    metric: str,
    shortcut: str,
    by: By,
    full: Mapping[str, float],
    short: Mapping[str, float],
    clusters: Mapping[str, str],
    *,
    is_headline: bool = False,
) -> Gain | None:
    """The gain over a shortcut; None if no sample has both scores.

    Args:
        full, short: sample -> score.
        clusters: sample -> what it shares with those that it depends on.
    """
    ids = [id_ for id_ in full if id_ in short]
    if not ids:
        return None
    differences = interval([full[id_] - short[id_] for id_ in ids], [clusters[id_] for id_ in ids], DIFFERENCES)
    means = fmean(full[id_] for id_ in ids), fmean(short[id_] for id_ in ids)
    return Gain(configuration, metric, shortcut, by, *means, differences, is_headline)


def context_task(sample: Sample) -> str:
    """What `tasks.records` calls the task of a sample."""
    return "cloze" if sample.row.kind == "cloze" else sample.row.task


def verdicts_of(samples: Sequence[Sample], gains: Sequence[Gain]) -> list[Verdict]:
    """For each configuration with gains whether the model reads it.

    Args:
        samples: of the run.
    """
    tasks = {sample.row.setting: context_task(sample) for sample in samples}
    return [
        verdict_of(name, tasks[name], list(of_name))
        for name, of_name in groupby(gains, lambda gain: gain.configuration)
    ]


def verdict_of(configuration: str, task: str, gains: Sequence[Gain]) -> Verdict:
    """Whether a model reads a configuration.

    Args:
        task: a key of `tasks.records.SHORTER`.
        gains: all that are known.
    """
    reasons = tuple(_reasons(task, gains))
    if any(gain.gain.low is not None and gain.gain.low <= 0 for gain in gains):
        return Verdict(configuration, False, reasons)
    return Verdict(configuration, None if reasons else True, reasons)


def _reasons(task: str, gains: Sequence[Gain]) -> Iterator[str]:
    """Why the gains that are known do not suffice for a verdict."""
    asked = {gain.shortcut.partition(" ")[0] for gain in gains if gain.by == "model"}
    if missing := [context for context in SHORTER[task] if context not in asked]:
        yield f"not asked with {', '.join(missing)}"
    if not any(gain.by == "program" for gain in gains):
        yield "no program's scores beside it"
    if len({gain.gain.samples for gain in gains}) > 1:
        yield "not all contexts have the same samples"
    if any(gain.gain.low is None for gain in gains):
        yield "too few clusters for intervals"


# --- as text


def gain_table(gains: Sequence[Gain]) -> Table:
    """A row for each gain; the headline shortcut of a task is marked."""
    head = ("Task", "Score", "Shortcut", "By", "n", "Full", "Short", "Gain", "95% interval", "Detectable")
    return Table(head, "llllrrrrlr", [_row(gain, gain.gain) for gain in gains])


def _row(gain: Gain, over: Interval) -> tuple[object, ...]:
    return (
        gain.configuration,
        gain.metric,
        gain.shortcut + " *" * gain.is_headline,
        gain.by,
        over.samples,
        f"{gain.full:.4f}",
        f"{gain.short:.4f}",
        f"{over.mean:+.4f}",
        bounds_text(over.low, over.high, "+.4f"),
        "-" if over.detectable is None else f"{over.detectable:.4f}",
    )


def sentences(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What the gains say of each configuration."""
    for verdict in verdicts:
        reasons = f" ({'; '.join(verdict.reasons)})" if verdict.reasons else ""
        if verdict.reads is None:
            yield f"{verdict.configuration}: whether the model reads it cannot be told{reasons}."
        elif verdict.reads:
            yield f"{verdict.configuration}: the model reads it: all gains are above 0."
        else:
            yield f"{verdict.configuration}: not shown to be read: some gains are not above 0{reasons}."
