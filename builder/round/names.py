"""Names of configurations: what may not be taken for another one, and what they tell."""

from __future__ import annotations

import re
from collections.abc import Iterable

from builder.errors import RoundError
from lm_eval_tasks.row_format import CORE, IDS

_LENGTH = re.compile(r"-(\d+)K")


def refuse_names(own: Iterable[str], taken: Iterable[str], what: str) -> None:
    """Raise a RoundError for a name of the round's own that somebody could take for another configuration.

    Names become folders, so that capitals do not tell them apart everywhere.
    """
    known = {name.casefold() for name in taken}
    for name in own:
        if name.casefold() in known:
            raise RoundError(f"the {what} {name!r} of round.toml is called like another one; rename it")
        if name.casefold().endswith((CORE, IDS)):
            raise RoundError(
                f"the {what} {name!r} of round.toml ends like a configuration that is made beside one; rename it"
            )
        known.add(name.casefold())


def thousands_in(name: str) -> int | None:
    """The thousands of tokens that a setting's name tells: 28 of "Intro-28K-G"."""
    told = _LENGTH.search(name)
    return int(told[1]) if told else None
