"""The ceilings of a round's settings, as its manifest says them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest


def ceilings_of(round_: str, task: str, manifests: Iterable[Manifest]) -> dict[str, float]:
    """Metric -> ceiling of a task's settings; nothing where no manifest of the round says it, or too few authors revised.

    Args:
        task: as settings name it, "abs".
    """
    for manifest in manifests:
        known = {str(name): one for name, one in manifest.ceilings.items()}.get(task)
        if manifest.round == round_ and known:
            figures = {"rouge_l": known.rouge_l, "bertscore": known.bertscore}
            return {name: one.mean for name, one in figures.items() if one is not None and one.low is not None}
    return {}
