"""What the reading families share: many papers are shown, and a question is asked whose answer a program knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.base.contract import BM25_PARTS
from lm_eval_tasks.families.descriptor import (
    CAPPED,
    NO_ANSWER,
    UNFINISHED,
    Board,
    Configuration,
    Family,
    Metric,
    Target,
    Task,
    slug_of,
)
from lm_eval_tasks.families.reading.reading_row import ReadingOwn

ANSWER_TOKENS = 512
BLIND = "blind"
# Of contexts, in units of 1,024 tokens: whole papers want the larger ones.
WHOLE_PAPERS = {"128K": 128, "256K": 256, "512K": 512, "1M": 1024}
SMALL = {"8K": 8, "16K": 16, "32K": 32, "64K": 64}
_MODULE = "families.reading.answering"
OUTSIDE = Metric("outside", "Names a label that there is not", "lower", _MODULE)
UNREADABLE = Metric("unreadable", "Has an entry that names no label", "lower", _MODULE)
RATES = (CAPPED, NO_ANSWER, UNFINISHED, OUTSIDE, UNREADABLE)
# Of answers that give each label asked about another one.
PAIRS_METRICS = (
    Metric(
        "share_right",
        "Share right",
        "higher",
        _MODULE,
        of_answer=True,
        headline=True,
        floors=("share_right_random", "share_right_bm25"),
        zero=("share_right_random", "share_right_bm25"),
    ),
    Metric("share_right_strict", "Share right, answers read strictly", "higher", _MODULE, of_answer=True),
    Metric("share_right_random", "Share right of guessing", "lower", _MODULE),
    Metric("share_right_bm25", "Share right of BM25 between what is shown", "neither", _MODULE, baseline=BM25_PARTS),
    *RATES,
)


@dataclass(frozen=True, slots=True)
class Reading(Configuration):
    """One configuration of a reading family: questions over as many papers as fill a context.

    Attributes:
        size: of the context, in units of 1,024 tokens.
        controls: whether its questions are those that the family's shortcut answers, to compare with.
    """

    size: int
    controls: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingFamily(Family):
    """Questions over as many papers as fill a context.

    Attributes:
        word: what a label is called in the prompts.
        asked_word: what is asked about where each gets an answer of its own.
        shows_cited: whether contexts show texts of works that the new paper cites.
    """

    board: Board = "reading"
    own: type[Any] = ReadingOwn
    group: str = "academiceval_reading"
    metrics: tuple[Metric, ...] = PAIRS_METRICS
    baselines: tuple[str, ...] = (BLIND, BM25_PARTS)
    word: str = "Paper"
    asked_word: str = ""
    shows_cited: bool = False


def reading_family(
    target: Target, sizes: Mapping[str, int] = WHOLE_PAPERS, more: Sequence[Reading] = (), **others: Any
) -> ReadingFamily:
    """Return a reading family in some sizes.

    Args:
        more: configurations besides these.
        others: fields of the family.
    """
    readings = (*(Reading(f"{target.title}-{size}", target.name, number) for size, number in sizes.items()), *more)
    tasks = (Task(each.task, f"academiceval_{slug_of(each.name)}", each.name, ANSWER_TOKENS) for each in readings)
    return ReadingFamily(name=target.name, targets=(target,), configurations=readings, tasks=tuple(tasks), **others)
