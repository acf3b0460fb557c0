"""The boards of a round: for each model how far its scores lie above the floor, over the tasks of one board.

Scores are placed between their floor and 1 (`stats.placed`); settings of a task are averaged, then tasks. What counts is fixed by the round
(`families.registry`): a model that lacks some of it has no rank and changes no other model's.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from hub_scripts.report.cells import Cell, Group, interval_cells, is_baseline, share
from hub_scripts.report.drawing import csv_text
from lm_eval_tasks.base.contract import FULL
from lm_eval_tasks.base.intervals import FEWEST_OF_GAINS, LEVEL, Interval, holm
from lm_eval_tasks.families import target_of
from lm_eval_tasks.families.descriptor import Board
from lm_eval_tasks.families.registry import counted
from lm_eval_tasks.stats.columns import Column, Gain, gains_over
from lm_eval_tasks.stats.placed import (
    HIGHEST_FLOOR,
    PlacedTask,
    by_task,
    difference_over,
    interval_over,
    place_task,
    too_small,
)

# Models of a board, the best first, of which every two are compared; others have scores and no rank.
MOST_TESTED = 50


@dataclass(frozen=True, slots=True)
class Standing:
    """One model's place in a round.

    Attributes:
        rank: 1 + the models that are better beyond chance; None for baselines, if settings are missing, if prompts were cut, if
            there are too few independent papers, or behind the first `MOST_TESTED`.
        last: the last place that it may hold: the number of ranked models without those that are worse beyond chance.
        overall: over all counted settings that the model has; None if it has none.
        tasks: task -> the same for the task alone, without an interval.
        missing: counted settings that it has not answered in full.
        small: counted settings with too few first authors for an interval.
        samples: answers that count.
        gain: how much higher it is than with the shorter contexts of the tasks' main comparisons; None if it was not asked with all of
            them.
        capped, cut: shares of answers that reached their cap and of prompts that were cut; None if not noted.
    """

    model: str
    rank: int | None
    last: int | None
    overall: Interval | None
    tasks: Mapping[str, float]
    missing: tuple[str, ...]
    small: tuple[str, ...]
    samples: int
    gain: Interval | None
    capped: float | None
    cut: float | None
    is_baseline: bool

    @property
    def is_rankable(self) -> bool:
        return bool(self.overall and not (self.small or self.missing or self.cut or self.is_baseline))


@dataclass(frozen=True, slots=True)
class Standings:
    """All models of one board of a round: those that can have a rank first, then the others, then programs; see `_order`.

    Attributes:
        title: of the board.
        metrics: that models are ranked by, each on its tasks.
        settings: those that count.
        is_fixed: whether the round's manifest says what counts; otherwise it is what any model was run on.
        gains: (model, what reading is worth to it), on each setting that was asked with less to read.
        differences: (model, other model) -> how much higher the first is, over the same papers, both ways; `p` is corrected for
            all pairs (Holm).
        unranked: why no model has a rank; "" if any has.
    """

    round: str
    title: str
    metrics: tuple[str, ...]
    settings: tuple[str, ...]
    standings: tuple[Standing, ...]
    differences: Mapping[tuple[str, str], Interval]
    gains: tuple[tuple[str, Gain], ...] = ()
    is_fixed: bool = True
    unranked: str = ""


def standings_of(
    groups: Sequence[Group],
    configurations: Collection[str],
    board: Board,
    core: Mapping[str, int] | None = None,
    *,
    is_fixed: bool = True,
) -> Standings | None:
    """Return one board of a round; None if no model has scores with a floor on what it counts.

    Args:
        groups: of one round.
        configurations: names of the round's.
        core: those that its manifest calls its core -> how many of their samples every model is asked, and count.
        is_fixed: whether its manifest gave them.
    """
    core = core or {}
    settings = counted(configurations, board, core)
    groups_counted = [
        _counted_rows(group, core.get(group.key.setting)) for group in groups if group.key.setting in settings
    ]
    crowded = {group.key.setting for group in groups_counted if not _has_room(group)}
    settings = tuple(name for name in settings if name not in crowded)
    groups_counted = [group for group in groups_counted if group.key.setting in settings]
    models = sorted({cell.model for group in groups_counted for cell in group.cells if not cell.shown})
    placed = {model: list(_placed_tasks(model, groups_counted)) for model in models}
    if not any(placed.values()):
        return None
    standings = [_standing(model, placed[model], groups_counted, settings, groups) for model in models]
    standings.sort(key=_order)
    rankable = [standing for standing in standings if standing.is_rankable]
    unranked = _why_unranked(rankable)
    tested = [] if unranked else [standing.model for standing in rankable][:MOST_TESTED]
    differences = _differences({model: placed[model] for model in tested})
    better, worse = _beaten(differences)
    places = {model: (1 + better[model], len(tested) - worse[model]) for model in tested}
    metrics = dict.fromkeys(group.metric for group in groups_counted)
    return Standings(
        round=groups_counted[0].key.round,
        title=board.title(),
        metrics=tuple(metrics),
        settings=settings,
        standings=tuple(_with_places(standings, places)),
        differences=differences,
        gains=_model_gains(groups, settings),
        is_fixed=is_fixed,
        unranked=unranked,
    )


def _with_places(standings: Sequence[Standing], places: Mapping[str, tuple[int, int]]) -> Iterator[Standing]:
    """Yield the standings with the first and last place of each model that has a rank."""
    for standing in standings:
        first, last = places.get(standing.model, (None, None))
        yield replace(standing, rank=first, last=last)


def _placed_tasks(model: str, groups: Sequence[Group]) -> Iterator[PlacedTask]:
    """Yield a model's tasks, each by the metric that its task is ranked by; without settings that it covers only in part."""
    for group in groups:
        cell = group.cell_of(model)
        scores = cell.columns.get(group.metric) if cell else None
        if cell and scores and scores.n == (cell.of or len(group.ids)):
            placed = place_task(group.key.setting, group.task, scores, cell.floors.get(group.metric))
            if placed:
                yield placed


