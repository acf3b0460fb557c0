"""What a judge says about two answers, and reading it: by its schema, never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.text import parse_json
from lm_eval_tasks.prompts import templates

PROMPT = "judge"
OVERALL = "Overall Winner"
DIMENSIONS = ("Novelty", "Feasibility", "Consistency", "Factuality", "Academic Style")
CLAIMS = ("supported", "contradicted", "not found")
REPAIR = "This is not the JSON object that was asked for. Output the JSON object alone, in exactly the given format."
_WINNER = re.compile(r"\[?\s*Answer\s*([12])\s*\]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says.

    Attributes:
        winners: for each dimension and overall, the place of the better answer, 1 or 2.
        claims: for each answer, how many of its claims are supported, contradicted and not found; None if that was not asked.
    """

    winners: dict[str, int]
    claims: tuple[dict[str, int], dict[str, int]] | None = None


def points_of(orders: Sequence[Mapping[str, int] | None], dimension: str = OVERALL) -> float | None:
    """1 if both orders prefer the text that comes first in the first order, 0 if neither does, 0.5 if they disagree; None if unread.

    Args:
        orders: the winners with the text first, and with it second.
    """
    first, second = orders
    if not first or not second:
        return None
    return ((first[dimension] == 1) + (second[dimension] == 2)) / 2


def prompt_of(first: str, second: str, evidence: str = "") -> str:
    """The published prompt about two answers; or with evidence our own prompt, in which it precedes both."""
    if evidence:
        before, rest = (Path(__file__).parent / "evidence.txt").read_text(encoding="utf-8").split("{evidence}")
        middle, rest = rest.split("{answer1}")
        between, tail = rest.split("{answer2}")
        return f"{before}{evidence}{middle}{first}{between}{second}{tail}"
    head, rest = templates.words(PROMPT).split("{answer1}")
    middle, tail = rest.split("{answer2}")
    return f"{head}{first}{middle}{second}{tail}"


def parse(text: str) -> Verdict | None:
    """The verdict in a judge's answer; None if it is not the JSON object that was asked for."""
    begins, ends = text.find("{"), text.rfind("}")
    if begins < 0 or ends < begins:
        return None
    try:
        read = parse_json(text[begins : ends + 1])
    except ValueError:
        return None
    if not isinstance(read, dict):
        return None
    winners = {name: _winner(read.get(name)) for name in (*DIMENSIONS, OVERALL)}
    places = {name: place for name, place in winners.items() if place is not None}
    return Verdict(places, _claims(read.get("Claims"))) if len(places) == len(winners) else None


def _claims(value: object) -> tuple[dict[str, int], dict[str, int]] | None:
    """The counts of both answers; None if they are not what was asked for."""
    each = [value.get(f"Answer {place}") for place in (1, 2)] if isinstance(value, dict) else []
    if not each or not all(is_count(counts) for counts in each):
        return None
    first = {name: int(each[0][name]) for name in CLAIMS}  # type: ignore[index]
    second = {name: int(each[1][name]) for name in CLAIMS}  # type: ignore[index]
    return first, second


def is_count(counts: object) -> bool:
    """Whether these are counts of claims."""
    return isinstance(counts, dict) and all(type(counts.get(name)) is int and counts[name] >= 0 for name in CLAIMS)


def is_complete(winners: object) -> bool:
    """Whether these are the winners of a verdict: a place for each dimension and overall."""
    return isinstance(winners, dict) and all(winners.get(name) in (1, 2) for name in (*DIMENSIONS, OVERALL))


def _winner(value: Any) -> int | None:
    said = value.get("Winner") if isinstance(value, dict) else value
    match = _WINNER.fullmatch(said.strip()) if isinstance(said, str) else None
    return int(match[1]) if match else None
