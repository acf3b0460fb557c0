"""One file of results: what `academiceval eval` wrote, or lm-eval's own command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hub_scripts.errors import HubError
from lm_eval_tasks.text import ODD, number, parse_json

_Z95 = 1.959964
# Becomes a folder in a repository.
_NAME = re.compile(r"\w[\w.-]{0,199}")


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One score of a task; `low` and `high` are None if the file has no interval."""

    task: str
    metric: str
    value: float
    low: float | None
    high: float | None
    samples: int


@dataclass(frozen=True, slots=True)
class Results:
    """What a file says.

    Attributes:
        round: "unknown" if it is not known; several are joined by "-".
        dataset: folder or Hub id, "" if it is not known.
        revision: the dataset's 40 digits on the Hub, "" if they are not known.
        day: when it was run, ISO.
        subsets: tasks of which only a part was run, "academiceval_abs_9k (5 of 25)".
    """

    model: str
    round: str
    prompt_versions: tuple[int, ...]
    dataset: str
    scores: tuple[TaskScore, ...]
    subsets: tuple[str, ...] = ()
    revision: str = ""
    day: str = "1970-01-01"


def read_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is not one, or has no score of our tasks.
    """
    try:
        content = parse_json(path.read_bytes())
        results = _ours(content["academiceval"]) if "academiceval" in content else _lm_evals(content)
        results = replace(results, day=_day(content.get("date")))
        if not all(map(_NAME.fullmatch, (results.model, results.round))):
            raise ValueError(f"{results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    except (OSError, *ODD) as err:
        raise HubError(
            f"{path} is not a result of `academiceval eval` or lm_eval ({type(err).__name__}: {err})"
        ) from err
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    return results


def _day(date: object) -> str:
    """The day of lm-eval's `date`, which is in seconds."""
    seconds = number(date) if isinstance(date, int | float) else 0.0
    return datetime.fromtimestamp(min(max(seconds, 0.0), 4e9), UTC).date().isoformat()


def _ours(content: Mapping[str, Any]) -> Results:
    scores = tuple(
        TaskScore(
            str(one["task"]),
            str(one["metric"]),
            number(one["value"]),
            None if one["low"] is None else number(one["low"]),
            None if one["high"] is None else number(one["high"]),
            int(number(one["samples"])),
        )
        for one in content["scores"]
    )
    return Results(
        str(content["scores"][0]["model"]), "-".join(map(str, content["rounds"])) or "unknown",
        tuple(int(number(one)) for one in content["prompt_versions"]),
        str(content["run"]["metadata"].get("dataset") or ""), scores,
        tuple(f"{task} ({int(number(n))} of {int(number(of))})" for task, (n, of) in content.get("subsets", {}).items()),
        next((str(one) for one in content.get("datasets", ()) if re.fullmatch(r"[0-9a-f]{40}", str(one))), ""),
    )  # fmt: skip


def _lm_evals(content: Mapping[str, Any]) -> Results:
    tasks = [
        task
        for task in content["results"]
        if task.startswith(("academiceval_", "scalar_", "cloze_")) and task in content["configs"]
    ]
    given = [content["configs"][task].get("metadata") or {} for task in tasks]
    rounds = sorted({str(one["dataset_revision"]) for one in given if one.get("dataset_revision")})
    model = content.get("model_name") or content["config"]["model"]
    scores = tuple(score for task in tasks for score in _scores_of(content, task))
    dataset = next((str(one["dataset"]) for one in given if one.get("dataset")), "")
    label = str(model).rstrip("/").rpartition("/")[2]
    return Results(label, "-".join(rounds) or "unknown", (), dataset, scores, tuple(_limited(content, tasks)))


def _limited(content: Mapping[str, Any], tasks: Sequence[str]) -> Iterator[str]:
    """The tasks that lm-eval's --limit or --samples made smaller."""
    for task in tasks:
        counts = content["n-samples"][task]
        if number(counts["effective"]) < number(counts["original"]):
            yield f"{task} ({int(counts['effective'])} of {int(counts['original'])})"


def _scores_of(content: Mapping[str, Any], task: str) -> Iterator[TaskScore]:
    """lm-eval writes `metric,filter`, and next to it a standard error or "N/A"."""
    for name, value in content["results"][task].items():
        metric, _, filter_ = name.partition(",")
        if filter_ and not metric.endswith("_stderr") and isinstance(value, int | float):
            value = number(value)
            error = content["results"][task].get(f"{metric}_stderr,{filter_}")
            spread = _Z95 * number(error) if isinstance(error, int | float) else None
            low, high = (None, None) if spread is None else (value - spread, value + spread)
            yield TaskScore(task, metric, value, low, high, int(number(content["n-samples"][task]["effective"])))
