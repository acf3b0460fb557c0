"""All families at once, for what goes over all of them; one that asks a single task needs only its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lm_eval_tasks.families import NAMES, family_of_name

if TYPE_CHECKING:
    from lm_eval_tasks.families.family import Family, Target

FAMILIES: tuple[Family, ...] = tuple(map(family_of_name, NAMES))
TARGETS: tuple[Target, ...] = tuple(target for family in FAMILIES for target in family.targets)
BASELINES: tuple[str, ...] = tuple(dict.fromkeys(name for family in FAMILIES for name in family.baselines))
