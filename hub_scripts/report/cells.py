"""The figures of the leaderboard: a group for each setting of a round, a cell for each model in it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lm_eval_tasks.base.intervals import Interval
from lm_eval_tasks.families import of_task
from lm_eval_tasks.families.registry import BASELINES, FAMILIES, TARGETS
from lm_eval_tasks.samples.block import BinScore


def csv_text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A CSV file whose cells a spreadsheet takes for texts or numbers, never for formulas."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_csv_cell(cell) for cell in line] for line in lines)
    return text.getvalue()


def interval_cells(estimate: Interval | None) -> tuple[float | None, float | None, float | None]:
    """Mean and bounds, each None where there is none."""
    return (estimate.mean, estimate.low, estimate.high) if estimate else (None, None, None)


def _csv_cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


# What judges say about an answer, besides the metrics of the registry.
WIN_RATE = "win_rate"
TASKS = tuple(target.name for target in TARGETS)
_LEVELS = tuple(each.name for family in FAMILIES if family.is_multiple_choice for each in family.configurations)


@dataclass(frozen=True, slots=True)
class Key:
    """What is compared: one setting of one round."""

    round: str
    setting: str

    @property
    def slug(self) -> str:
        return re.sub(r"[^\w.-]+", "-", f"{self.round}_{self.setting}")


@dataclass(slots=True)
class Cell:
    """One model on one setting.

    Attributes:
        samples: those that have a headline score.
        scores: metric -> mean with interval.
        values: metric -> sample -> score.
        floors: metric -> sample -> what its floor would score.
        flags: "truncated", "empty" and the like -> sample -> 1 or 0.
        tokens: mean prompt tokens before cutting, None if no tokenizer was known.
        of: how many samples the setting has in all, None if the run has not noted it.
        is_carried: whether nobody ran it: a baseline whose scores other models' samples carry.
        shortcuts: metric -> sample -> score, of what programs score that read nothing.
        prompts: sample -> hash of its prompt, "" if it is not known.
        shown, reader: of a cell with retrieved chunks in place of the full context, that context and the model without its retriever.
        lengths, places: bin of prompt lengths, third of the context where the answers stand -> n, mean and interval.
    """

    model: str
    samples: int
    scores: dict[str, Interval]
    values: dict[str, dict[str, float]]
    floors: dict[str, dict[str, float]]
    flags: dict[str, dict[str, float]]
    tokens: float | None
    of: int | None
    is_carried: bool = False
    shortcuts: dict[str, dict[str, float]] = field(default_factory=dict)
    lengths: dict[str, BinScore] = field(default_factory=dict)
    places: dict[str, BinScore] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    shown: str = ""
    reader: str = ""


@dataclass(slots=True)
class Group:
    """One setting of one round with all models.

    Attributes:
        task: one of TASKS.
        context: thousands of tokens in the setting's name, else in its prompts; None if neither is known.
        ids, names, titles, published, clusters: of the samples, in one order; ids tell contents apart, names are those of the rows.
        unfinished: model -> answers of a run that has not ended.
        withheld: answers that are not shown, because they repeat texts that may not be redistributed.
        made_up: whether its papers are.
    """

    key: Key
    task: str
    context: int | None
    ids: list[str]
    names: list[str]
    titles: list[str]
    published: list[str]
    clusters: list[str]
    cells: list[Cell]
    prompt_versions: list[int]
    unfinished: dict[str, int]
    withheld: int = 0
    made_up: bool = False


def in_order(groups: Iterable[Group]) -> list[Group]:
    """By round, task, context length and, for SCALAR, difficulty."""

    def rank(group: Group) -> tuple[Any, ...]:
        name = group.key.setting
        place = _LEVELS.index(name) if name in _LEVELS else len(_LEVELS)
        length = 0 if of_task(group.task).board == "reading" else group.context or 0
        return group.key.round, TASKS.index(group.task), place, length, name

    return sorted(groups, key=rank)


def is_baseline(model: str) -> bool:
    """Whether a model is one of the baselines, which need no weights; with retrieval it is one too."""
    return reader_of(model) in BASELINES


def reader_of(model: str) -> str:
    """The model that reads what is retrieved: retrieval makes a separate model, "lead + bm25"."""
    return model.partition(" + ")[0]
