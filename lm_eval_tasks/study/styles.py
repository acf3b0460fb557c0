"""Do models score higher on text that models wrote? Papers are ordered by marker words in their abstracts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.core.tables import Table, bounds_text
from lm_eval_tasks.stats.columns import column
from lm_eval_tasks.study.estimates import around, mean

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample

_FEWEST_OF_A_THIRD = 3
_HEAD = ("Model", "Task", "Fewest marker words", "Middle", "Most", "Most - fewest", "95% interval")


def table(runs: Mapping[str, Sequence[Sample]], metric: str) -> Table:
    """A row for each model and task: mean scores of the thirds of the papers that read least, and most, as if a language model
    had written them.

    Args:
        runs: model -> its samples.
    """
    return Table(_HEAD, "llrrrrr", [row for model, samples in runs.items() for row in _rows(model, samples, metric)])


def _rows(model: str, samples: Sequence[Sample], metric: str) -> Iterator[tuple[str, ...]]:
    for task in dict.fromkeys(sample.task for sample in samples):
        thirds = by_style([sample for sample in samples if sample.task == task], metric)
        if thirds:
            means, difference, bounds = thirds
            yield (
                model,
                task,
                *(f"{value:.4f}" for value in means),
                f"{difference:+.4f}",
                _interval(bounds),
            )


def _interval(bounds: tuple[float, float] | None) -> str:
    return bounds_text(*bounds, form="+.4f") if bounds else "-"


def by_style(samples: Sequence[Sample], metric: str) -> tuple[list[float], float, tuple[float, float] | None] | None:
    """The mean scores of the thirds, the last third's minus the first's, and its 95 % interval; None with fewer than nine papers."""
    entries = [(s.row.marker_words, s.id, s) for s in samples if s.row.marker_words is not None and metric in s.scores]
    ordered = [sample for _, _, sample in sorted(entries, key=lambda entry: entry[:2])]
    third = len(ordered) // 3
    if third < _FEWEST_OF_A_THIRD:
        return None
    parts = (ordered[:third], ordered[third : len(ordered) - third], ordered[len(ordered) - third :])
    columns = [column(metric, [(s.id, s.scores[metric], s.cluster) for s in part]) for part in parts]
    estimates = [mean(score_column.pairs()) for score_column in columns if score_column]
    difference = estimates[-1].value - estimates[0].value
    return [estimate.value for estimate in estimates], difference, around(difference, [estimates[-1], estimates[0]])
