"""What a judge says about two answers, and reading it: by its schema, never guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lm_eval_tasks.prompts import templates
from lm_eval_tasks.text import parse_json

PROMPT = "judge"
OVERALL = "Overall Winner"
DIMENSIONS = ("Novelty", "Feasibility", "Consistency", "Factuality", "Academic Style")
REPAIR = "This is not the JSON object that was asked for. Output the JSON object alone, in exactly the given format."
_WINNER = re.compile(r"\[?\s*Answer\s*([12])\s*\]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """For each dimension and the whole the place of the better answer, 1 or 2."""

    winners: dict[str, int]


def prompt_of(first: str, second: str) -> str:
    """The published prompt about two answers."""
    head, rest = templates.words(PROMPT).split("{answer1}")
    middle, tail = rest.split("{answer2}")
    return f"{head}{first}{middle}{second}{tail}"


def parse(text: str) -> Verdict | None:
    """The verdict in a judge's answer; None where it is not the JSON object that was asked for."""
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
    found = {name: place for name, place in winners.items() if place is not None}
    return Verdict(found) if len(found) == len(winners) else None


def is_complete(winners: object) -> bool:
    """Whether these are the winners of a verdict: a place for each dimension and the whole."""
    return isinstance(winners, dict) and all(winners.get(name) in (1, 2) for name in (*DIMENSIONS, OVERALL))


def _winner(value: Any) -> int | None:
    said = value.get("Winner") if isinstance(value, dict) else value
    match = _WINNER.fullmatch(said.strip()) if isinstance(said, str) else None
    return int(match[1]) if match else None
