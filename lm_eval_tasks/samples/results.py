"""A file of results as a typed record: what `academiceval eval` writes, or lm-eval's own command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lm_eval_tasks.base import gone
from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.metadata import TEST
from lm_eval_tasks.base.text import ODD, day, number, number_or_none, parse_json
from lm_eval_tasks.families import FAMILIES
from lm_eval_tasks.samples.labels import label

UNKNOWN = "unknown"  # round
# The block that we add to lm-eval's results.
OURS = "academiceval"
RESULTS = "results_"
_Z95 = 1.959964
_LONGEST_NAME = 300
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"[0-9a-f]{40,64}")
_HUB_ID = re.compile(r"\w[\w.-]{0,99}/\w[\w.-]{0,99}")
_ID = re.compile(r"(?:\w[\w.-]{0,99}/)?\w[\w.-]{0,99}")
_SAMPLES_NAME = re.compile(r"samples_\w[\w.-]{0,299}\.jsonl")
_OUR_TASKS = tuple({task.name.partition("_")[0] + "_" for family in FAMILIES for task in family.tasks})


@dataclass(frozen=True, slots=True)
class Score:
    """One number of a run: the mean over the samples that have it, and its 95 % interval, clustered by first authors.

    Attributes:
        low, high: None if there is no interval.
        samples: how many have it.
        retriever: what chose the chunks of a retrieval task, "" for the other tasks.
        of: how many samples the task has in all; None if it is not known.
    """

    model: str
    task: str
    metric: str
    value: float
    low: float | None
    high: float | None
    samples: int
    retriever: str = ""
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """What a file says.

    Attributes:
        rounds: () if they are not known.
        scores: of our tasks.
        dataset: folder or Hub id, "" if it is not known.
        revision: the dataset's 40 digits on the Hub, "" if they are not known.
        contents: the dataset's revision as its tasks note it: 40 digits of the Hub, or the hash of a folder's manifest; "" likewise.
        seconds: when it was run, since 1970; 0 if that is not known.
        engine: lm-eval's type of model, or the name of a baseline; "" if it is not known.
        model_id: the model as its engine was given it, ORG/NAME for one of the Hub; else its label.
        subsets: task -> how many of its samples were run and how many there are, for tasks of which only a part was run.
        options: of the tasks, as given in `--metadata` and among the model's arguments.
        run: how the run was asked for; empty for lm-eval's own command, which does not say it.
        runs: the runs that brought the results, see `written.Block`; () if they are not known.
        files: name of each file of samples next to it -> sha256; empty if they are not known.
        content: the whole file.
    """

    path: Path
    model: str
    rounds: tuple[str, ...] = ()
    prompt_versions: tuple[int, ...] = ()
    scores: tuple[Score, ...] = ()
    dataset: str = ""
    revision: str = ""
    contents: str = ""
    seconds: int = 0
    engine: str = ""
    model_id: str = ""
    subsets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    run: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[Mapping[str, Any], ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def round(self) -> str:
        """The round, several joined by "-"; "unknown" if it is not known."""
        return "-".join(self.rounds) or UNKNOWN

    @property
    def hub_id(self) -> str:
        """The dataset on the Hub; "" if it was a folder."""
        on_hub = bool(_HUB_ID.fullmatch(self.dataset)) and (
            self.revision or not (self.contents or Path(self.dataset).exists())
        )
        return self.dataset if on_hub else ""

    @property
    def hub_model(self) -> str:
        """The model on the Hub, ORG/NAME; "" for a folder, or if that is not known."""
        weights = self.run.get("weights")
        pretrained = weights.get("pretrained") if isinstance(weights, Mapping) else None
        # The weights of a folder have a hash, those of the Hub a commit.
        is_local = isinstance(pretrained, str) and not _COMMIT.fullmatch(pretrained)
        return self.model_id if _HUB_ID.fullmatch(self.model_id) and not is_local else ""

    @property
    def split(self) -> str:
        """The papers that the run asked about."""
        return str(self.options.get("split") or TEST)

    @property
    def cutoff(self) -> str | None:
        """The month up to which the model was trained; None if the run does not say it."""
        month = self.run.get("model_cutoff")
        return str(month) if month else None

    @property
    def cost(self) -> float | None:
        """What the answers cost, in the unit of the price table; None if that is not known."""
        usage = self.ours.get("usage")
        cost = usage.get("cost") if isinstance(usage, Mapping) else None
        return None if cost is None else number(cost)

    @property
    def ours(self) -> Mapping[str, Any]:
        """What `academiceval eval` has added to lm-eval's results; empty for lm-eval's own command."""
        block = self.content.get(OURS, {})
        return block if isinstance(block, Mapping) else {}

    @property
    def day(self) -> str:
        """When it was run, ISO; "" if it is not known."""
        return datetime.fromtimestamp(self.seconds, UTC).date().isoformat() if self.seconds else ""

    def seconds_of(self, task: str) -> int:
        """When a task was run, since 1970; 0 if that is not known."""
        return next((_seconds(run["date"]) for run in self.runs if task in run["tasks"]), self.seconds)

    def subset_of(self, task: str) -> str:
        """The part of a task's samples that was run, "5 of 25"; "" for all of them."""
        part = self.subsets.get(task)
        return f"{part[0]} of {part[1]}" if part else ""


