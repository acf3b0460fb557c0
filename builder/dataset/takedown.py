"""The copy of a dataset folder that no longer shows some papers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from builder.dataset import folder
from builder.dataset import question_rows as scalar
from builder.dataset.card import Built, close_all, file_table, split_table
from builder.dataset.overview import card
from builder.dataset.publishable import IDS, all_rows, by_setting, kind_of, papers_of, read_rows, row_task
from builder.dataset.write import RowWriter
from builder.errors import FolderError
from builder.records import SPLITS, Split
from builder.report import StageReport
from builder.round.takedowns import bare


def without_papers(source: Path, output: Path, ids: Collection[str], revision: str) -> StageReport:
    """Write the copy of a dataset folder in which no row shows the papers.

    A sample goes from all settings of its task, so that they still hold the same. Drop reason: taken_down.

    Args:
        ids: bare arXiv ids.
        revision: the name of the copy.

    Raises:
        FolderError: `source` is no finished folder, or nothing would be left.
    """
    manifest = folder.read_manifest(source)
    settings = by_setting(manifest["files"])
    gone = affected(source, settings, frozenset(ids))
    report = StageReport("takedown")
    with folder.replacing(output) as place:
        names = sorted({name.removesuffix(IDS) for name in settings})
        built = [one for name in names for one in _copy(source, place, name, settings, gone, report)]
        if not report.kept:
            raise FolderError(f"{source} has no row that does not show {', '.join(sorted(ids))}; nothing was written")
        facts = manifest | {
            "files": file_table(built), "statistics": split_table(built), "revision": revision, "takedown": report.to_dict(),
        }  # fmt: skip
        if "original_files" in facts:
            facts["original_files"] = {}  # what the completed folder would be is not known any more
        (place / "README.md").write_text(card(facts, [one for one in built if one.samples], report), encoding="utf-8")
        folder.write_manifest(place, facts)
    return report


def _group(name: str, row: dict[str, Any]) -> str:
    """What must hold the same samples: the settings of a task, or one SCALAR level."""
    if scalar.is_question(row):
        return name.removesuffix(IDS)
    return row_task(row)


def affected(
    source: Path, settings: Mapping[str, Mapping[Split, list[str]]], ids: frozenset[str]
) -> dict[str, set[str]]:
    """Task, or SCALAR level -> ids of the rows that show any of the papers in any setting."""
    found: dict[str, set[str]] = {}
    for name, splits in settings.items():
        for row in all_rows(source, splits):
            if not ids.isdisjoint(map(bare, papers_of(row))):
                found.setdefault(_group(name, row), set()).add(row["id"])
    return found


def _copy(
    source: Path, place: Path, name: str, settings: Mapping[str, Mapping[Split, list[str]]],
    gone: Mapping[str, set[str]], report: StageReport,
) -> Iterator[Built]:  # fmt: skip
    """One setting without the rows that go: its whole rows, and those by id, whose positions close up."""
    whole, by_id = settings.get(name, {}), settings.get(name + IDS, {})
    first = next(all_rows(source, by_id or whole))
    group = gone.get(_group(name, first), set())
    removed = {split: _removed(source, whole.get(split, []), by_id.get(split, []), group) for split in SPLITS}
    for part, splits in ((name, whole), (name + IDS, by_id)):
        if not splits:
            continue
        setting, columns = kind_of(part, first, by_id=splits is by_id)
        writers = {split: RowWriter(place, part, split, columns) for split in SPLITS}
        for split, paths in splits.items():
            for row in read_rows(source, paths):
                if row["id"] in group:
                    report.drop(f"{part} {row['id']}", "taken_down")
                    continue
                report.kept += 1
                if "position" in row:
                    row["position"] -= bisect_left(removed[split], row["position"])
                writers[split].add(row)
        yield close_all(setting, writers, columns)


def _removed(source: Path, whole: list[str], by_id: list[str], gone: Collection[str]) -> list[int]:
    """The positions, in the completed split, of the rows that go."""
    at = {row["position"]: row["id"] for row in read_rows(source, by_id)}
    position = 0
    for row in read_rows(source, whole):
        while position in at:
            position += 1
        at[position] = row["id"]
    return sorted(position for position, id_ in at.items() if id_ in gone)
