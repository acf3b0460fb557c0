"""One row of each configuration, its long texts cut, for the dataset card."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from builder.families.registry import read_rows
from lm_eval_tasks.base.contract import PAPERS_TASK, SPLITS
from lm_eval_tasks.base.manifest import ListedConfiguration

# Characters of a text that is cut, and of the longest that is not.
_SHOWN, _WHOLE = 120, 160


def examples(folder: Path, configurations: Iterable[ListedConfiguration]) -> dict[str, dict[str, Any]]:
    """Return configuration -> the first row of its newest split, shortened. Rows by id, and the papers that rows share, have none."""
    return {
        configuration.name: _shortened(row)
        for configuration in configurations
        if configuration.form != "ids" and configuration.task != PAPERS_TASK
        for row in _first(folder, configuration)
    }


def _first(folder: Path, configuration: ListedConfiguration) -> Iterator[dict[str, Any]]:
    """Yield the first row, if there is one."""
    for split in reversed(SPLITS):
        for row in read_rows(folder, configuration, split):
            yield row
            return


def _shortened(value: Any) -> Any:
    """Cut texts after some words, and lists after their first entry; both say how much there is."""
    if isinstance(value, str) and len(value) > _WHOLE:
        return f"{value[:_SHOWN].rpartition(' ')[0] or value[:_SHOWN]} … ({len(value.split()):,} words)"
    if isinstance(value, list) and len(value) > 1:
        return [_shortened(value[0]), f"… ({len(value)} entries)"]
    if isinstance(value, list):
        return [_shortened(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _shortened(entry) for key, entry in value.items()}
    return value
