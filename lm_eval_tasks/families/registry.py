"""All families at once, for what goes over all of them; one that asks a single task needs only its own.

There are two boards, writing and reading, and no number averages over both: similarity to the authors' text and right answers differ too
much between models to be one scale. By the published tables, the standard deviation between models, after placing, is 0.01 to 0.02 for
texts and 0.15 to 0.30 for SCALAR.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import get_args

from lm_eval_tasks.base.contract import GENERATED, WAYS, Way
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.text import suggestion
from lm_eval_tasks.families import NAMES, family_of_name
from lm_eval_tasks.families.descriptor import Board, Core, Family, Metric, Target

FAMILIES: tuple[Family, ...] = tuple(map(family_of_name, NAMES))
TARGETS: tuple[Target, ...] = tuple(target for family in FAMILIES for target in family.targets)
# Each family with each way in which its rows are asked.
ASKED: tuple[tuple[Family, Way], ...] = tuple(
    (family, way) for way in WAYS for family in FAMILIES if way == GENERATED or family.likelihood
)
BASELINES: tuple[str, ...] = tuple(dict.fromkeys(name for family, way in ASKED for name in family.baselines_of(way)))
METRICS: tuple[Metric, ...] = tuple(dict.fromkeys(metric for family, way in ASKED for metric in family.metrics_of(way)))
_BY_NAME = {metric.name: metric for metric in METRICS}
BOARDS: tuple[Board, ...] = get_args(Board)
WRITING, READING = BOARDS
# Behind the name of a metric, where its values are shown.
LOWER = " (lower is better)"
# Questions first, then those that join a round's core only if it has enough of them, or a model's if it can be asked.
CORE: tuple[Core, ...] = tuple(
    core
    for is_always in (True, False)
    for board in ("reading", "writing", None)
    for family in FAMILIES
    for core in family.core
    if family.board == board and core.is_always_asked == is_always
)


def headline() -> tuple[str, ...]:
    """Return the names of all headline metrics."""
    return tuple(metric.name for metric in METRICS if metric.headline)


def find_metric(name: str) -> Metric | None:
    """Return the metric of a name; None if there is none."""
    return _BY_NAME.get(name)


def is_lower_better(name: str) -> bool:
    """Tell whether lower values of a metric are better."""
    metric = find_metric(name)
    return metric is not None and metric.best == "lower"


def floors_of(name: str) -> tuple[str, ...]:
    """Return the floors of a metric; none if it is not registered."""
    return metric.floors if (metric := find_metric(name)) else ()


def label(name: str) -> str:
    """Return a metric's name for display; the name itself if it is not one of ours."""
    return metric.label if (metric := find_metric(name)) else name


def check_names(names: Iterable[str]) -> None:
    """Raise an EvalError for a name that no metric has."""
    for name in names:
        if name not in _BY_NAME:
            raise EvalError(f"no metric {name!r:.60}; {suggestion(name, _BY_NAME, '{}')}")


def comparisons(boards: Mapping[str, Board | None]) -> int:
    """Return how many rows the comparison of two models has: one for each task, given with its board by the name of its configuration, and
    one for each board that counts several of them.
    """
    sets = [counted([name for name in boards if boards[name] == board], board) for board in BOARDS]
    return len(boards) + sum(len(names) > 1 for names in sets)


def counted(names: Collection[str], board: Board, core: Collection[str] = ()) -> tuple[str, ...]:
    """Return the configurations that a board counts, which no model's runs decide.

    Args:
        names: of the round's configurations.
        core: those that the round's manifest calls its core.
    """
    return tuple(name for family in FAMILIES if family.board == board for name in family.counted(names, core))
