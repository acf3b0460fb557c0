"""Names of configurations: which of them could be taken for another, and what they tell."""

from __future__ import annotations

import re
from collections.abc import Iterable

from builder.errors import RoundError
from lm_eval_tasks.core.row_format import CORE, IDS

_LENGTH = re.compile(r"-(\d+)K")


def refuse_names(own: Iterable[str], taken: Iterable[str], what: str) -> None:
    """Raise a RoundError for one of the round's own names that could be taken for another configuration.

    Names become folders, and some file systems do not distinguish capitals.
    """
    known = {name.casefold() for name in taken}
    for name in own:
        if name.casefold() in known:
            raise RoundError(f"the {what} {name!r} of round.toml has the name of another one; rename it")
        if name.casefold().endswith((CORE, IDS)):
            raise RoundError(
                f"the {what} {name!r} of round.toml ends like the name of a derived configuration; rename it"
            )
        known.add(name.casefold())


def thousands_in(name: str) -> int | None:
    """The thousands of tokens in a setting's name: 28 of "Intro-28K-G"."""
    found = _LENGTH.search(name)
    return int(found[1]) if found else None
