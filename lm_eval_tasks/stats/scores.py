"""Samples of a run -> its scores with intervals, and what a reader of them must know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.samples.block import Block, Score
from lm_eval_tasks.stats.by_place import by_length, by_place
from lm_eval_tasks.stats.columns import Column, columns_of
from lm_eval_tasks.stats.gains import gains_of

if TYPE_CHECKING:
    from lm_eval_tasks.llm.usage import UsageTotals
    from lm_eval_tasks.samples.block import MadeWith, RunRequest
    from lm_eval_tasks.samples.row import PromptRow
    from lm_eval_tasks.samples.sample import Sample

# Task, as lm-eval names it, -> its samples.
Samples = Mapping[str, Sequence["Sample"]]


def scores_of(samples: Samples, model: str) -> list[Score]:
    """All scores of a run.

    Args:
        model: its label.
    """
    return [
        _score(over, model, task, name, of_task[0].row)
        for task, of_task in sorted(samples.items())
        for name, over in columns_of(of_task).items()
    ]


def _score(over: Column, model: str, task: str, metric: str, row: PromptRow) -> Score:
    interval = over.interval()
    return Score(model, task, metric, interval.mean, interval.low, interval.high, over.n, row.retriever, row.of)


def block_of(samples: Samples, run: RunRequest, scores: Sequence[Score], usage: UsageTotals, made: MadeWith) -> Block:
    """What results say of a run besides lm-eval's own figures.

    Args:
        made: what made the answers.
    """
    rows = [sample.row for of_task in samples.values() for sample in of_task]
    # Samples whose score could not be computed are no part of a result.
    sizes = {
        task: (sum(sample.row.family.ranking in sample.scores for sample in of_task), of_task[0].row.of)
        for task, of_task in samples.items()
    }
    return Block(
        run=run,
        rounds=tuple(sorted({row.round for row in rows})),
        prompt_versions=tuple(sorted({row.prompt_version for row in rows})),
        scores=tuple(scores),
        subsets={task: (n, of) for task, (n, of) in sizes.items() if of is not None and of != n},
        datasets=tuple(sorted({row.dataset_revision for row in rows})),
        failures={task: count for task, of_task in samples.items() if (count := _failures(of_task))},
        lengths={task: bins for task, of_task in samples.items() if (bins := by_length(of_task))},
        places={task: thirds for task, of_task in samples.items() if (thirds := by_place(of_task))},
        gains=gains_of(sample for of_task in samples.values() for sample in of_task),
        usage=usage,
        made_with=made,
    )


def _failures(samples: Sequence[Sample]) -> dict[str, int]:
    """Metric -> of how many samples it could not be computed."""
    return dict(sorted(Counter(name for sample in samples for name in sample.failed).items()))
