"""Manifests of rounds that nobody has built."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lm_eval_tasks.base.contract import WRITING_TASKS
from lm_eval_tasks.base.figures import Statistics
from lm_eval_tasks.base.files import sha256_of
from lm_eval_tasks.base.manifest import CoreEntry, DataFile, ListedConfiguration, Manifest, SplitContents
from lm_eval_tasks.base.manifest_file import manifest_bytes
from lm_eval_tasks.families import configuration_of


def write_manifest(
    folder: Path, configurations: Iterable[str], core: Iterable[str] = (), empty: Iterable[str] = (), rows: int = 1
) -> None:
    """A manifest that lists configurations, each with a file of test rows that need not be there; the `empty` ones without any."""
    every = [_listed(folder, name, rows) for name in configurations]
    every += [_listed(folder, name, 0) for name in empty]
    entries = tuple(CoreEntry(name, 5, "start") for name in core)
    manifest = Manifest("2026.11", "1", tuple(every), (), core=entries)
    (folder / "manifest.json").write_bytes(manifest_bytes(manifest))


def test_file(name: str) -> str:
    return f"{name}/test-{'0' * 16}-00000-of-00001.parquet"


def _listed(folder: Path, name: str, rows: int) -> ListedConfiguration:
    task, path = configuration_of(name).task, folder / test_file(name)
    digest = sha256_of(path) if path.is_file() else "0" * 64
    contents = SplitContents((DataFile(test_file(name), digest, 1, rows, 1),), Statistics(rows))
    form = "full" if task in WRITING_TASKS else "questions"
    return ListedConfiguration(name, task, form, splits={"test": contents} if rows else {})
