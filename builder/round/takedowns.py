"""What lies next to published data: the papers that were taken down, and what was found wrong with published revisions.

Rounds that are built later do not show the papers in `takedowns.jsonl`.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from builder.errors import FolderError, RoundError
from builder.ids import PaperId
from lm_eval_tasks.base.text import ODD, parse_json
from lm_eval_tasks.base.typed import typed

TAKEDOWNS, ERRATA = "takedowns.jsonl", "errata.jsonl"


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
    """Return the lines of a `takedowns.jsonl`; only `id` has to be there, so that a list can be kept by hand.

    Raises:
        RoundError: a line is not a JSON object with an arXiv id.
    """
    takedowns = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = parse_json(line)
            parsed = PaperId.parse(fields["id"])
        except ODD:
            parsed = None
        if parsed is None:
            raise RoundError(f'{origin}, line {number}: a takedown is a JSON object like {{"id": "2401.00001"}}')
        takedowns.append(
            Takedown(parsed.bare, *(str(fields.get(name) or "") for name in ("date", "reason", "revision")))
        )
    return takedowns


def taken_down(path: Path) -> frozenset[str]:
    """Return the ids in a file, none if there is no such file."""
    return frozenset(entry.id for entry in (parse_takedowns(path.read_bytes(), str(path)) if path.is_file() else ()))


@dataclass(frozen=True, slots=True)
class Erratum:
    """One published revision that should not be used any more.

    Attributes:
        revision: the one that is replaced; its tag stays where it is.
        replacement: the revision to use in its place.
        date: ISO day.
        papers: bare ids of the papers that were taken down, if that was it.
    """

    revision: str
    replacement: str
    date: str
    reason: str
    papers: tuple[str, ...] = ()


def json_lines(entries: Iterable[Takedown | Erratum]) -> bytes:
    """Return the content of either file."""
    return "".join(json.dumps(asdict(entry), sort_keys=True) + "\n" for entry in entries).encode()


def parse_errata(data: bytes | None) -> list[Erratum]:
    """Return the entries of an `errata.jsonl`, none if there is no file; a FolderError if it is not in the form that we write."""
    try:
        return [typed(Erratum, parse_json(line)) for line in (data or b"").decode().splitlines() if line.strip()]
    except ValueError as err:
        raise FolderError(f"the repository's {ERRATA} cannot be read ({err}); repair it first") from err
