"""One model against another: the other's answer stands where the authors' text usually stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lm_eval_tasks.core.errors import JudgeError

if TYPE_CHECKING:
    from lm_eval_tasks.samples.logged import Logged


def against(samples: Sequence[Logged], others: Sequence[Logged]) -> list[Logged]:
    """The samples that both runs hold, each with the other run's answer as its target.

    Raises:
        JudgeError: the runs are of different rounds or prompts, or have no sample in common.
    """
    theirs = {(one.task, one.id): one for one in others}
    pairs = [(one, theirs[one.task, one.id]) for one in samples if (one.task, one.id) in theirs]
    if not pairs:
        raise JudgeError("the two runs have no sample in common; give runs of the same tasks on the same round")
    for one, other in pairs:
        if (one.round, one.prompt_version) != (other.round, other.prompt_version):
            raise JudgeError(
                f"{one.task} {one.id} is of round {one.round} with prompts {one.prompt_version} in one run, and of round {other.round} "
                f"with prompts {other.prompt_version} in the other; such runs cannot be compared"
            )
    return [replace(one, target=other.answer) for one, other in pairs]
