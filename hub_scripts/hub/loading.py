"""`load_dataset` as users call it, each time with a cache of its own, and what the manifest expects of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from datasets import DownloadConfig, load_dataset
from huggingface_hub import HfFileSystem

from hub_scripts.errors import AccessError, DifferenceError
from hub_scripts.hub.faults import FaultError, ask_with_retries
from lm_eval_tasks.compat.datasets import without_torch

if TYPE_CHECKING:
    from builder.dataset.manifest import Manifest

# Split -> rows.
Count = dict[str, int]


def counts_of(manifest: Manifest) -> dict[str, Count]:
    """Configuration -> split -> rows, of those that have any."""
    return {
        configuration.name: {split: contents.statistics.samples for split, contents in configuration.splits.items()}
        for configuration in manifest.configurations
        if configuration.samples
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
        return _load_with_retries(load, place, name)
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def stream_counts(place: str, name: str, columns: Sequence[str], revision: str) -> Count:
    """Stream a configuration and count its rows; of the rows only some columns are fetched.

    Raises:
        DifferenceError: it cannot be streamed.
        HubError: the Hub does not answer, or not to this token.
    """

    def stream() -> Count:
        with without_torch():
            streamed = load_dataset(place, name, revision=revision, streaming=True)
            return {split: sum(1 for _ in rows.select_columns(list(columns))) for split, rows in streamed.items()}

    return _load_with_retries(stream, place, name)


def _load_with_retries(load: Callable[[], Count], place: str, name: str) -> Count:
    """Load, and again where the Hub or the way to it was at fault and not the data."""

    def fresh() -> Count:
        # It remembers by thread number which files and revisions it did not find, even for later threads.
        HfFileSystem.clear_instance_cache()
        return load()

    try:
        return ask_with_retries(fresh, place, caught=Exception)
    except FaultError as err:
        if err.fault.again or isinstance(err.fault.error, AccessError):
            raise err.fault.error from err.__cause__
        cause = err.__cause__ or err
        line = next((line for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
        raise DifferenceError(f"load_dataset of {name} in {place} fails: {line}") from cause
