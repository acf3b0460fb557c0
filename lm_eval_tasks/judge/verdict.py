"""What a judge says about two answers, and reading it: what is not named is never guessed. Verdicts -> win rates: over both orders, over
the first alone (the paper's), and by dimension.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.base.intervals import level
from lm_eval_tasks.base.tables import Table, with_bounds

# The published prompt, `judge.txt`; any change to it is a new version.
PROMPT_VERSION = 1
OVERALL = "Overall Winner"
DIMENSIONS = ("Novelty", "Feasibility", "Consistency", "Factuality", "Academic Style")
REPAIR = "This is not the JSON object that was asked for. Output the JSON object alone, in exactly the given format."
# The winner of a verdict that prefers neither answer.
TIE = 0
_WINNER = re.compile(r"[\[\s*]*Answer\s*([12])[\]\s*.]*", re.IGNORECASE)
_TIE = re.compile(r"[\[\s*]*(?:both(?: answers)?|neither|tie|tied|draw|equal|same|none)[\]\s*.]*", re.IGNORECASE)
# A verdict is short and comes last; what is read of an answer that never ends, and how many braces are tried.
_LONGEST, _MOST_TRIES = 20_000, 500


def texts_hash(text: str, target: str) -> str:
    """What tells the two texts of a verdict from others."""
    return sha256_of_bytes(json.dumps([text, target]))[:32]


def points_of(orders: Sequence[Mapping[str, int] | None], dimension: str = OVERALL) -> float | None:
    """1 if both orders, with a text first and with it second, prefer that text, 0 if neither does, a tie or a disagreement in between; None
    if unread.
    """
    points = [points_in(winners, place, dimension) for place, winners in enumerate(orders, start=1)]
    known = [value for value in points if value is not None]
    return sum(known) / len(points) if len(known) == len(points) else None


def points_in(winners: Mapping[str, int] | None, place: int, dimension: str = OVERALL) -> float | None:
    """The points of the answer at a place in one order: 1, 0, or 0.5 for a tie; None if unread."""
    winner = winners.get(dimension) if winners else None
    if winner is None:
        return None
    return 0.5 if winner == TIE else float(winner == place)


def prompt_of(first: str, second: str, evidence: str = "") -> str:
    """The published prompt about two answers; or with evidence our own prompt, in which it precedes both."""
    words = (Path(__file__).parent / ("evidence.txt" if evidence else "judge.txt")).read_text(encoding="utf-8")
    texts = {"evidence": evidence, "answer1": first, "answer2": second}
    return re.sub(r"\{(evidence|answer[12])\}", lambda field: texts[field[1]], words)


def parse(text: str) -> dict[str, int] | None:
    """The verdict in a judge's answer: overall, and for each dimension that can be read, the place of the better answer, 1 or 2, or `TIE`.
    It is the last JSON object that names an overall winner, for drafts come first, and none that another such object holds; None without
    any.
    """
    verdict, end = None, 0
    for content, stop in _objects(text):
        winners = {name: place for name in (*DIMENSIONS, OVERALL) if (place := _winner(content.get(name))) is not None}
        if OVERALL in winners and stop > end:
            verdict, end = winners, stop
    return verdict


def _objects(text: str) -> Iterator[tuple[dict[str, object], int]]:
    """The JSON objects in a text, whatever stands around them, and where they end; the one that begins last first."""
    text = text[-_LONGEST:]
    at = text.rfind("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        with suppress(ValueError, RecursionError):
            yield json.JSONDecoder().raw_decode(text, at)
        at = text.rfind("{", 0, at)


def is_complete(winners: object) -> bool:
    """Whether these are the winners of a verdict: overall, and of no dimension anything but a place or a tie."""
    places = (1, 2, TIE)
    return (
        isinstance(winners, dict)
        and winners.get(OVERALL) in places
        and all(winners.get(name, TIE) in places for name in DIMENSIONS)
    )


def _winner(value: Any) -> int | None:
    said = value.get("Winner") if isinstance(value, dict) else value
    if not isinstance(said, str):
        return None
    if _TIE.fullmatch(said.strip()):
        return TIE
    match = _WINNER.fullmatch(said.strip())
    return int(match[1]) if match else None


def table(results: Mapping[str, Any]) -> Table:
    """A row for each task and judge."""
    head = ("Task", "Judge", "Judged", "Win rate [95%]", "Worst and best case", "One order", "Consistent")
    rows = [
        (task, model, *_cells(figures))
        for task, judges in results["tasks"].items()
        for model, figures in judges.items()
    ]
    return Table(head, "llrrrrr", rows)


def _cells(figures: Mapping[str, Any]) -> tuple[object, ...]:
    raw, consistent = (
        "" if figures[name] is None else f"{figures[name]:.3f}" for name in ("raw_win_rate", "position_consistency")
    )
    judged = figures["judged"]
    if raw and (read := figures.get("raw_judged", judged)) != judged:
        raw += f" (of {read})"
    return (
        f"{judged} of {figures['samples']}",
        with_bounds(rate["value"], rate["low"], rate["high"], ".3f") if (rate := figures["win_rate"]) else "",
        " to ".join(f"{rate:.3f}" for rate in figures["worst_and_best"] or ()) if judged < figures["samples"] else "",
        raw,
        consistent,
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """One sample as a judge saw it.

    Attributes:
        orders: the winners' places with the generated text first, and with it second; None if a verdict could not be read.
        empty: there was no text to judge, which is a loss.
        unopposed: there was no text to compare it with, which is a win.
        failed: questions that got no answer.
    """

    task: str
    id: str
    cluster: str
    orders: tuple[Mapping[str, int] | None, Mapping[str, int] | None]
    empty: bool
    failed: int = 0
    unopposed: bool = False

    @property
    def settled(self) -> float | None:
        """The points of a sample that needs no judge, because a text is missing; None for all others."""
        return (self.unopposed + (not self.empty)) / 2 if self.empty or self.unopposed else None

    def by_order(self) -> tuple[float | None, float | None]:
        """The points of the generated text in the order in which it came first, and in the other."""
        return points_in(self.orders[0], 1), points_in(self.orders[1], 2)

    def points(self, dimension: str = OVERALL) -> float | None:
        """1 if both orders prefer the generated text, 0 if neither does, between them for ties and disagreements; None if unread."""
        return points_of(self.orders, dimension) if self.settled is None else self.settled

    def points_if(self, unread: float) -> float:
        """The same if every verdict that could not be read gave so many points."""
        settled, by_order = self.settled, self.by_order()
        return fmean(unread if points is None else points for points in by_order) if settled is None else settled


def summary(samples: Sequence[Judged]) -> dict[str, Any]:
    """The figures of one task and judge; rates are None if no verdict could be read."""
    verdicts = [winners for sample in samples for winners in sample.orders if winners is not None]
    both = [pair for sample in samples if None not in (pair := sample.by_order())]
    failed = sum(sample.failed for sample in samples)
    # In the first order alone: the paper's win rate.
    firsts = (sample.by_order()[0] if sample.settled is None else sample.settled for sample in samples)
    raw = [points for points in firsts if points is not None]
    return {
        "samples": len(samples),
        "empty": sum(sample.empty for sample in samples),
        "failed": failed,
        "unparseable": sum(2 for sample in samples if sample.settled is None) - len(verdicts) - failed,
        "judged": sum(sample.points() is not None for sample in samples),
        "ties": sum(winners[OVERALL] == TIE for winners in verdicts),
        "win_rate": _mean_points(samples, OVERALL),
        # If all verdicts that could not be read were losses, and if all were wins.
        "worst_and_best": [fmean(sample.points_if(points) for sample in samples) for points in (0.0, 1.0)]
        if samples
        else None,
        "raw_win_rate": fmean(raw) if raw else None,
        "raw_judged": len(raw),
        "position_consistency": fmean(first == second for first, second in both) if both else None,
        "first_place_share": fmean(points_in(winners, 1) or 0.0 for winners in verdicts) if verdicts else None,
        "dimensions": {name: _mean_points(samples, name) for name in DIMENSIONS},
    }


def _mean_points(samples: Sequence[Judged], name: str) -> dict[str, float | None] | None:
    read = [(points, sample.cluster) for sample in samples if (points := sample.points(name)) is not None]
    if not read:
        return None
    over = level([points for points, _ in read], [cluster for _, cluster in read])
    return {"value": over.mean, "low": over.low, "high": over.high, "samples": over.samples}
