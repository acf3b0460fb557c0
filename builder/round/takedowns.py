"""Papers that were taken down: which, when and why. Rounds that are built later do not show them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from builder.errors import RoundError
from builder.ids import PaperId
from lm_eval_tasks.base.text import parse_json

TAKEDOWNS = "takedowns.jsonl"


@dataclass(frozen=True, slots=True)
class Takedown:
    """One paper whose texts are not to be shown any more.

    Attributes:
        id: bare arXiv id, without version.
        date: ISO day on which it was taken down.
        revision: the first one without it.
    """

    id: str
    date: str
    reason: str
    revision: str


def parse_takedowns(data: bytes, origin: str) -> list[Takedown]:
    """The lines of a `takedowns.jsonl`; only `id` has to be there, so that a list can be kept by hand.

    Raises:
        RoundError: a line is not a JSON object with an arXiv id.
    """
    takedowns = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = parse_json(line)
            parsed = PaperId.parse(str(fields["id"]))
        except (ValueError, KeyError, TypeError):
            parsed = None
        if parsed is None:
            raise RoundError(f'{origin}, line {number}: a takedown is a JSON object like {{"id": "2401.00001"}}')
        takedowns.append(Takedown(parsed.bare, *(str(fields.get(name, "")) for name in ("date", "reason", "revision"))))
    return takedowns


def takedown_lines(takedowns: Iterable[Takedown]) -> str:
    """The file's text."""
    return "".join(json.dumps(asdict(takedown), sort_keys=True) + "\n" for takedown in takedowns)


def taken_down(path: Path) -> frozenset[str]:
    """The ids in a file, none if there is no such file."""
    if not path.is_file():
        return frozenset()
    return frozenset(takedown.id for takedown in parse_takedowns(path.read_bytes(), str(path)))
