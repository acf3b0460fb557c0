"""One model against another: the other's answer stands where the authors' text usually stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import JudgeError

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample


def against(samples: Sequence[Sample], others: Sequence[Sample]) -> list[Sample]:
    """The samples that both runs hold, each with the other run's answer as its target.

    Raises:
        JudgeError: the runs are of different rounds or prompts, or have no sample in common.
    """
    theirs = {(sample.task, sample.id): sample for sample in others}
    pairs = [(one, theirs[one.task, one.id]) for one in samples if (one.task, one.id) in theirs]
    if not pairs:
        raise JudgeError("the two runs have no sample in common; give runs of the same tasks on the same round")
    for sample, other in pairs:
        ours, theirs_ = sample.row, other.row
        if (ours.round, ours.prompt_version) != (theirs_.round, theirs_.prompt_version):
            raise JudgeError(
                f"{sample.task} {sample.id} is of round {ours.round} with prompts {ours.prompt_version} in one run, and of round "
                f"{theirs_.round} with prompts {theirs_.prompt_version} in the other; such runs cannot be compared"
            )
    return [replace(sample, row=replace(sample.row, target=other.answer)) for sample, other in pairs]
