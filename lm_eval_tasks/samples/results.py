"""A file of results as a typed record: what `academiceval eval` writes, or lm-eval's own command."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from lm_eval_tasks.base.errors import SamplesError
from lm_eval_tasks.base.metadata import TEST, values
from lm_eval_tasks.base.text import ODD, day, parse_json
from lm_eval_tasks.base.typed import Count, number, typed
from lm_eval_tasks.families.registry import FAMILIES
from lm_eval_tasks.samples.block import FORMAT, OURS, Arguments, Block, RunRequest, Score

UNKNOWN = "unknown"  # round
RESULTS, JOURNAL = "results_", "journal.jsonl"
_COMMIT = re.compile(r"[0-9a-f]{40}")
_HASH = re.compile(r"[0-9a-f]{40,64}")
_HUB_ID = re.compile(r"\w[\w.-]{0,99}/\w[\w.-]{0,99}")
_SAMPLES_NAME = re.compile(r"samples_\w[\w.-]{0,299}\.jsonl")
_OUR_TASKS = tuple({task.name.partition("_")[0] + "_" for family in FAMILIES for task in family.tasks})
# A name of a model or a round that becomes a folder.
FOLDER_NAME = re.compile(r"\w[\w.-]{0,199}")


class _AskedModel(msgspec.Struct):
    model: str = ""
    model_args: object = None


class _LmEvals(msgspec.Struct, rename={"counts": "n-samples"}):
    """What a file of lm-eval's own command says of our tasks."""

    results: dict[str, dict[str, object]]
    configs: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, Count]]
    config: _AskedModel
    model_name: str | None = None


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
        block: what `academiceval eval` has added; None for lm-eval's own command.
        content: the whole file, to be written again with what is added to it.
    """

    path: Path
    model: str
    rounds: tuple[str, ...] = ()
    prompt_versions: tuple[int, ...] = ()
    scores: tuple[Score, ...] = ()
    dataset: str = ""
    revision: str = ""
    contents: str = ""
    seconds: float = 0
    engine: str = ""
    model_id: str = ""
    subsets: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    options: Arguments = field(default_factory=dict)
    block: Block | None = None
    content: Arguments = field(default_factory=dict)

    @property
    def run(self) -> RunRequest | None:
        """How the run was asked for; None for lm-eval's own command, which does not say it."""
        return self.block.run if self.block else None

    @property
    def files(self) -> Mapping[str, str]:
        """Name of each file of samples next to it -> sha256; empty if they are not known."""
        return self.block.files if self.block else {}

    def table(self, name: str) -> Arguments:
        """Return a table of lm-eval's part of the file, by task; empty if there is none."""
        table = self.content.get(name)
        return table if isinstance(table, Mapping) else {}

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
        pretrained = self.run.weights.get("pretrained") if self.run else None
        # The weights of a folder have a hash, those of the Hub a commit.
        is_local = pretrained is not None and not _COMMIT.fullmatch(pretrained)
        return self.model_id if _HUB_ID.fullmatch(self.model_id) and not is_local else ""

    @property
    def split(self) -> str:
        return str(self.options.get("split") or TEST)

    @property
    def cutoff(self) -> str | None:
        """The month up to which the model was trained; None if the run does not say it."""
        return self.run.model_cutoff if self.run else None

    @property
    def day(self) -> str:
        """When it was run, ISO; "" if it is not known."""
        return datetime.fromtimestamp(self.seconds, UTC).date().isoformat() if self.seconds else ""

    def subset_of(self, task: str) -> str:
        """Return the part of a task's samples that was run, "5 of 25"; "" for all of them."""
        subset = self.subsets.get(task)
        return f"{subset[0]} of {subset[1]}" if subset else ""


def read_results(path: Path) -> Results:
    """Read a file of results; a SamplesError if it is not one."""
    try:
        content = typed(dict[str, object], parse_json(path.read_text(encoding="utf-8-sig"), unique=True))
        results = _our_results(path, content) if OURS in content else _lm_eval_results(path, content)
        if not results.model.isprintable() or not 0 < len(results.model) <= 300:
            raise ValueError(f"a model called {results.model!r:.80}")
        if results.cutoff:
            day(f"{results.cutoff}-01")
    except (OSError, *ODD) as err:
        reason = str(err) if isinstance(err, ValueError | TypeError) else f"{type(err).__name__}: {err}"
        raise SamplesError(f"{path} is not a result of `academiceval eval` or lm_eval ({reason})") from err
    return replace(results, seconds=_seconds(content.get("date")), content=content)


def _model_id(arguments: object, label_: str) -> str:
    """Return the model that an engine was given; its label for a path."""
    given = arguments if isinstance(arguments, Mapping) else {}
    name = str(given.get("pretrained") or given.get("model") or "")
    return name if re.fullmatch(r"(?:\w[\w.-]{0,99}/)?\w[\w.-]{0,99}", name) else label_


def _seconds(date: object) -> float:
    """Return lm-eval's `date`, bounded; 0 if it is none."""
    with suppress(ValueError):
        return min(max(number(date), 0.0), 4e9)
    return 0.0


