"""What was found wrong with published revisions: the list `errata.jsonl` that lies next to the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from builder.errors import FolderError
from lm_eval_tasks.base.text import parse_json

ERRATA = "errata.jsonl"


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


_ERRATUM = TypeAdapter(Erratum)


def parse_errata(data: bytes | None) -> list[Erratum]:
    """The entries of an `errata.jsonl`, none if there is no file.

    Raises:
        FolderError: it is not in the form that we write.
    """
    try:
        lines = [parse_json(line) for line in (data or b"").decode().splitlines() if line.strip()]
        return [_ERRATUM.validate_python(line) for line in lines]
    except ValueError as err:
        reason = err.errors()[0]["msg"] if isinstance(err, ValidationError) else err
        raise FolderError(f"the repository's {ERRATA} cannot be read ({reason}); repair it first") from err


def errata_lines(errata: Sequence[Erratum]) -> bytes:
    """The file's content."""
    return "".join(json.dumps(asdict(erratum), sort_keys=True) + "\n" for erratum in errata).encode()
