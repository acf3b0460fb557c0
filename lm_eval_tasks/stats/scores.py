"""Samples of a run -> its scores with intervals, and what a reader of them must know."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.families.every import FAMILIES
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.samples.block import Block, Score
from lm_eval_tasks.stats.by_place import by_length, by_place
from lm_eval_tasks.stats.columns import Column, column, columns_of
from lm_eval_tasks.stats.gains import gains_of

if TYPE_CHECKING:
    from lm_eval_tasks.llm.usage import UsageTotals
    from lm_eval_tasks.samples.block import MadeWith, RunRequest
    from lm_eval_tasks.samples.row import PromptRow
    from lm_eval_tasks.samples.sample import Sample

# Task, as lm-eval names it, -> its samples.
Samples = Mapping[str, Sequence["Sample"]]
WHOLE_PAPER = "whole paper"
_TASK = re.compile(r"^academiceval_(core_)?(tiny_)?")
_SECTIONS = "sections"
_WRITING = [name for family in FAMILIES if family.board == "writing" for name in family.headline]
# Tasks whose targets are sections.
_ARE_SECTIONS = ("intro", "related")


def scores_of(samples: Samples, model: str) -> list[Score]:
    """All scores of a run.

    Args:
        model: its label.
    """
    return [*_task_scores(samples, model), *_paper_scores(samples, model)]


def block_of(samples: Samples, run: RunRequest, scores: Sequence[Score], usage: UsageTotals, made: MadeWith) -> Block:
    """What results say of a run besides lm-eval's own figures.

    Args:
        made: what made the answers.
    """
    rows = [sample.row for of_task in samples.values() for sample in of_task]
    sizes = {task: (len(of_task), next((s.row.of for s in of_task), None)) for task, of_task in samples.items()}
    return Block(
        run=run,
        rounds=tuple(sorted({row.round for row in rows})),
        prompt_versions=tuple(sorted({row.prompt_version for row in rows})),
        scores=tuple(scores),
        subsets={task: (n, of) for task, (n, of) in sizes.items() if of is not None and of != n},
        datasets=tuple(sorted({row.dataset_revision for row in rows})),
        months={task: means_by(lambda row: row.published[:7], of_task) for task, of_task in samples.items()},
        licenses={task: means_by(lambda row: row.license, of_task) for task, of_task in samples.items()},
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


def means_by(key: Callable[[PromptRow], str], samples: Sequence[Sample]) -> dict[str, dict[str, float]]:
    """What a key says of rows, such as their month of publication, -> number of samples and mean headline scores."""
    parts: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        parts[key(sample.row)].append(sample)
    return {
        name: {
            "samples": len(part),
            **{
                metric: metric_column.mean
                for metric, metric_column in columns_of(part).items()
                if metric in registry.headline()
            },
        }
        for name, part in sorted(parts.items())
    }


def _task_scores(samples: Samples, model: str) -> Iterator[Score]:
    for task, of_task in sorted((task, of_task) for task, of_task in samples.items() if of_task):
        columns = columns_of(of_task)
        row = of_task[0].row
        for name, metric_column in columns.items():
            yield _score(metric_column, model, task, name, row.retriever, row.of)


def _score(over: Column, model: str, task: str, name: str, retriever: str = "", of: int | None = None) -> Score:
    interval = over.interval()
    return Score(model, task, name, interval.mean, interval.low, interval.high, over.n, retriever, of)


# --- whole papers


def _paper_scores(samples: Samples, model: str) -> Iterator[Score]:
    """The mean over papers that are in several of the tasks that were run; nothing if there are none."""
    authors = {sample.row.paper: sample.cluster for of_task in samples.values() for sample in of_task}
    for metric in _WRITING:
        papers = paper_scores(samples, metric)
        if over := column(metric, [(paper, score, authors[paper]) for paper, score in papers.items()]):
            interval = over.interval()
            yield Score(model, WHOLE_PAPER, metric, interval.mean, interval.low, interval.high, interval.samples)


def paper_scores(samples: Samples, metric: str) -> dict[str, float]:
    """Paper id -> how well a model writes the paper, one part after the other left out; for papers with at least two parts.

    Each part is a fold that is left out and asked for; a paper's score is the mean over its folds (K-fold
    cross-validation, appendix B of the AcademicEval paper). The folds are the tasks that contain the paper; if every
    section was asked for, these are the folds, besides title and abstract, which are not sections. A fold's score is
    the mean over the settings that were run, so that a task with many settings does not weigh more.

    Args:
        samples: lm-eval task name, such as `academiceval_abs_9k`, -> its samples.
    """
    tasks = {name: _TASK.sub("", name).partition("_")[0] for name in samples}
    left_out = _ARE_SECTIONS if _SECTIONS in tasks.values() else ()
    papers: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, of_task in samples.items():
        if tasks[name] in left_out:
            continue
        for sample in of_task:
            if metric in sample.scores and not sample.row.shown:
                fold = sample.id if tasks[name] == _SECTIONS else tasks[name]
                papers[sample.row.paper][fold].append(sample.scores[metric])
    return {
        paper: fmean(fmean(scores) for scores in folds.values())
        for paper, folds in sorted(papers.items())
        if len(folds) > 1
    }
