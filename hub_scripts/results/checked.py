"""Whether a result file can be published: its numbers can be, and are what its samples give."""

import math
from pathlib import Path

from hub_scripts.errors import HubError
from lm_eval_tasks.base.contract import MANIFEST
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.families.registry import METRICS
from lm_eval_tasks.families.rounds import read_manifest
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import FOLDER_NAME, Results, read_results
from lm_eval_tasks.stats.opened import check_against, open_run

_ROUNDING = 1e-6


def checked_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is no such file, has no score of our tasks, one that cannot be or that its samples do not give, or names that are no
            folders.
    """
    try:
        results = read_results(path)
        open_run(results)
        folder = Path(results.dataset or "nowhere").expanduser()
        # As it was when it was run.
        if (folder / MANIFEST).is_file() and sha256_of(folder / MANIFEST) == results.contents:
            check_against(results, read_manifest(folder))
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(FOLDER_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    for score in results.scores:
        if not _can_be(score):
            raise HubError(
                f"{path}: {score.task}, {score.metric}: {score.value} ({score.low} to {score.high}) over {score.samples} samples "
                "cannot be"
            )
    return results


def _can_be(score: Score) -> bool:
    """Tell whether a score is over some sample, within the limits of its metric, and in its interval."""
    metric = next((metric for metric in METRICS if score.metric in (metric.name, metric.usual)), None)
    least, greatest = (metric and metric.limits) or (-math.inf, math.inf)
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    is_within = least - _ROUNDING <= score.value <= greatest + _ROUNDING
    return score.samples >= 1 and is_within and low <= score.value <= high
