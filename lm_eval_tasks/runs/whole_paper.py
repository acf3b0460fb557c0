"""Whole-paper scores: how well a model writes a paper, one part after the other left out.

Each task leaves one part of the paper out and asks for it; a paper that is in several tasks is scored by the mean over
them, as in K-fold cross-validation (future work of the AcademicEval paper).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lm_eval_tasks.runs.logged import Logged

_TASK = re.compile(r"^academiceval_(ralm_)?")


def paper_scores(samples: Mapping[str, Sequence[Logged]], metric: str) -> dict[str, float]:
    """Paper id -> its score, for the papers that are in at least two tasks.

    A task's score of a paper is the mean over the settings that were run, so that a task with many settings does not
    weigh more.

    Args:
        samples: lm-eval task name, such as `academiceval_abs_9k`, -> its logged samples.
    """
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for name, rows in samples.items():
        task = _TASK.sub("", name).partition("_")[0]
        for row in rows:
            if metric in row.scores:
                found[row.id][task].append(row.scores[metric])
    return {
        paper_id: fmean(fmean(values) for values in tasks.values())
        for paper_id, tasks in sorted(found.items())
        if len(tasks) > 1
    }
