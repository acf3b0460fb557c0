"""A file of results that may be shown to others: its scores can be, and its names are fit for paths."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hub_scripts.errors import HubError
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.samples.results import Results, read_results

if TYPE_CHECKING:
    from lm_eval_tasks.samples.block import Score

_ROUNDING = 1e-6
# Becomes a folder in a repository.
_NAME = re.compile(r"\w[\w.-]{0,199}")


def checked_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is not one, has no score of our tasks or one that cannot be, or names that are no folders.
    """
    try:
        results = read_results(path)
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    if wrong := next((score for score in results.scores if not _can_be(score)), None):
        raise HubError(
            f"{path}: {wrong.task}, {wrong.metric}: {wrong.value} ({wrong.low} to {wrong.high}) over {wrong.samples} samples cannot be"
        )
    return results


def _can_be(score: Score) -> bool:
    metric = registry.find_metric(score.metric)
    is_share = metric is not None and metric.best == "higher"
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    return score.samples >= 1 and not (is_share and abs(score.value) > 1 + _ROUNDING) and low <= score.value <= high
