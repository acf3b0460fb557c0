"""What writes the rows of a configuration, with what its family measures of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from builder.families.registry import columns_of, family_of
from builder.parquet.tally import Measure, Tally
from builder.parquet.write import ConfigurationWriter
from lm_eval_tasks import families as evaluated
from lm_eval_tasks.base.contract import PAPERS_TASK
from lm_eval_tasks.base.manifest import ListedConfiguration


def tally_of(task: str, measure: Callable[[], Measure] | None = None) -> Tally:
    """Make what counts the rows of a task.

    Args:
        measure: instead of the usual one of the family.
    """
    family = family_of(task)
    spread = None if task == PAPERS_TASK else evaluated.target_of(task).spread
    if measure:
        return Tally(spread, measure())
    return Tally(spread, family.measure(task) if family.measure else None)


def writer_of(
    folder: Path, configuration: ListedConfiguration, measure: Callable[[], Measure] | None = None
) -> ConfigurationWriter:
    """Make what writes the rows of a configuration and measures them.

    Args:
        measure: instead of the usual one of the family.
    """
    return ConfigurationWriter(
        folder,
        configuration,
        columns_of(configuration),
        lambda: tally_of(configuration.task, measure),
        family_of(configuration.task).finish,
    )
