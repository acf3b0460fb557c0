"""Whole-paper scores: how well a model writes a paper, one part after the other left out.

Each part is a fold that is left out and asked for; a paper's score is the mean over its folds (K-fold cross-validation, appendix B of
the AcademicEval paper). The folds are the tasks that contain the paper; if every section was asked for, these are the
folds, besides title and abstract, which are not sections.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from lm_eval_tasks.core.row_format import paper_of

if TYPE_CHECKING:
    from lm_eval_tasks.samples.logged import Logged

_TASK = re.compile(r"^academiceval_(ralm_|tiny_)?")
_SECTIONS = "sections"
# Tasks whose targets are sections.
_ARE_SECTIONS = ("intro", "related")


def paper_scores(samples: Mapping[str, Sequence[Logged]], metric: str) -> dict[str, float]:
    """Paper id -> its score, for the papers that have at least two folds.

    A fold's score is the mean over the settings that were run, so that a task with many settings does not weigh more.

    Args:
        samples: lm-eval task name, such as `academiceval_abs_9k`, -> its logged samples.
    """
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    tasks = {name: _TASK.sub("", name).partition("_")[0] for name in samples}
    left_out = _ARE_SECTIONS if _SECTIONS in tasks.values() else ()
    for name, rows in samples.items():
        if tasks[name] in left_out:
            continue
        for row in rows:
            if metric in row.scores:
                fold = row.id if tasks[name] == _SECTIONS else tasks[name]
                found[paper_of(row.id)][fold].append(row.scores[metric])
    return {
        paper_id: fmean(fmean(values) for values in folds.values())
        for paper_id, folds in sorted(found.items())
        if len(folds) > 1
    }