def _our_results(path: Path, content: Arguments) -> Results:
    block = _block(content[OURS])
    models = {score.model for score in block.scores}
    if len(models) != 1:
        raise ValueError(f"its scores are of {len(models)} models")
    [model] = models
    if len({(score.task, score.metric) for score in block.scores}) < len(block.scores):
        raise ValueError("a task has two scores by one metric")
    for name, digest in block.files.items():
        if not _SAMPLES_NAME.fullmatch(name) or not _HASH.fullmatch(digest):
            raise ValueError(f"{name!r:.80} is not a file of samples with its hash")
    options = {**block.run.metadata, **block.run.model_args}
    return Results(
        path,
        model,
        block.rounds,
        block.prompt_versions,
        block.scores,
        dataset=str(options.get("dataset") or ""),
        revision=next(filter(_COMMIT.fullmatch, block.datasets), ""),
        contents=next(filter(_HASH.fullmatch, block.datasets), ""),
        subsets=block.subsets,
        engine=block.run.model,
        model_id=_model_id(block.run.model_args, model),
        options=options,
        block=block,
    )


def _block(content: object) -> Block:
    """Read the block; a ValueError if it is of another format, or none."""
    found = content.get("format") if isinstance(content, Mapping) else None
    if found != FORMAT:
        raise ValueError(f"it is of format {found!r:.20}, and this release reads {FORMAT}: run it again")
    return typed(Block, _known(content, "run", "made_with"))


def _known(value: object, *tables: str) -> object:
    """Return a table without what it says nothing about, and likewise some tables in it: a field that is null has its default."""
    if not isinstance(value, Mapping):
        return value
    known = {key: entry for key, entry in value.items() if entry is not None}
    return {**known, **{name: _known(known[name]) for name in tables if name in known}}


def _lm_eval_results(path: Path, file: Arguments) -> Results:
    tables = {name: typed(dict[str, object], file[name]) for name in ("results", "configs", "n-samples")}
    tasks = [task for task in tables["results"] if task.startswith(_OUR_TASKS) and task in tables["configs"]]
    own = {name: {task: table[task] for task in tasks if task in table} for name, table in tables.items()}
    content = typed(_LmEvals, {**own, "config": file.get("config") or {}, "model_name": file.get("model_name")})
    full_name = content.model_name or content.config.model
    if not full_name:
        raise ValueError("it does not name its model")
    each = [typed(dict[str, object], content.configs[task].get("metadata") or {}) for task in tasks]
    named = [metadata["dataset_revision"] for metadata in each if metadata.get("dataset_revision")]
    revisions = sorted({str(values({"dataset_revision": name})["dataset_revision"]) for name in named})
    model = label(full_name.rstrip("/"))
    counts = {task: (content.counts[task]["effective"], content.counts[task]["original"]) for task in tasks}
    rounds = [name for name in revisions if name != "main" and not _COMMIT.fullmatch(name)]
    scores = [score for task in tasks for score in _scores_of(content, task, model)]
    dataset = next((str(metadata["dataset"]) for metadata in each if metadata.get("dataset")), "")
    return Results(
        path=path,
        model=model,
        rounds=tuple(rounds),
        scores=tuple(scores),
        dataset=dataset,
        revision=revisions[0] if len(revisions) == 1 and _COMMIT.fullmatch(revisions[0]) else "",
        # What lm-eval's --limit or --samples made smaller.
        subsets={task: n for task, n in counts.items() if n[0] < n[1]},
        engine=content.config.model,
        model_id=_model_id(content.config.model_args, model),
        options=dict(item for metadata in each for item in metadata.items()),
    )


def _scores_of(content: _LmEvals, task: str, model: str) -> Iterator[Score]:
    for metric, value in figures_of(content.results[task]):
        yield Score(model, task, metric, number(value), None, None, content.counts[task]["effective"])


def figures_of(table: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """Yield the metrics of a task in lm-eval's part, which writes `metric,filter`; its standard errors know no first authors."""
    for name, value in table.items():
        metric, _, filter_ = name.partition(",")
        if filter_ and not metric.endswith("_stderr") and isinstance(value, int | float):
            yield metric, value


def label(name: str) -> str:
    """Return what a model is called: `ORG-MODEL` for `ORG/MODEL`, and the last part of a folder's path."""
    # As opposed to `./MODEL`, `~/MODEL` and `/MODEL`.
    on_hub = re.fullmatch(r"[A-Za-z0-9][^/]*/[^/]+", name)
    return re.sub(r"[^\w.-]+", "-", name if on_hub else name.rstrip("/").rpartition("/")[2])


def cutoffs_of(assignments: Sequence[str], models: Collection[str]) -> dict[str, str]:
    """Return the model -> month up to which it was trained, from `MODEL=YYYY-MM` as typed, where a model is named as in tables or as its
    weights are; a SamplesError if one is something else.
    """
    cutoffs = {}
    for assignment in assignments:
        name, _, month = assignment.rpartition("=")
        model = name if name in models else label(name)
        if model not in models or not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", month):
            raise SamplesError(
                f"--cutoff {assignment!r:.200} is not MODEL=YYYY-MM with a model of these runs: {', '.join(sorted(models))}"
            )
        cutoffs[model] = month
    return cutoffs
