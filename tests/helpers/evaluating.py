"""Evaluations from a test, without the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lm_eval_tasks.evaluate import run
from lm_eval_tasks.evaluate.generation import Generation
from lm_eval_tasks.evaluate.run_plan import RunPlan, SampleSelection
from lm_eval_tasks.samples.block import Score


def evaluate(
    model: str,
    model_args: str,
    tasks: Sequence[str],
    metadata: Mapping[str, object],
    selection: SampleSelection | None = None,
    output: Path | None = None,
    generation: Generation | None = None,
    **others: Any,
) -> list[Score]:
    """The scores of a run."""
    plan = RunPlan.of(
        model=model,
        model_args=model_args,
        tasks=tuple(tasks),
        metadata=metadata,
        selection=selection or SampleSelection(),
        output=output,
        generation=generation or Generation(),
        **others,
    )
    return run.evaluate(plan)
