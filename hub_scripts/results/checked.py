"""A file of results that may be shown to others: its scores can be, its names are fit for paths, and nothing is told of the machine."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hub_scripts.errors import HubError
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.families import registry
from lm_eval_tasks.samples.block import Score
from lm_eval_tasks.samples.results import FOLDER_NAME, Results, read_results
from lm_eval_tasks.samples.run_folder import samples_of
from lm_eval_tasks.samples.sample import read_file
from lm_eval_tasks.stats.scores import scores_of

_ROUNDING = 1e-6


def checked_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is not one, has no score of our tasks, one that cannot be or that its samples do not give, or names that are no
            folders.
    """
    try:
        results = read_results(path)
        samples = {task: list(read_file(file)) for task, file in samples_of(results).items()}
        again = {(score.task, score.metric): score.value for score in scores_of(samples, results.model)}
    except SamplesError as err:
        raise HubError(str(err)) from err
    if not all(map(FOLDER_NAME.fullmatch, (results.model, results.round))):
        raise HubError(f"{path}: {results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    if wrong := next((score for score in results.scores if not _can_be(score)), None):
        raise HubError(
            f"{path}: {wrong.task}, {wrong.metric}: {wrong.value} ({wrong.low} to {wrong.high}) over {wrong.samples} samples cannot be"
        )
    if edited := next((score for score in results.scores if _differs(score, again)), None):
        raise HubError(
            f"{path}: {edited.task}, {edited.metric}: {edited.value} is not what the samples beside it give; run `academiceval eval` again "
            "into this folder, which asks nothing twice"
        )
    return results


def _differs(score: Score, again: Mapping[tuple[str, str], float]) -> bool:
    """Whether the samples, where there are any, give another score."""
    key = (score.task, score.metric)
    return bool(again) and (key not in again or abs(again[key] - score.value) > _ROUNDING)


def _can_be(score: Score) -> bool:
    metric = registry.find_metric(score.metric)
    is_share = metric is not None and metric.best == "higher"
    low = score.value if score.low is None else score.low
    high = score.value if score.high is None else score.high
    return score.samples >= 1 and not (is_share and abs(score.value) > 1 + _ROUNDING) and low <= score.value <= high


# What lm-eval writes about the machine and the folder that it ran in.
_OF_MACHINE = ("pretty_env_info", "git_hash", "upper_git_hash")
# An address, but for that of the Hub; a path, of which the last part is kept.
_ADDRESS = re.compile(r"\bhttps?://(?!huggingface\.co/)[^\s,'\"<>]+", re.IGNORECASE)
_PATH = re.compile(r"(?<![\w:/.~-])(?:~|[A-Za-z]:)?[/\\](?:[^\s,'\"/\\]+[/\\])+([^\s,'\"/\\]*)")


def cleaned(path: Path) -> bytes:
    """The content of a file of results without addresses, paths and a description of the machine."""
    content = json.loads(path.read_text(encoding="utf-8-sig"))
    bare = {name: _clean(part) for name, part in content.items() if name not in _OF_MACHINE}
    return (json.dumps(bare, indent=2, ensure_ascii=False) + "\n").encode()


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _PATH.sub(r"\1", _ADDRESS.sub("(address)", value))
    if isinstance(value, dict):
        return {name: _clean(part) for name, part in value.items()}
    return [_clean(part) for part in value] if isinstance(value, list) else value
