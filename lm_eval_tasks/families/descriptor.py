"""What a family of tasks is, and what it consists of; each folder here describes one in its `FAMILY`."""

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Self

from lm_eval_tasks.base.contract import FULL, GENERATED, Context, Way

# No number averages over both, see `families.registry`.
Board = Literal["writing", "reading"]
Best = Literal["higher", "lower", "one", "neither"]
# Standard deviation, from one question to the next, of the difference between two models that disagree on three questions in ten.
SPREAD_OF_CHOICES = 0.55
FAMILIES_FOLDER = Path(__file__).parent


def slug_of(name: str) -> str:
    """Return a configuration's name as names of tasks write it: "intro_28k_g" for "Intro-28K-G"."""
    return name.lower().replace("-", "_")


@dataclass(frozen=True, slots=True)
class Configuration:
    """One configuration of the dataset.

    Attributes:
        name: e.g. "Intro-28K-G".
        task: what it asks for, as manifests call it: "intro", "cloze", "walk".
    """

    name: str
    task: str


@dataclass(frozen=True, slots=True)
class Target:
    """What a family asks for; of questions one thing.

    Attributes:
        name: as prompts and rows call it: their prompt files' names begin with it.
        label: for display.
        answer_tokens: that the context leaves for the answer.
        shorter: with how much less to read it is asked.
        headline: the shorter context that the full one is compared with first.
        task: as manifests call it, "" for its name.
        refine: what is scored of a text, from it and the paper's own; None if that is not a text.
        spread: standard deviation, from one paper to the next, of the difference between two models. Texts: between two baselines
            over 78 real papers (29 for related work).
        measured_in: what the difference is of, for display.
    """

    name: str
    label: str
    answer_tokens: int
    shorter: tuple[Context, ...] = ()
    headline: Context = FULL
    task: str = ""
    refine: Callable[[str, str], str] | None = None
    spread: float = SPREAD_OF_CHOICES
    measured_in: str = "accuracy"

    @property
    def title(self) -> str:
        return self.label[:1].upper() + self.label[1:]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric, declared once; families that share it list the same one.

    Attributes:
        label: its name for display.
        best: which values are better; "one" for ratios, whose best value is 1; "neither" where no value is better.
        module: of this package, in which a function of the metric's name computes it; loaded when a metric is computed.
        headline: whether it is what a task is about; all others are diagnostics, kept in samples and printed on request.
        floors: metrics that say what a value of this one is worth.
        usual: the name that lm-eval's own tasks give such a metric; printed in addition to ours, which goes in the next version.
        zero: floors that do not depend on the model; the highest counts as 0 where scores of several tasks are averaged.
        baseline: the baseline whose score it is, which samples of other models carry.
        limits: the least and the greatest value; None if there are none.
        of_answer: whether a stored answer and its row are all that it needs, so that whoever reads results computes it again.
    """

    name: str
    label: str
    best: Best
    module: str
    headline: bool = False
    floors: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    usual: str = ""
    baseline: str = ""
    limits: tuple[float, float] | None = (0.0, 1.0)
    of_answer: bool = False

    @property
    def is_printed(self) -> bool:
        """Whether lm-eval prints it: headline metrics, what shortcuts score, and the shares of answers and prompts that were cut."""
        return self.headline or bool(self.baseline) or self.name in ("capped", "truncated")

    @property
    def compute(self) -> Callable[[Any], Sequence[float | None]]:
        """What computes it of all `Answers` of a task: None for an answer that has no value. The first line of its docstring says what the
        metric measures, in docs/options.md too.
        """
        function: Callable[[Any], Sequence[float | None]] = getattr(
            import_module(f"lm_eval_tasks.{self.module}"), self.name
        )
        return function


# Metrics that several families list: what became of prompts and answers.
_RATES = "metrics.rates"
# The share of answers that were cut off is shown next to every score.
CAPPED = Metric("capped", "Answers that reached their cap", "lower", _RATES)
TRUNCATED = Metric("truncated", "Prompts cut", "lower", _RATES)
CUT_SHARE = Metric("cut_share", "Share of the prompt cut", "lower", _RATES)
EMPTY = Metric("empty", "Empty answers", "lower", _RATES)
NO_ANSWER = Metric("no_answer", "No answer", "lower", _RATES)
UNFINISHED = Metric("unfinished", "Unfinished reasoning", "lower", _RATES)


@dataclass(frozen=True, slots=True)
class Task:
    """One task of lm-eval.

    Attributes:
        family: in whose folder its file is.
        configuration: of the dataset.
        context, way: as the families' `load` takes them.
        tag: "" for none.
    """

    family: str
    name: str
    configuration: str
    answer_tokens: int
    alias: str = ""
    size: int | None = None
    tag: str = ""
    context: Context = FULL
    way: Way = GENERATED

    @property
    def display_name(self) -> str:
        return f"{self.configuration} ({self.alias})" if self.alias else self.configuration

    def with_context(self, context: Context) -> Self:
        """Return the task that asks the same with less to read."""
        alias = f"{self.alias}, {context}" if self.alias else context
        return replace(self, name=f"{self.name}_{context}", alias=alias, context=context, tag="")


@dataclass(frozen=True, slots=True)
class TaskGroup:
    """One group of lm-eval's tasks.

    Attributes:
        family: in whose folder its file is; "" if it has tasks of several.
        has_mean: whether it has a score, in which its members each count the same.
    """

    family: str
    name: str
    members: tuple[str, ...]
    has_mean: bool = False
    way: Way = GENERATED


@dataclass(frozen=True, slots=True)
class Core:
    """A configuration that every model is asked first.

    Attributes:
        samples: most that are asked. Over the reading board, differences of 0.05 between two models can then be detected, and gains of
            0.10 from reading on a task (`benchmarks/gain.py`); boards count these samples alone.
        masks: of a round that must be solved by full texts alone for the configuration to join its core; 0 if it always does.
        way: how it is asked; by likelihood only models that can, and not in the small edition.
    """

    configuration: str
    samples: int
    masks: int = 0
    way: Way = GENERATED

    @property
    def is_always_asked(self) -> bool:
        """Whether every round has it, and every model can be asked."""
        return not self.masks and self.way == GENERATED


@dataclass(frozen=True, slots=True)
class ByLikelihood:
    """How a family's rows are asked by likelihood.

    Attributes:
        suffix: of names of tasks and of rows.
        base: the file that its task files include.
        metrics, baselines: as those of a `Family`.
        begins: what stands before the texts whose likelihood is asked, within the answer.
        spread: standard deviation, from one row to the next, of the difference between two models.
    """

    suffix: str
    base: str
    metrics: tuple[Metric, ...]
    baselines: tuple[str, ...] = ()
    begins: str = ""
    spread: float = SPREAD_OF_CHOICES


@dataclass(frozen=True, slots=True)
class Kept:
    """Configurations that ask the same rows in longer and longer contexts; of what reading brings alone, a share is kept in each.

    Attributes:
        alone: with nothing around what is to be read.
        without: with something else in place of what is to be read.
        sizes: configuration -> thousands of tokens, rising.
        withouts: configuration of a size -> the same with something else in place.
        at_places: with each row once for each part of the rows, which its id ends with.
        parts: of the rows, by where they have what is to be read.
        kinds: metric -> the kind of what the rows ask that it scores alone.
    """

    alone: str
    without: str
    sizes: Mapping[str, int]
    withouts: Mapping[str, str]
    at_places: str
    parts: tuple[str, ...]
    kinds: Mapping[str, str]

    @property
    def names(self) -> frozenset[str]:
        return frozenset((self.alone, self.without, self.at_places, *self.sizes, *self.withouts.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Tasks that have prompts, rows and a way of scoring in common.

    Attributes:
        name: of its folder, on the builder's side too.
        board: that counts its scores; None if none does.
        own: the type of what a prompt's row says besides what the rows of all families do (`samples.prompt_row`).
        core: its configurations that every model is asked first.
        is_multiple_choice: whether a question names one of the candidates that its row lists.
        group: of lm-eval, for its core configurations together with those of other families; "" for none.
        metrics: in the order in which they are shown; the first is what models are ranked by.
        baselines: that answer its prompts.
        likelihood: how the same rows are asked by likelihood; None if they are not.
        kept: configurations by which a share kept is stated (`stats.kept`); None without any.
    """

    name: str
    board: Board | None
    own: type[Any]
    targets: tuple[Target, ...]
    configurations: Sequence[Configuration]
    tasks: tuple[Task, ...]
    groups: tuple[TaskGroup, ...] = ()
    core: tuple[Core, ...] = ()
    group: str = ""
    is_multiple_choice: bool = False
    metrics: tuple[Metric, ...]
    baselines: tuple[str, ...]
    likelihood: ByLikelihood | None = None
    kept: Kept | None = None

    @property
    def label(self) -> str:
        return self.targets[0].title if len(self.targets) == 1 else f"{self.name.title()} tasks"

    @property
    def ranking(self) -> str:
        """The name of the metric that models are ranked by."""
        return self.metrics[0].name

    @property
    def headline(self) -> tuple[str, ...]:
        """The names of its headline metrics."""
        return tuple(metric.name for metric in self.metrics if metric.headline)

    @property
    def version(self) -> int:
        """The version of its prompts, which is raised with any change to them."""
        return _version(self.name)

    def metrics_of(self, way: Way) -> tuple[Metric, ...]:
        """Return the metrics of rows that are asked in a way."""
        return self.metrics if way == GENERATED else self._by_likelihood.metrics

    def spread_of(self, target: Target, way: Way) -> float:
        """Return the standard deviation, from one row to the next, of the difference between two models."""
        return target.spread if way == GENERATED else self._by_likelihood.spread

    def baselines_of(self, way: Way) -> tuple[str, ...]:
        return self.baselines if way == GENERATED else self._by_likelihood.baselines

    @property
    def _by_likelihood(self) -> ByLikelihood:
        if self.likelihood is None:
            raise ValueError(f"no task of the family {self.name} is asked by likelihood")
        return self.likelihood

    def contexts_of(self, name: str) -> tuple[Context, ...]:
        """Return with how much less to read a configuration of the family is asked, by its name."""
        [configuration] = [each for each in self.configurations if each.name == name]
        [target] = [each for each in self.targets if configuration.task in (each.name, each.task)]
        return target.shorter

    def counted(self, names: Collection[str], core: Collection[str]) -> tuple[str, ...]:
        """Return the configurations that its board counts, see `registry.counted`."""
        own = (entry.configuration for entry in self.core if not entry.masks or entry.configuration in core)
        return tuple(name for name in own if name in names)

    def is_usual(self, prompt_name: str) -> bool:
        """Tell whether a prompt is what its configuration is usually asked with, not an ablation or retrieval."""
        return True

    def metric_list(self, way: Way = GENERATED) -> list[dict[str, object]]:
        """Return a task's `metric_list`; lm-eval knows two directions; other metrics have none there."""
        directions = {"higher": True, "lower": False, "one": None, "neither": None}
        return [
            {"metric": name, "aggregation": "mean", "higher_is_better": directions[metric.best]}
            for metric in self.metrics_of(way)
            for name in filter(None, (metric.name, metric.usual))
        ]

    def group_list(self, way: Way = GENERATED) -> list[dict[str, object]]:
        """Return a group's `aggregate_metric_list`: each task counts the same, whatever its number of samples."""
        return [
            {"metric": name, "aggregation": "mean", "weight_by_size": False, "filter_list": "score"}
            for metric in self.metrics_of(way)
            if metric.headline
            for name in filter(None, (metric.name, metric.usual))
        ]


@cache
def _version(family: str) -> int:
    return int(tomllib.loads((FAMILIES_FOLDER / family / "prompts.toml").read_text(encoding="utf-8"))["version"])
