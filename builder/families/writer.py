"""What writes the rows of a configuration, with what its family measures of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from builder.families.registry import columns_of, family_of
from builder.parquet.schema import Row
from builder.parquet.tally import Measure, Tally
from builder.parquet.write import SplitWriter
from lm_eval_tasks import families as evaluated
from lm_eval_tasks.base.contract import PAPERS_TASK, SPLITS, Split
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


class ConfigurationWriter:
    """Writes the rows of one configuration and measures them.

    Args:
        configuration: what is written; the files that it names are ignored.
        measure: instead of the usual one of the family.
    """

    def __init__(
        self, folder: Path, configuration: ListedConfiguration, measure: Callable[[], Measure] | None = None
    ) -> None:
        self._folder, self._configuration = folder, configuration
        place, columns = folder / configuration.name, columns_of(configuration)
        self._splits = {
            split: SplitWriter(place, split, columns, tally_of(configuration.task, measure)) for split in SPLITS
        }

    def add(self, split: Split, row: Row) -> None:
        """Write a row behind the others of its split."""
        self._splits[split].add(row)

    def close(self) -> ListedConfiguration:
        """Finish the files; return the configuration with them. A split without rows has none: `datasets` refuses empty files."""
        closed = {split: writer.close() for split, writer in self._splits.items()}
        filled = {split: contents for split, contents in closed.items() if contents.files}
        configuration = replace(self._configuration, splits=filled)
        finish = family_of(configuration.task).finish
        return finish(self._folder, configuration) if finish else configuration
