"""Which configuration of the dataset a task of lm-eval reads."""

from __future__ import annotations

from functools import cache

from builder.round import levels
from builder.round import settings as registry


def setting_of(task: str) -> str | None:
    """The configuration that a task asks about as it stands; None for groups, variants and means of several."""
    return _settings().get(task)


@cache
def _settings() -> dict[str, str]:
    names = {f"academiceval_{one.name.lower().replace('-', '_')}": one.name for one in registry.BUILT_IN}
    return names | {level.name.lower().replace("-", "_"): level.name for level in levels.BUILT_IN}
