"""Whether a result file says what its samples give."""

from collections.abc import Mapping
from pathlib import Path

from hub_scripts.errors import HubError
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.families.registry import find_metric
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import FOLDER_NAME, Results, figures_of, read_results
from lm_eval_tasks.samples.run_folder import samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats.scores import scores_of

_ROUNDING = 1e-6
# (task, metric) -> what was computed, or stated.
_Computed = Mapping[tuple[str, str], Score]
_Stated = Mapping[tuple[str, str], float]


def checked_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is no such file, has no score of our tasks, one that cannot be or that its samples do not give, or names that are no
            folders.
    """
    try:
        results = read_results(path)
        computed = _computed(results)
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(FOLDER_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    stated = _stated(results)
    for score in results.scores:
        if not _can_be(score):
            raise HubError(
                f"{path}: {score.task}, {score.metric}: {score.value} ({score.low} to {score.high}) over {score.samples} samples "
                "cannot be"
            )
        if _differs(score, computed, stated):
            raise HubError(
                f"{path}: {score.task}, {score.metric}: {score.value} over {score.samples} is not what the samples beside it "
                "give; run `academiceval eval` again into this folder, which asks nothing twice"
            )
    return results


def _computed(results: Results) -> _Computed:
    """Compute the scores of the samples beside the results; none where there are no samples."""
    samples = {task: list(read_file(file)) for task, file in samples_of(results).items()}
    computed = {}
    for score in scores_of(samples, results.model):
        computed[score.task, score.metric] = score
        # lm-eval has some metrics under two names.
        metric = find_metric(score.metric)
        if metric and metric.usual:
            computed[score.task, metric.usual] = score
    return computed


def _stated(results: Results) -> _Stated:
    """Read each number in lm-eval's part, in which a file of ours says it too."""
    return {
        (task, metric): value
        for task, table in results.table("results").items()
        if isinstance(table, Mapping)
        for metric, value in figures_of(table)
    }


def _differs(score: Score, computed: _Computed, stated: _Stated) -> bool:
    """Tell whether the samples, where there are any, give another score, or are not as many as it says; or lm-eval's part states
    another.
    """
    key = (score.task, score.metric)
    if not abs(stated.get(key, score.value) - score.value) <= _ROUNDING:  # NaN too
        return True
    if not computed:
        return False
    again = computed.get(key)
    if again is None or again.samples != score.samples:
        return True
    of_another = bool(score.of) and again.of != score.of
    return of_another or not abs(again.value - score.value) <= _ROUNDING


def _can_be(score: Score) -> bool:
    metric = find_metric(score.metric)
    is_share = metric is not None and metric.best == "higher"
    if score.samples < 1 or (is_share and abs(score.value) > 1 + _ROUNDING):
        return False
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    return low <= score.value <= high
