"""Whole-paper scores: how well a model writes a paper, one part after the other left out.

Each task leaves one part of the paper out and asks for it; a paper that is in several tasks is scored by the mean over
them, as in K-fold cross-validation (future work of the AcademicEval paper).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import Any

METRICS = ("rouge_l", "bertscore")


def paper_scores(samples: Mapping[str, Sequence[Mapping[str, Any]]], metric: str) -> dict[str, float]:
    """Paper id -> its score, for the papers that are in at least two tasks.

    A task's score of a paper is the mean over the settings that were run, so that a task with many settings does not
    weigh more.

    Args:
        samples: lm-eval task name, such as `academiceval_abs_9k`, -> its logged samples.
    """
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, rows in samples.items():
        task = name.removeprefix("academiceval_").partition("_")[0]
        for row in rows:
            if isinstance(row.get(metric), int | float):
                found[row["doc"]["id"]][task].append(float(row[metric]))
    return {
        paper_id: fmean(fmean(values) for values in tasks.values())
        for paper_id, tasks in sorted(found.items())
        if len(tasks) > 1
    }


def summary(scores: Mapping[str, float]) -> tuple[float, float]:
    """Mean over the papers and its standard error; papers are independent, their tasks are not."""
    values = list(scores.values())
    return fmean(values), stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