def read_results(path: Path) -> Results:
    """Read a file of results.

    Raises:
        SamplesError: it is not one.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
        results = _our_results(path, content) if OURS in content else _lm_eval_results(path, content)
        engine, name = _model_of(content)
        if not results.model.isprintable() or not 0 < len(results.model) <= _LONGEST_NAME:
            raise ValueError(f"a model called {results.model!r:.80}")
        if results.cutoff:
            day(f"{results.cutoff}-01")
        cost, seconds = results.cost, _seconds(content.get("date"))
        if cost is not None and cost < 0:
            raise ValueError(f"a cost of {cost}")
    except (OSError, *ODD) as err:
        reason = str(err) if isinstance(err, ValueError | TypeError) else f"{type(err).__name__}: {err}"
        raise SamplesError(f"{path} is not a result of `academiceval eval` or lm_eval ({reason})") from err
    scores = tuple(score for score in results.scores if not gone.is_score(score.task, score.metric))
    return replace(
        results, scores=scores, seconds=seconds, engine=engine, model_id=name or results.model, content=content
    )


def _seconds(date: object) -> int:
    """lm-eval's `date`, bounded."""
    return int(min(max(number_or_none(date) or 0, 0), 4e9))


def _model_of(content: Mapping[str, Any]) -> tuple[str, str]:
    """The engine, and the model that it was given; "" for a path."""
    block = content.get(OURS) or {}
    run = block.get("run") or content.get("config") or {}
    arguments = run.get("model_args")
    model_args = arguments if isinstance(arguments, Mapping) else {}
    name = str(model_args.get("pretrained") or model_args.get("model") or "")
    return str(run.get("model") or ""), name if _ID.fullmatch(name) else ""


def _our_results(path: Path, content: Mapping[str, Any]) -> Results:
    block = content[OURS]
    models = {str(score["model"]) for score in block["scores"]}
    if len(models) != 1:
        raise ValueError(f"its scores are of {len(models)} models")
    if not isinstance(block["rounds"], list):
        raise TypeError("`rounds` is not a list")
    run = block["run"]
    if not isinstance(run, Mapping):
        raise TypeError("`run` is not an object")
    arguments = run.get("model_args")
    options = {**run["metadata"], **(arguments if isinstance(arguments, dict) else {})}
    scores = tuple(map(_score, block["scores"]))
    if len({(score.task, score.metric) for score in scores}) < len(scores):
        raise ValueError("a task has two scores by one metric")
    revisions = [str(revision) for revision in block.get("datasets", ())]
    return Results(
        path,
        models.pop(),
        tuple(map(str, block["rounds"])),
        tuple(int(number(version)) for version in block["prompt_versions"]),
        scores,
        dataset=str(options.get("dataset") or ""),
        revision=next(filter(_COMMIT.fullmatch, revisions), ""),
        contents=next(filter(_HASH.fullmatch, revisions), ""),
        subsets={task: (int(number(n)), int(number(of))) for task, (n, of) in block.get("subsets", {}).items()},
        options=options,
        run=run,
        runs=tuple(map(_run, block.get("runs", ()))),
        files=dict(map(_samples_file, block.get("files", {}).items())),
    )


