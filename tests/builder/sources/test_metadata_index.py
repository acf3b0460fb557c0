"""The index of a metadata file: read once, again when it has changed, and on from where a kill left it."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

from builder.errors import SourceError
from builder.records import Drop, Paper
from builder.sources import mirror as metadata_index
from builder.sources.mirror import MetadataIndex
from tests.helpers.papers import mirror, paper

PAPERS = [paper(i, "Ann Ek", f"Author {i}", day=i) for i in range(1, 13)]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """From which record on the file was read, each time."""
    real, seen = metadata_index.read_metadata, []

    def read(path: Path, after: int = 0) -> object:
        seen.append(after)
        return real(path, after)

    monkeypatch.setattr(metadata_index, "read_metadata", read)
    return seen


def index(folder: Path) -> MetadataIndex:
    return MetadataIndex(folder / "meta.jsonl", folder / "index.sqlite3")


def test_it_is_read_once_and_again_when_its_bytes_have_changed(tmp_path: Path, reads: list[int]) -> None:
    mirror(tmp_path, PAPERS)
    first = index(tmp_path).fingerprint
    assert (index(tmp_path).fingerprint, reads) == (first, [0])
    os.utime(tmp_path / "meta.jsonl", (1, 1))
    assert (index(tmp_path).fingerprint, reads) == (first, [0])
    mirror(tmp_path, PAPERS[:5])
    again = index(tmp_path)
    assert again.fingerprint != first
    assert reads == [0, 0]
    assert [one.id for one in again.store.papers_by_author("ann ek")] == [one.id for one in PAPERS[:5]]


def test_it_goes_on_where_it_was_killed(tmp_path: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    mirror(tmp_path, PAPERS)
    monkeypatch.setattr(metadata_index, "_BATCH", 5)
    monkeypatch.setattr(metadata_index, "progress", lambda items, what: _until(items, 8))
    with pytest.raises(KeyboardInterrupt):
        index(tmp_path)
    monkeypatch.setattr(metadata_index, "progress", lambda items, what: items)
    found = index(tmp_path)
    assert reads == [0, 5]
    assert [one.id for one in found.between(date.min, date.max)] == [one.id for one in PAPERS]


def _until(items: object, most: int) -> object:
    for i, item in enumerate(items):  # type: ignore[arg-type, var-annotated]
        if i == most:
            raise KeyboardInterrupt
        yield item


def test_records_of_other_days_and_unusable_ones_are_counted(tmp_path: Path) -> None:
    mirror(tmp_path, PAPERS)
    with (tmp_path / "meta.jsonl").open("a") as file:
        file.write("{no record\n")
    items = list(index(tmp_path).between(PAPERS[3].published, PAPERS[5].published))
    assert [one.id for one in items if isinstance(one, Paper)] == [one.id for one in PAPERS[3:6]]
    drops = [one for one in items if isinstance(one, Drop)]
    assert [one.reason for one in drops] == ["bad_record", *["outside_window"] * 9]


def test_a_file_that_changes_while_it_is_read_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mirror(tmp_path, PAPERS)

    def changing(items: object, what: str) -> object:
        for item in items:  # type: ignore[attr-defined]
            mirror(tmp_path, PAPERS[:3])
            yield item

    monkeypatch.setattr(metadata_index, "progress", changing)
    with pytest.raises(SourceError, match="changed while it was being read"):
        index(tmp_path)
    monkeypatch.setattr(metadata_index, "progress", lambda items, what: items)
    assert len(list(index(tmp_path).between(date.min, date.max))) == 3


def test_another_file_of_the_same_size_and_time_is_another(tmp_path: Path) -> None:
    mirror(tmp_path, PAPERS)
    assert index(tmp_path).store.papers_by_author("ann ek")
    text = (tmp_path / "meta.jsonl").read_text()
    stat = (tmp_path / "meta.jsonl").stat()
    (tmp_path / "meta.jsonl").write_text(text.replace("Ann Ek", "Bob Ek"))
    os.utime(tmp_path / "meta.jsonl", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (tmp_path / "meta.jsonl").stat().st_size == stat.st_size
    assert index(tmp_path).store.papers_by_author("bob ek")


@pytest.mark.parametrize("damage", [b"no database at all" * 400, b""])
def test_a_damaged_index_is_made_again(tmp_path: Path, damage: bytes) -> None:
    mirror(tmp_path, PAPERS)
    index(tmp_path).store.close()
    (tmp_path / "index.sqlite3").write_bytes(damage)
    assert len(index(tmp_path).store.papers_by_author("ann ek")) == len(PAPERS)
