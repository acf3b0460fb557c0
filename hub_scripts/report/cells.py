"""The figures of the leaderboard: a group for each setting of a round, a cell for each model in it, a row for each score; and as CSV."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from hub_scripts.report.drawing import csv_text, file_name
from lm_eval_tasks.base.intervals import Interval
from lm_eval_tasks.base.tables import with_bounds
from lm_eval_tasks.families import of_task, registry
from lm_eval_tasks.families.registry import BASELINES, FAMILIES, LOWER, TARGETS
from lm_eval_tasks.samples.block import BinScore
from lm_eval_tasks.stats.columns import Column


def interval_cells(estimate: Interval | None) -> tuple[float | None, float | None, float | None]:
    """Return mean and bounds, each None where there is none."""
    return (estimate.mean, estimate.low, estimate.high) if estimate else (None, None, None)


# Lengths at which prompts are told apart, in units of 1,024 tokens.
BINS = {8: "8K", 16: "16K", 32: "32K", 64: "64K", 128: "128K", 256: "256K", 512: "512K", 1024: "1M"}
_WIN_RATE = "win_rate"
TASKS = tuple(target.name for target in TARGETS)
_LEVELS = tuple(each.name for family in FAMILIES if family.is_multiple_choice for each in family.configurations)


@dataclass(frozen=True, slots=True)
class Key:
    """What is compared: one setting of one round."""

    round: str
    setting: str

    @property
    def slug(self) -> str:
        """The folder of its samples' pages: another one for each name, as folders may be called `a b` and `a-b`."""
        return file_name(f"{self.round}_{self.setting}")


@dataclass(slots=True)
class Cell:
    """One model on one setting.

    Attributes:
        samples: those that have a headline score.
        columns: of its scores, the judges' too, by metric.
        floors: metric -> what its floor would score.
        tokens: mean prompt tokens before cutting, None if no tokenizer was known.
        of: how many samples the setting has in all, None if the run has not noted it.
        is_carried: whether nobody ran it: a baseline whose scores other models' samples carry.
        prompts: sample -> hash of its prompt, "" if it is not known.
        shown, reader: of a cell with retrieved chunks in place of the full context, that context and the model without its retriever.
        lengths: sample -> tokens of its prompt before cutting; none if no tokenizer was known.
        places: third of the context where the answers stand -> n, mean and interval.
    """

    model: str
    samples: int
    columns: dict[str, Column]
    floors: dict[str, Column]
    tokens: float | None
    of: int | None
    is_carried: bool = False
    lengths: dict[str, int] = field(default_factory=dict)
    places: dict[str, BinScore] = field(default_factory=dict)
    prompts: dict[str, str] = field(default_factory=dict)
    shown: str = ""
    reader: str = ""


@dataclass(slots=True)
class Group:
    """One setting of one round with all models.

    Attributes:
        task: one of TASKS.
        metric: what models are ranked by.
        context: thousands of tokens in the setting's name, else in its prompts; None if neither is known.
        ids, names, titles, published: of the samples, in one order; ids tell contents apart, names are those of the rows.
        unfinished: model -> answers of a run that has not ended.
        withheld: answers that are not shown, because they repeat texts that may not be redistributed.
        made_up: whether its papers are.
        parts: of the samples, by where they have what is to be read; "" without parts.
    """

    key: Key
    task: str
    metric: str
    context: int | None
    ids: list[str]
    names: list[str]
    titles: list[str]
    published: list[str]
    cells: list[Cell]
    prompt_versions: list[int]
    unfinished: dict[str, int]
    withheld: int = 0
    made_up: bool = False
    parts: list[str] = field(default_factory=list)

    def cell_of(self, model: str) -> Cell | None:
        return next((cell for cell in self.cells if cell.model == model), None)


def in_order(groups: Iterable[Group]) -> list[Group]:
    """Sort by round, task, context length and, for SCALAR, difficulty."""

    def rank(group: Group) -> tuple[Any, ...]:
        name = group.key.setting
        rank = _LEVELS.index(name) if name in _LEVELS else len(_LEVELS)
        length = 0 if of_task(group.task).board == "reading" else group.context or 0
        return group.key.round, TASKS.index(group.task), rank, length, name

    return sorted(groups, key=rank)


def is_baseline(model: str) -> bool:
    """Tell whether a model is one of the baselines, which need no weights; with retrieval it is one too."""
    return reader_of(model) in BASELINES


def reader_of(model: str) -> str:
    """Return the model that reads what is retrieved: retrieval makes a separate model, "lead + bm25"."""
    return model.partition(" + ")[0]


LABELS = {name: registry.label(name) + LOWER * registry.is_lower_better(name) for name in registry.headline()}


def win_rate(judge: str) -> str:
    """Return the name of the score that a judge gives: judges differ, and so do their rates."""
    return f"{_WIN_RATE} ({judge})"


def score_labels(groups: Iterable[Group]) -> dict[str, str]:
    """Return the scores that the page shows of some groups, by name, in its order: as the page calls them."""
    names = {name for group in groups for cell in group.cells for name in cell.columns}
    wins = sorted(name for name in names if name.startswith(_WIN_RATE))
    return LABELS | {name: name.replace(_WIN_RATE, "Judge win rate") for name in wins}


