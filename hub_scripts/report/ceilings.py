"""The ceilings of a round's settings, as its manifest says them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from lm_eval_tasks.metrics.bertscore import DEFAULT_MODEL, NO_MODEL

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest
    from lm_eval_tasks.samples.results import Results


def scorers_of(runs: Iterable[Results]) -> frozenset[str]:
    """The BERTScore models of runs; their scores cannot be compared with those of another model."""
    return frozenset(str(run.options.get("bertscore_model") or DEFAULT_MODEL) for run in runs if run.run) - {NO_MODEL}


def ceilings_of(round_: str, task: str, manifests: Iterable[Manifest], scorers: Collection[str]) -> dict[str, float]:
    """Metric -> ceiling of a task's settings; nothing where no manifest of the round says it, or too few authors revised.

    Args:
        task: as settings name it, "abs".
        scorers: the BERTScore models of the scores that the ceiling is shown with.
    """
    for manifest in manifests:
        known = {str(name): one for name, one in manifest.ceilings.items()}.get(task)
        if manifest.round == round_ and known:
            same = set(scorers) == {known.model}
            figures = {"rouge_l": known.rouge_l, "bertscore": known.bertscore if same else None}
            return {name: one.mean for name, one in figures.items() if one is not None and one.low is not None}
    return {}