def _standing(
    model: str, tasks: Sequence[PlacedTask], groups: Sequence[Group], settings: Sequence[str], every: Sequence[Group]
) -> Standing:
    having = {task.setting for task in tasks}
    own = [group for group in groups if group.key.setting in having]
    cells = [cell for group in own for cell in group.cells if cell.model == model]
    of_tasks = by_task(tasks)
    means = {of_task[0].task: fmean(task.mean() for task in of_task) for of_task in of_tasks}
    gain = _gain(model, tasks, own, every) if len(having) == len(settings) else None
    return Standing(
        model=model,
        rank=None,
        last=None,
        overall=interval_over(of_tasks) if tasks else None,
        tasks=means,
        missing=tuple(name for name in settings if name not in having),
        small=tuple(too_small(tasks)),
        samples=sum(cell.samples for cell in cells),
        gain=gain,
        capped=share(cells, "capped"),
        cut=share(cells, "truncated"),
        is_baseline=is_baseline(model),
    )


def _gain(model: str, tasks: Sequence[PlacedTask], groups: Sequence[Group], every: Sequence[Group]) -> Interval | None:
    """Return the mean over settings, then tasks, of the full contexts, a task for each group, minus the headline shortcut, placed alike."""
    short = []
    if is_baseline(model):
        return None
    for group in groups:
        full, cell = group.cell_of(model), _shorter_cell(group, model, target_of(group.task).headline, every)
        if not full or not cell or not any(gain.is_headline for gain in _gains_of_cell(group, full, every)):
            return None
        over = _cell_over(cell, full.columns[group.metric].scores, group.metric)
        # Cells that were shown less have no floor of their own on the page.
        task = place_task(group.key.setting, group.task, over.columns.get(group.metric), full.floors.get(group.metric))
        if task is None:
            return None
        short.append(task)
    return difference_over(by_task(tasks), by_task(short), FEWEST_OF_GAINS)


def _order(standing: Standing) -> tuple[object, ...]:
    """Put models that can have a rank first, then the others, then programs.

    Of each, those that lack least come first, and of those that lack the same, whose means are over the same, the best.
    """
    overall = standing.overall.mean if standing.overall else -1.0
    group = standing.is_baseline, not standing.is_rankable, len(standing.missing), standing.missing
    return *group, -overall, standing.model


def _why_unranked(rankable: Sequence[Standing]) -> str:
    """Say why no model has a rank; "" if any has."""
    if not rankable:
        return "No model has a rank: each row is a baseline, or says what its model lacks."
    for standing in rankable:
        if standing.overall and (standing.overall.bounds or (standing.overall.mean,))[0] > 0:
            return ""
    return "No model is above the floor beyond chance, so none has a rank."


def _differences(tasks: Mapping[str, Sequence[PlacedTask]]) -> dict[tuple[str, str], Interval]:
    sets = {model: by_task(of_model) for model, of_model in tasks.items()}
    pairs = list(combinations(tasks, 2))
    paired = [difference_over(sets[first], sets[second]) for first, second in pairs]
    corrected = iter(holm([each.p for each in paired if each.p is not None], len(paired)))
    differences: dict[tuple[str, str], Interval] = {}
    for (first, second), interval in zip(pairs, paired, strict=True):
        differences[first, second] = replace(interval, p=None if interval.p is None else next(corrected))
        differences[second, first] = differences[first, second].reversed()
    return differences


