"""What a judge says about two answers, and reading it: what is not named is never guessed."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any

from lm_eval_tasks.base.files import sha256_of_bytes
from lm_eval_tasks.llm.thoughts import take_apart

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


# In place of the winners in both orders, where a text is missing and no judge was asked -> the points of the generated text.
SETTLED = {"empty": 0.0, "unopposed": 1.0, "no texts": 0.5}


def texts_hash(text: str, target: str) -> str:
    """Return what tells the two texts of a verdict from others."""
    return sha256_of_bytes(json.dumps([text, target]))[:32]


def points_of(orders: Sequence[Mapping[str, int] | None], dimension: str = OVERALL) -> float | None:
    """Return 1 if both orders, with a text first and with it second, prefer that text, 0 if neither does, a tie or a disagreement in
    between; None if unread.
    """
    points = [points_in(winners, answer, dimension) for answer, winners in enumerate(orders, start=1)]
    known = [value for value in points if value is not None]
    return fmean(known) if known and len(known) == len(points) else None


def points_in(winners: Mapping[str, int] | None, answer: int, dimension: str = OVERALL) -> float | None:
    """Give the points of an answer, 1 or 2, in one order: 1, 0, or 0.5 for a tie; None if unread."""
    winner = winners.get(dimension) if winners else None
    if winner is None:
        return None
    return 0.5 if winner == TIE else float(winner == answer)


def prompt_of(first: str, second: str, evidence: str = "") -> str:
    """Return the published prompt about two answers; or with evidence our own prompt, in which it precedes both."""
    words = _words("evidence.txt" if evidence else "judge.txt")
    texts = {"evidence": evidence, "answer1": first, "answer2": second}
    return re.sub(r"\{(evidence|answer[12])\}", lambda field: texts[field[1]], words)


@cache
def _words(file: str) -> str:
    return (Path(__file__).parent / file).read_text(encoding="utf-8")


def parse(text: str) -> dict[str, int] | None:
    """Return the verdict in a judge's answer: overall, and for each dimension that can be read, the place of the better answer, 1 or 2, or
    `TIE`. It is the last JSON object that names an overall winner, for drafts come first, and none that another such object holds; None
    without any. Reasoning is no part of the answer.
    """
    verdict, end = None, 0
    for content, stop in _objects(take_apart(text).answer):
        named = {name: _winner(content.get(name)) for name in (*DIMENSIONS, OVERALL)}
        winners = {name: winner for name, winner in named.items() if winner is not None}
        if OVERALL in winners and stop > end:
            verdict, end = winners, stop
    return verdict


def _objects(text: str) -> Iterator[tuple[dict[str, object], int]]:
    """Yield the JSON objects in a text, whatever stands around them, and where they end; the one that begins last first."""
    text = text[-_LONGEST:]
    at = text.rfind("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        with suppress(ValueError, RecursionError):
            yield json.JSONDecoder().raw_decode(text, at)
        at = text.rfind("{", 0, at)


def is_complete(winners: object) -> bool:
    """Tell whether these are the winners of a verdict: overall, and of no dimension anything but a place or a tie."""
    outcomes = (1, 2, TIE)
    return (
        isinstance(winners, dict)
        and winners.get(OVERALL) in outcomes
        and all(winners.get(name, TIE) in outcomes for name in DIMENSIONS)
    )


def _winner(value: Any) -> int | None:
    said = value.get("Winner") if isinstance(value, dict) else value
    if not isinstance(said, str):
        return None
    if _TIE.fullmatch(said.strip()):
        return TIE
    match = _WINNER.fullmatch(said.strip())
    return int(match[1]) if match else None
