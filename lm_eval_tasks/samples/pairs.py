"""The samples that two runs have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.base.errors import SamplesError

if TYPE_CHECKING:
    from lm_eval_tasks.samples.sample import Sample


def paired(task: str, first: Sequence[Sample], second: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """The samples of two runs that asked the same of the same content, whatever their rounds are called.

    Args:
        task: of both.

    Raises:
        SamplesError: fewer than half of the smaller run's samples are in the other.
    """
    theirs = {sample.identity: sample for sample in second}
    pairs = [(sample, theirs[sample.identity]) for sample in first if sample.identity in theirs]
    fewest = min(len(first), len(second))
    if 2 * len(pairs) < fewest:
        raise SamplesError(
            f"the two runs of {task} have only {len(pairs)} of {fewest} rows in common: {_difference_of(first, second)}"
        )
    return pairs


def _difference_of(first: Sequence[Sample], second: Sequence[Sample]) -> str:
    """Why the rows of two runs are not the same."""
    if len({bool(sample.row.row_hash) for sample in (*first, *second)}) > 1:
        return "an earlier release made one of them and noted no hash of its rows; run it again into its folder, which asks nothing twice"
    versions = {sample.row.prompt_version for sample in first}, {sample.row.prompt_version for sample in second}
    rounds = {sample.row.round for sample in first}, {sample.row.round for sample in second}
    if versions[0] != versions[1]:
        names = (" and ".join(map(str, sorted(each))) for each in versions)
        return "their prompts have the versions {} and {}".format(*names)
    if rounds[0] != rounds[1]:
        return "they are of the rounds {} and {}".format(*(" and ".join(sorted(each)) for each in rounds))
    if len({sample.id for sample in first} & {sample.id for sample in second}) * 2 >= min(len(first), len(second)):
        return "the rows of these ids have other contents, so the round was built again"
    return "they asked different samples"
