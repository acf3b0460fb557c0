"""Scores as readable tables: the headline metrics with their floors first, then the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lm_eval_tasks.core.intervals import NO_INTERVAL
from lm_eval_tasks.core.tables import Table, with_bounds
from lm_eval_tasks.metrics.registry import METRICS, find_metric, headline
from lm_eval_tasks.samples.results import Score
from lm_eval_tasks.stats.scores import UNCAPPED

_Rows = Mapping[tuple[str, str], Mapping[str, Score]]


def score_table(scores: Sequence[Score]) -> Iterator[str | Table]:
    """Markdown: headline scores with 95 % intervals and floors, and how prompts and answers fared; then all other scores."""
    if not scores:
        yield "no task has a score for this model"
        return
    rows: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        model = f"{score.model} + {score.retriever}" if score.retriever else score.model
        rows.setdefault((score.task, model), {})[score.metric] = score
    present = list(dict.fromkeys(score.metric for score in scores))
    main = [
        name for metric in METRICS if metric.headline for name in (metric.name, metric.name + UNCAPPED, *metric.floors)
    ]
    main += [metric.name for metric in METRICS if metric.rate]
    yield _table([name for name in main if name in present], rows, placed=True)
    others = [name for name in present if name not in main]
    if others:
        yield from ("", _table(others, rows))
    if any(" of " in _samples(_most(cells)) for cells in rows.values()):
        yield from ("", "If n is only a part of the samples, the scores are of a subset, not of the round.")
    if any(score.low is None for score in scores if score.metric in headline()):
        yield from (
            "",
            NO_INTERVAL,
        )


def _table(metrics: Sequence[str], rows: _Rows, *, placed: bool = False) -> Table:
    table_rows = [
        (
            task,
            model,
            _samples(most := _most(cells)),
            *([_placed(cells)] if placed else []),
            *(_cell(cells.get(metric), most) for metric in metrics),
        )
        for (task, model), cells in sorted(rows.items())
        if not cells.keys().isdisjoint(metrics)
    ]
    head = ("Task", "Model", "n", *(["placed"] if placed else []), *metrics)
    return Table(head, "llr" + "r" * (len(head) - 3), table_rows)


def _placed(cells: Mapping[str, Score]) -> str:
    """The score that models are ranked by, where 0 is its highest floor and 1 a perfect score; see `stats.placed`."""
    metric = next((metric for metric in METRICS if metric.headline and metric.name in cells), None)
    floor = max((cells[name].value for name in metric.zero if name in cells), default=None) if metric else None
    if metric is None or floor is None or floor >= 1:
        return "-"
    return f"{(cells[metric.name].value - floor) / (1 - floor):.3f}"


def _most(cells: Mapping[str, Score]) -> Score:
    """The score over the most samples, whose number the row shows."""
    return max(cells.values(), key=lambda score: score.samples)


def _samples(score: Score) -> str:
    """How many samples were scored, and out of how many if that is only a part."""
    return str(score.samples) if score.of in (None, score.samples) else f"{score.samples} of {score.of}"


def _cell(score: Score | None, most: Score) -> str:
    """A score, with the number of its samples if that is not the row's."""
    if score is None:
        return "-"
    metric = find_metric(score.metric)
    is_headline = metric is not None and metric.headline
    text = with_bounds(score.value, score.low if is_headline else None, score.high)
    return text if score.samples == most.samples else f"{text} (n {score.samples})"
