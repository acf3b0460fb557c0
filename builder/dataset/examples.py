"""One row of each configuration, its long texts cut, for the dataset card."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from lm_eval_tasks.base.contract import PAPERS_TASK, SPLITS
from lm_eval_tasks.base.manifest import ListedConfiguration, place_of

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
    """Yield the first row, if there is one; of a dataset that was made elsewhere it may have empty cells."""
    files = (file for split in reversed(SPLITS) for file in configuration.files(split) if file.rows)
    for file in islice(files, 1):
        with pq.ParquetFile(place_of(folder, file.path)) as table:
            yield from next(table.iter_batches(batch_size=1)).to_pylist()


def _shortened(value: Any) -> Any:
    """Cut texts after some words, and lists after their first entry; both say how much there is."""
    if isinstance(value, str) and len(value) > _WHOLE:
        return f"{value[:_SHOWN].rpartition(' ')[0] or value[:_SHOWN]} … ({len(value.split()):,} words)"
    if isinstance(value, list):
        return [*map(_shortened, value[:1]), *([f"… ({len(value)} entries)"] if len(value) > 1 else [])]
    if isinstance(value, dict):
        return {key: _shortened(entry) for key, entry in value.items()}
    return value
