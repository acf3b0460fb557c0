"""What models are called in tables and file names, and options that name models."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from lm_eval_tasks.base.errors import SamplesError

# ORG/MODEL, as opposed to `./MODEL`, `~/MODEL` and `/MODEL`.
_ON_HUB = re.compile(r"[A-Za-z0-9][^/]*/[^/]+")
# A name of a model or a round that becomes a folder.
FOLDER_NAME = re.compile(r"\w[\w.-]{0,199}")
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")


def label(name: str) -> str:
    """What a model is called: `ORG-MODEL` for `ORG/MODEL`, and the last part of a folder's path."""
    return re.sub(r"[^\w.-]+", "-", name if _ON_HUB.fullmatch(name) else name.rstrip("/").rpartition("/")[2])


def cutoffs_of(assignments: Sequence[str], models: Collection[str]) -> dict[str, str]:
    """Model -> month up to which it was trained.

    Args:
        assignments: `MODEL=YYYY-MM` as typed; a model is named as in tables, or as its weights are.
        models: as named in tables.

    Raises:
        SamplesError: one is something else.
    """
    cutoffs = {}
    for assignment in assignments:
        name, _, month = assignment.rpartition("=")
        model = name if name in models else label(name)
        if model not in models or not _MONTH.fullmatch(month):
            raise SamplesError(
                f"--cutoff {assignment!r:.200} is not MODEL=YYYY-MM with a model of these runs: {', '.join(sorted(models))}"
            )
        cutoffs[model] = month
    return cutoffs
