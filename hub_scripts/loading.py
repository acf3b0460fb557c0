"""`load_dataset` as users call it, each time with a cache of its own, and what the manifest expects of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from datasets import DownloadConfig, load_dataset

from builder.publishable import by_setting
from hub_scripts.errors import DifferenceError

# Split -> rows.
Count = dict[str, int]


def counts_of(files: Mapping[str, Mapping[str, Any]]) -> dict[str, Count]:
    """Configuration -> split -> rows, as a manifest lists its files."""
    return {
        name: {split: sum(files[path]["rows"] for path in paths) for split, paths in splits.items()}
        for name, splits in by_setting(dict(files)).items()
    }


def load_counts(place: str, name: str, cache: Path, revision: str | None = None) -> Count:
    """Load a configuration whole and count its rows; the cache is removed.

    Raises:
        DifferenceError: it cannot be loaded.
    """
    try:
        loaded = load_dataset(
            place,
            name,
            revision=revision,
            cache_dir=str(cache),
            download_config=DownloadConfig(cache_dir=cache / "files"),
        )
        return {split: rows.num_rows for split, rows in loaded.items()}
    except Exception as err:
        raise DifferenceError(_cannot(place, name, err)) from err
    finally:
        shutil.rmtree(cache, ignore_errors=True)


def stream_counts(place: str, name: str, columns: Iterable[str], revision: str) -> Count:
    """Stream a configuration and count its rows; of the rows only some columns are fetched.

    Raises:
        DifferenceError: it cannot be streamed.
    """
    try:
        streamed = load_dataset(place, name, revision=revision, streaming=True)
        return {split: sum(1 for _ in rows.select_columns(list(columns))) for split, rows in streamed.items()}
    except Exception as err:
        raise DifferenceError(_cannot(place, name, err)) from err


def _cannot(place: str, name: str, err: Exception) -> str:
    told = next((line for line in str(err).splitlines() if line.strip()), type(err).__name__)
    return f"load_dataset of {name} in {place} fails: {told}"
