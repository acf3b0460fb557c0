"""An audit is made once for the same files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from builder.dataset import audited as room
from builder.dataset.audit import audit
from builder.dataset.audited import audited
from builder.dataset.manifest import read_manifest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Counts the audits that are really made, with a cache of this test's own."""
    made: list[int] = []

    def counting(*arguments: object) -> object:
        made.append(1)
        return audit(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(room, "audit", counting)
    monkeypatch.setenv("ACADEMICEVAL_CACHE", str(tmp_path / "own"))
    return made


def test_once_for_the_same_files(counted: list[int], dataset: Path) -> None:
    settings = read_manifest(dataset).configurations
    assert audited(dataset, settings) == audited(dataset, settings) == audit(dataset, settings)
    assert len(counted) == 1


def test_again_for_other_files(counted: list[int], dataset: Path) -> None:
    first, *others = read_manifest(dataset).configurations
    audited(dataset, (first, *others))
    changed = {
        split: replace(part, files=tuple(replace(file, sha256="0" * 64) for file in part.files))
        for split, part in first.splits.items()
    }
    audited(dataset, (replace(first, splits=changed), *others))
    assert len(counted) == 2


def test_a_damaged_entry_is_made_again(counted: list[int], dataset: Path, tmp_path: Path) -> None:
    settings = read_manifest(dataset).configurations
    found = audited(dataset, settings)
    [kept] = (tmp_path / "own" / "audits").iterdir()
    kept.write_text('{"samples": "many"}')
    assert audited(dataset, settings) == found
    assert len(counted) == 2


def test_a_cache_that_cannot_be_written(counted: list[int], dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("in the way")
    settings = read_manifest(dataset).configurations
    assert audited(dataset, settings) == audited(dataset, settings)
    assert len(counted) == 2
