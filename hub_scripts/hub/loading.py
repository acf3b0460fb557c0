"""`load_dataset` as users call it, each time with a cache of its own, and what the manifest expects of it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from datasets import DownloadConfig, load_dataset

from hub_scripts.errors import AccessError, DifferenceError
from hub_scripts.hub.faults import understand
from hub_scripts.hub.repo import WAITS

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

# Split -> rows.
Count = dict[str, int]


def counts_of(manifest: Manifest) -> dict[str, Count]:
    """Configuration -> split -> rows, of those that have any."""
    return {
        one.name: {split: sum(file.rows for file in contents.files) for split, contents in one.splits.items()}
        for one in manifest.configurations
        if one.samples
    }


def load_counts(place: str, name: str, cache: Path, revision: str | None = None) -> Count:
    """Load a configuration whole and count its rows; the cache is removed.

    Raises:
        DifferenceError: it cannot be loaded.
        HubError: the Hub does not answer, or not to this token.
    """

    def load() -> Count:
        files = DownloadConfig(cache_dir=cache / "files")
        loaded = load_dataset(place, name, revision=revision, cache_dir=str(cache), download_config=files)
        return {split: rows.num_rows for split, rows in loaded.items()}

    try:
        return _tried(load, place, name)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def stream_counts(place: str, name: str, columns: Sequence[str], revision: str) -> Count:
    """Stream a configuration and count its rows; of the rows only some columns are fetched.

    Raises:
        DifferenceError: it cannot be streamed.
        HubError: the Hub does not answer, or not to this token.
    """

    def stream() -> Count:
        streamed = load_dataset(place, name, revision=revision, streaming=True)
        return {split: sum(1 for _ in rows.select_columns(list(columns))) for split, rows in streamed.items()}

    return _tried(stream, place, name)


def _tried(load: Callable[[], Count], place: str, name: str) -> Count:
    """Load, and again where the Hub or the way to it was at fault and not the data."""
    for wait in (*WAITS, None):
        try:
            return load()
        except Exception as err:
            fault = understand(err, place)
            if isinstance(fault.error, AccessError) or (fault.again and wait is None):
                raise fault.error from err
            if not fault.again or wait is None:
                told = next((line for line in str(err).splitlines() if line.strip()), type(err).__name__)
                raise DifferenceError(f"load_dataset of {name} in {place} fails: {told}") from err
            time.sleep(max(wait, fault.wait))
    raise AssertionError("the last try returns or raises")
