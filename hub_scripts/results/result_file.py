"""One file of results: what `academiceval eval` wrote, or lm-eval's own command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hub_scripts.errors import HubError
from lm_eval_tasks.core.metadata import TEST
from lm_eval_tasks.core.text import ODD, number, parse_json
from lm_eval_tasks.metrics import registry
from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL

UNKNOWN = "unknown"  # round
_ROUNDING = 1e-6
_Z95 = 1.959964
# Becomes a folder in a repository.
_NAME = re.compile(r"\w[\w.-]{0,199}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HUB_ID = re.compile(r"\w[\w.-]{0,99}/\w[\w.-]{0,99}")
_ID = re.compile(r"(?:\w[\w.-]{0,99}/)?\w[\w.-]{0,99}")


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
        seconds: when it was run, since 1970.
        engine: lm-eval's type of model, or the name of a baseline; "" if it is not known.
        contents: the dataset's revision as its tasks note it: 40 digits of the Hub, or the hash of a folder's manifest; "" likewise.
        scorer: the model of BERTScore; "" if it is not known.
        model_id: the model as its engine was given it, ORG/NAME for one of the Hub; else its label.
        subsets: tasks of which only a part was run, "academiceval_abs_9k (5 of 25)".
        options: of the tasks, as given in `--metadata`.
    """

    model: str
    round: str
    prompt_versions: tuple[int, ...]
    dataset: str
    scores: tuple[TaskScore, ...]
    subsets: tuple[str, ...] = ()
    revision: str = ""
    seconds: int = 0
    engine: str = ""
    model_id: str = ""
    contents: str = ""
    scorer: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hub_id(self) -> str:
        """The dataset on the Hub; "" if it was a folder."""
        on_hub = bool(_HUB_ID.fullmatch(self.dataset)) and (
            self.revision or not (self.contents or Path(self.dataset).exists())
        )
        return self.dataset if on_hub else ""

    @property
    def split(self) -> str:
        """The papers that the run asked about."""
        return str(self.options.get("split") or TEST)

    def is_partial(self, task: str) -> bool:
        """Whether only a part of a task's samples was run."""
        return any(one.startswith(f"{task} ") for one in self.subsets)

    @property
    def day(self) -> str:
        """When it was run, ISO; "" if it is not known."""
        return datetime.fromtimestamp(self.seconds, UTC).date().isoformat() if self.seconds else ""


def read_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        HubError: it is not one, or has no score of our tasks.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
        results = _ours(content["academiceval"]) if "academiceval" in content else _lm_evals(content)
        engine, name = _model_of(content)
        results = replace(results, seconds=_seconds(content.get("date")), engine=engine, model_id=name or results.model)
        if not all(map(_NAME.fullmatch, (results.model, results.round))):
            raise ValueError(f"{results.model!r:.80} and {results.round!r:.80} are not names of a model and a round")
    except (OSError, *ODD) as err:
        raise HubError(
            f"{path} is not a result of `academiceval eval` or lm_eval ({type(err).__name__}: {err})"
        ) from err
    if not results.scores:
        raise HubError(f"{path} is not a result of our tasks: it has no score of academiceval_*, scalar_* or cloze_*")
    return results


def _seconds(date: object) -> int:
    """lm-eval's `date`, bounded."""
    return int(min(max(number(date) if isinstance(date, int | float) else 0.0, 0.0), 4e9))


def _model_of(content: Mapping[str, Any]) -> tuple[str, str]:
    """The engine, and the model that it was given; "" for a path."""
    run = content.get("academiceval", {}).get("run") or content.get("config") or {}
    given = run.get("model_args")
    arguments = given if isinstance(given, Mapping) else {}
    name = str(arguments.get("pretrained") or arguments.get("model") or "")
    return str(run.get("model") or ""), name if _ID.fullmatch(name) else ""


def _ours(content: Mapping[str, Any]) -> Results:
    models = {str(one["model"]) for one in content["scores"]}
    if len(models) != 1:
        raise ValueError(f"its scores are of {len(models)} models")
    if not isinstance(content["rounds"], list):
        raise TypeError("`rounds` is not a list")
    scores = tuple(
        _checked(
            TaskScore(
                str(one["task"]),
                str(one["metric"]),
                number(one["value"]),
                None if one["low"] is None else number(one["low"]),
                None if one["high"] is None else number(one["high"]),
                int(number(one["samples"])),
            )
        )
        for one in content["scores"]
    )
    if len({(one.task, one.metric) for one in scores}) < len(scores):
        raise ValueError("a task has two scores by one metric")
    options = _options(content["run"])
    return Results(
        models.pop(), "-".join(map(str, content["rounds"])) or UNKNOWN,
        tuple(int(number(one)) for one in content["prompt_versions"]),
        str(options.get("dataset") or ""), scores,
        tuple(f"{task} ({int(number(n))} of {int(number(of))})" for task, (n, of) in content.get("subsets", {}).items()),
        next((str(one) for one in content.get("datasets", ()) if _COMMIT.fullmatch(str(one))), ""),
        contents=next((str(one) for one in content.get("datasets", ()) if re.fullmatch(r"[0-9a-f]{40,64}", str(one))), ""),
        scorer=str(options.get("bertscore_model") or DEFAULT_MODEL), options=options,
    )  # fmt: skip


def _options(run: Mapping[str, Any]) -> dict[str, Any]:
    """What the tasks read: the metadata, and what was given among the model's arguments."""
    return {**run["metadata"], **(run["model_args"] if isinstance(run.get("model_args"), dict) else {})}


def _checked(one: TaskScore) -> TaskScore:
    """The score, if it can be one.

    Raises:
        ValueError: it cannot.
    """
    metric = registry.named(one.metric)
    is_share = metric is not None and metric.best == "higher"
    around = (one.value if one.low is None else one.low, one.value, one.value if one.high is None else one.high)
    if one.samples < 1 or (is_share and abs(one.value) > 1 + _ROUNDING) or sorted(around) != list(around):
        raise ValueError(
            f"{one.task}, {one.metric}: {one.value} ({one.low} to {one.high}) over {one.samples} samples cannot be"
        )
    return one


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
    label = re.sub(r"[^\w.-]+", "-", str(model).rstrip("/").rpartition("/")[2])
    options = {name: value for one in given for name, value in one.items()}
    names = [one for one in rounds if one != "main" and not _COMMIT.fullmatch(one)]
    return Results(
        label, "-".join(names) or UNKNOWN, (), dataset, scores, tuple(_limited(content, tasks)),
        revision=rounds[0] if len(rounds) == 1 and _COMMIT.fullmatch(rounds[0]) else "", options=options,
    )  # fmt: skip


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
            yield _checked(
                TaskScore(task, metric, value, low, high, int(number(content["n-samples"][task]["effective"])))
            )
