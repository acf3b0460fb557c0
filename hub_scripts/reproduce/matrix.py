"""The runs that a paper's tables take: every model with the tasks that it has a score for."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from hub_scripts.errors import HubError
from hub_scripts.report.board import Published, published_scores
from lm_eval_tasks.tasks.derived import TASKS
from lm_eval_tasks.tasks.records import FULL, NONE, PLAIN, RETRIEVED

Paper = Literal["academiceval", "scalar"]
PAPERS: tuple[Paper, ...] = get_args(Paper)
# Of figure 3, on Abs-9K; LangChain's BM25 is what the reference calls.
RETRIEVERS = ("bm25_okapi", "tfidf", "dpr", "contriever", "dragon")
FIGURE_3_MODELS = ("Gemma Instruct 7B", "LLaMA-3 Chat 70B")
FIGURE_3_SETTING = "Abs-9K"
_SOURCES = {"academiceval": "AcademicEval, ", "scalar": "SCALAR, "}
# SCALAR's tables of ablations name the table in the model's name.
_TABLE = re.compile(r" \(table \d\)$")


class ReproduceError(HubError):
    """A table cannot be reproduced as asked."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model of the tables.

    Attributes:
        weights: on the Hub, or a provider's name.
        context: tokens.
    """

    name: str
    weights: str
    context: int


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation: a model over all tasks that it is asked for, with one retriever or none.

    Attributes:
        settings: configurations of the dataset, in the tables' order; a variant follows after a blank.
    """

    model: Model
    settings: tuple[str, ...]
    retriever: str = ""

    @property
    def name(self) -> str:
        """As the tables have it."""
        return f"{self.model.name} + {self.retriever}" if self.retriever else self.model.name

    @property
    def folder(self) -> str:
        return re.sub(r"[^\w.]+", "-", self.name)

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.task_of(setting) for setting in self.settings)

    def task_of(self, setting: str) -> str:
        """The lm-eval task of a setting."""
        bare, _, variant = setting.partition(" ")
        context = NONE if variant else RETRIEVED if self.retriever else FULL
        tasks = (
            task
            for task in TASKS
            if (task.configuration, task.role, task.context, task.size) == (bare, PLAIN.role, context, None)
        )
        return next(task.name for task in tasks)

    def log_name(self, setting: str) -> str:
        """What `PromptRow.name` calls the setting's samples."""
        return f"{setting} {RETRIEVED} {self.retriever}" if self.retriever else setting


def cells(paper: Paper) -> list[Published]:
    """The published scores of a paper."""
    return [cell for cell in published_scores() if cell.source.startswith(_SOURCES[paper])]


def run_name(cell: Published) -> str:
    """The run that a published score belongs to."""
    return _TABLE.sub("", cell.model)


def runs_of(paper: Paper, weights: dict[str, str] | None = None) -> list[Run]:
    """All runs of a paper's tables and figure.

    Args:
        weights: model -> weights to use in place of the published ones.

    Raises:
        ReproduceError: `weights` names a model that the paper does not have.
    """
    table = tomllib.loads((Path(__file__).parent / "models.toml").read_text(encoding="utf-8"))[paper]
    if unknown := sorted(set(weights or ()) - set(table)):
        raise ReproduceError(f"the tables have no model {unknown[0]!r}: they have {', '.join(table)}")
    models = {
        name: Model(name, (weights or {}).get(name, entry["weights"]), entry["context"])
        for name, entry in table.items()
    }
    settings_by_run: dict[tuple[str, str], dict[str, None]] = {}
    for cell in cells(paper):
        name, _, retriever = run_name(cell).partition(" + ")
        settings_by_run.setdefault((name, retriever), {})[cell.setting] = None
    if paper == "academiceval":
        for name in FIGURE_3_MODELS:
            for retriever in RETRIEVERS:
                settings_by_run.setdefault((name, retriever), {})[FIGURE_3_SETTING] = None
    return [Run(models[name], tuple(settings), retriever) for (name, retriever), settings in settings_by_run.items()]