def _samples_file(entry: tuple[object, object]) -> tuple[str, str]:
    name, digest = map(str, entry)
    if not _SAMPLES_NAME.fullmatch(name) or not _HASH.fullmatch(digest):
        raise ValueError(f"{name!r:.80} is not a file of samples with its hash")
    return name, digest


def _run(content: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(content["usage"], Mapping):
        raise TypeError("the usage of a run is not an object")
    return {"tasks": list(map(str, content["tasks"])), "date": content["date"], "usage": content["usage"]}


def _score(content: Mapping[str, Any]) -> Score:
    low = None if content["low"] is None else number(content["low"])
    high = None if content["high"] is None else number(content["high"])
    of = content.get("of")
    return Score(
        str(content["model"]),
        str(content["task"]),
        str(content["metric"]),
        number(content["value"]),
        low,
        high,
        int(number(content["samples"])),
        str(content.get("retriever") or ""),
        None if of is None else int(number(of)),
    )


def _lm_eval_results(path: Path, content: Mapping[str, Any]) -> Results:
    tasks = [task for task in content["results"] if task.startswith(_OUR_TASKS) and task in content["configs"]]
    options: dict[str, Any] = {}
    for task in tasks:
        options |= content["configs"][task].get("metadata") or {}
    each = [content["configs"][task].get("metadata") or {} for task in tasks]
    revisions = sorted({str(metadata["dataset_revision"]) for metadata in each if metadata.get("dataset_revision")})
    full_name = str(content.get("model_name") or content["config"]["model"]).rstrip("/")
    model = label(full_name)
    return Results(
        path,
        model,
        tuple(name for name in revisions if name != "main" and not _COMMIT.fullmatch(name)),
        scores=tuple(score for task in tasks for score in _scores_of(content, task, model)),
        dataset=next((str(metadata["dataset"]) for metadata in each if metadata.get("dataset")), ""),
        revision=revisions[0] if len(revisions) == 1 and _COMMIT.fullmatch(revisions[0]) else "",
        subsets=dict(_subsets(content, tasks)),
        options=options,
    )


def _subsets(content: Mapping[str, Any], tasks: Sequence[str]) -> Iterator[tuple[str, tuple[int, int]]]:
    """The tasks that lm-eval's --limit or --samples made smaller."""
    for task in tasks:
        counts = content["n-samples"][task]
        effective, original = int(number(counts["effective"])), int(number(counts["original"]))
        if effective < original:
            yield task, (effective, original)


def _scores_of(content: Mapping[str, Any], task: str, model: str) -> Iterator[Score]:
    """lm-eval writes `metric,filter`, and next to it a standard error or "N/A"."""
    for name, value in content["results"][task].items():
        metric, _, filter_ = name.partition(",")
        if filter_ and not metric.endswith("_stderr") and isinstance(value, int | float):
            mean = number(value)
            error = content["results"][task].get(f"{metric}_stderr,{filter_}")
            spread = _Z95 * number(error) if isinstance(error, int | float) else None
            low, high = (None, None) if spread is None else (mean - spread, mean + spread)
            samples = int(number(content["n-samples"][task]["effective"]))
            yield Score(model, task, metric, mean, low, high, samples)