def _beaten(differences: Mapping[tuple[str, str], Interval]) -> tuple[Counter[str], Counter[str]]:
    """Count for each model those that are better, and those that are worse, beyond chance."""
    better, worse = Counter[str](), Counter[str]()
    for (first, second), difference in differences.items():
        if difference.p is not None and difference.p < 1 - LEVEL and difference.mean > 0:
            better[second] += 1
            worse[first] += 1
    return better, worse


def boards_csv(boards: Sequence[Standings]) -> str:
    """Return a line for each model of each board, a column for each number."""
    tasks = list(dict.fromkeys(task for board in boards for standing in board.standings for task in standing.tasks))
    head = "round board model rank last score low high gain gain_low gain_high n capped cut".split()
    lines = []
    for board in boards:
        for one in board.standings:
            scores = (*interval_cells(one.overall), *interval_cells(one.gain), one.samples, one.capped, one.cut)
            lines.append((board.round, board.title, one.model, one.rank, one.last, *scores, *map(one.tasks.get, tasks)))
    return csv_text((*head, *tasks), lines)


# --- what a board counts of a setting: its core if anybody was asked no more than that, else all; and what reading gains


def _counted_rows(group: Group, core: int | None) -> Group:
    """Return a setting with its cells over the rows that count; a cell that lacks some of them has no score. Every model is asked at least
    `core` of them; None for all.

    Of the sets of answers that are as large as the core or as the whole setting, the one that most models have answers to: a
    window of days, or samples that somebody chose, take nothing from the others.
    """
    answered = [
        frozenset(cell.columns[group.metric].scores if group.metric in cell.columns else ()) for cell in group.cells
    ]
    wholes = [cell.of or len(group.ids) for cell in group.cells]
    sets = [ids for ids, whole in zip(answered, wholes, strict=True) if len(ids) in (whole, min(core or whole, whole))]
    # Where nobody answered as many, none counts.
    ids = max(sets, key=lambda ids: (sum(ids <= other for other in answered), len(ids)), default=frozenset())
    return replace(group, cells=[_cell_over(cell, ids, group.metric) for cell in group.cells])


def _cell_over(cell: Cell, ids: Collection[str], metric: str) -> Cell:
    """Return a cell over some samples; it has no score if it lacks any of them."""
    scores = cell.columns[metric].scores if metric in cell.columns else {}
    if not ids or not all(id_ in scores for id_ in ids):
        return replace(cell, columns={}, samples=0)

    def over(columns: Mapping[str, Column]) -> dict[str, Column]:
        over_ids = {name: column.over(ids) for name, column in columns.items()}
        return {name: column for name, column in over_ids.items() if column}

    return replace(cell, samples=len(ids), of=len(ids), columns=over(cell.columns), floors=over(cell.floors))


def _has_room(group: Group) -> bool:
    """Tell whether scores of a setting can be placed above its floor."""
    columns = [cell.floors[group.metric] for cell in group.cells if group.metric in cell.floors]
    floors = {id_: floor for column in columns for id_, floor in column.scores.items()}
    return not floors or fmean(floors.values()) <= HIGHEST_FLOOR


def _model_gains(groups: Sequence[Group], settings: Sequence[str]) -> tuple[tuple[str, Gain], ...]:
    """Return (Model, gain) of all models that were asked with less to read, for the settings of a round that a board counts."""
    found = []
    for group in groups:
        cells = [cell for cell in group.cells if not (cell.shown or is_baseline(cell.model))]
        for cell in cells if group.key.setting in settings else ():
            gains = _gains_of_cell(group, cell, groups)
            if gains and gains[0].by == "model":
                found += [(cell.model, gain) for gain in gains]
    return tuple(found)


def _shorter_cell(group: Group, model: str, context: str, groups: Sequence[Group]) -> Cell | None:
    """Return what a model scored on a setting with less to read; None if it was not asked so."""
    shorter = [other for other in groups if other.key.setting == f"{group.key.setting} {context}"]
    if shorter:
        return shorter[0].cell_of(model)
    # Where the retriever is named, it counts as a part of the model.
    return next((cell for cell in group.cells if cell.shown == context and cell.reader == model), None)


def _gains_of_cell(group: Group, cell: Cell, groups: Sequence[Group]) -> list[Gain]:
    shorter = {context: _shorter_cell(group, cell.model, context, groups) for context in target_of(group.task).shorter}
    cells: dict[str, Cell] = {FULL: cell, **{context: short for context, short in shorter.items() if short}}
    return gains_over(
        group.key.setting,
        group.metric,
        target_of(group.task).headline,
        {context: asked.columns for context, asked in cells.items()},
        {context: asked.prompts for context, asked in cells.items()},
    )