TASK_LABELS = {target.name: target.title for target in TARGETS}


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score of one model on one setting.

    Attributes:
        cutoff: the month up to which the model was trained; "" if it is not known.
        of: how many samples the setting has, if not all have this score.
        floor: what is scored without reading or writing; None if the metric has no floor.
        margin: how much more that is scored, over the same samples; None likewise.
        cut, capped, empty: shares of prompts that were cut, and of answers that reached their cap or have no text; None if not noted.
        splits: month -> the score over the papers before it, and from it on; bin of prompt lengths -> over prompts that are no longer,
            and over longer ones; None where there are none.
    """

    round: str
    task: str
    setting: str
    model: str
    cutoff: str
    metric: str
    score: Interval
    of: int | None
    floor: float | None
    margin: Interval | None
    cut: float | None
    capped: float | None
    empty: float | None
    splits: Mapping[str, tuple[Interval | None, Interval | None]]

    @property
    def is_baseline(self) -> bool:
        return is_baseline(self.model)


def score_rows(groups: Sequence[Group], cutoffs: Mapping[str, str]) -> list[ScoreRow]:
    """Make the rows of all settings, the best scores of each first."""
    rows = []
    for group in groups:
        # A run that has not ended may be over another split.
        scored = {id_ for cell in group.cells for column in cell.columns.values() for id_ in column.scores}
        for metric in score_labels([group]):
            cells = [cell for cell in group.cells if metric in cell.columns]
            sign = 1 if registry.is_lower_better(metric) else -1
            cells.sort(key=lambda cell: (is_baseline(cell.model), sign * cell.columns[metric].mean))
            rows += [_score_row(group, cell, metric, cutoffs.get(cell.model, ""), len(scored)) for cell in cells]
    return rows


def _score_row(group: Group, cell: Cell, metric: str, cutoff: str, scored: int) -> ScoreRow:
    over = cell.columns[metric]
    floor = cell.floors[metric].over(over.scores) if metric in cell.floors else None
    both = over.over(floor.scores) if floor else None
    whole = max(cell.of or 0, scored)
    # What two predictors save is no race, so nothing is subtracted.
    margin = both.minus(floor) if floor and both and not registry.is_lower_better(metric) else None
    return ScoreRow(
        round=group.key.round,
        task=group.task,
        setting=group.key.setting,
        model=cell.model,
        cutoff=cutoff,
        metric=metric,
        score=over.interval(),
        of=whole if whole != over.n else None,
        floor=floor.mean if floor else None,
        margin=margin,
        cut=share([cell], "truncated"),
        capped=share([cell], "capped"),
        empty=share([cell], "empty", "no_answer"),
        splits=dict(_splits(group, cell, over)),
    )


def _splits(group: Group, cell: Cell, scores: Column) -> Iterator[tuple[str, tuple[Interval | None, Interval | None]]]:
    """Yield the scores before and since each month but the first of a setting's papers, and over prompts of a bin or shorter, and
    longer.
    """
    days = dict(zip(group.ids, group.published, strict=True))
    months = sorted({day[:7] for day in days.values()})[1:]
    subsets = {month: {id_ for id_, day in days.items() if day < month} for month in months}
    if scores.scores.keys() <= cell.lengths.keys():
        subsets |= {name: {id_ for id_, n in cell.lengths.items() if n <= 1024 * size} for size, name in BINS.items()}
    for name, ids in subsets.items():
        first, rest = scores.over(ids), scores.over(scores.scores.keys() - ids)
        if name in months or (first and rest):
            yield name, (first.interval() if first else None, rest.interval() if rest else None)


def share(cells: Iterable[Cell], *flags: str) -> float | None:
    """Compute the share of samples for which any of the flags is true; None if none was noted."""
    values: list[float] = []
    for cell in cells:
        noted: dict[str, float] = {}
        for name in flags:
            for id_, value in cell.columns[name].scores.items() if name in cell.columns else ():
                noted[id_] = max(value, noted.get(id_, 0.0))
        values += noted.values()
    return fmean(values) if values else None


def split_steps(rows: Sequence[ScoreRow]) -> dict[str, Any]:
    """Return what the page shows of two parts: its splits, and for each row and split both scores as text."""
    names = {name for row in rows for name in row.splits}
    bins = [name for name in BINS.values() if name in names]
    # Of lengths that tell the same prompts apart, the shortest.
    new = [b for a, b in pairwise(["", *bins]) if any(row.splits.get(a) != row.splits.get(b) for row in rows)]
    splits = [*sorted(names - {*bins}), *new]
    return {"splits": splits, "rows": [[_texts(row, name) for name in splits] for row in rows]}


def _texts(row: ScoreRow, split: str) -> list[str]:
    first, rest = row.splits.get(split, (None, None))
    return [_text(first), _text(rest)]


def _text(score: Interval | None) -> str:
    if score is None:
        return "–"
    reason = f"; no interval: {score.missing}" if score.missing else ""
    return f"{with_bounds(score.mean, score.low, score.high, '.3f')} (n {score.samples}{reason})"


def scores_csv(rows: Sequence[ScoreRow]) -> str:
    """Return a line for each row, a column for each number."""
    names = ("round", "task", "setting", "model", "cutoff", "metric")
    more = ("of", "floor", "cut", "capped", "empty")
    lines = []
    for row in rows:
        about, flags = [getattr(row, name) for name in names], [getattr(row, name) for name in more]
        lines.append([*about, *_numbers(row.score), *flags, *interval_cells(row.margin)])
    return csv_text([*names, "value", "low", "high", "n", *more, "margin", "margin_low", "margin_high"], lines)


def splits_csv(rows: Sequence[ScoreRow]) -> str:
    """Return a line for each row and split."""
    names = ("round", "setting", "model", "metric")
    numbers = [f"{which}_{name}" for which in ("first", "rest") for name in ("value", "low", "high", "n")]
    lines = (
        [*(getattr(row, name) for name in names), split, *_numbers(first), *_numbers(rest)]
        for row in rows
        for split, (first, rest) in row.splits.items()
    )
    return csv_text([*names, "split", *numbers], lines)


def _numbers(score: Interval | None) -> list[float | None]:
    return [*interval_cells(score), score.samples if score else None]
