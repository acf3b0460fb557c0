"""The copy of a dataset folder that may be published: no text that lacks the licence for it.

Rows in which any text lacks the licence become rows of a configuration `<Setting>-ids`: ids, and of every text its hash and
length. `fill` completes them on the reader's own machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from builder.dataset import folder
from builder.dataset import question_rows as scalar
from builder.dataset.audit import task_of
from builder.dataset.card import Built, close_all, file_table
from builder.dataset.overview import card
from builder.dataset.question_columns import COLUMNS
from builder.dataset.text_hashes import TEXTS, described
from builder.dataset.write import RowWriter, schema
from builder.errors import FolderError
from builder.progress import progress
from builder.records import SPLITS, Split, Task
from builder.report import StageReport
from builder.round.levels import Level
from builder.round.licenses import Licenses, allows
from builder.round.settings import Setting

IDS = "-ids"
_KEPT = (
    "id", "authors", "primary_category", "categories", "published", "updated", "license", "input_tokens", "target_tokens",
    "round",
)  # fmt: skip
_SHOWN = ("id", "kind", "published", "license")
ID_COLUMNS = pa.schema(
    [
        *(schema("title").field(name) for name in _KEPT),
        ("position", pa.int64()),
        ("task", pa.string()),
        ("demonstrations", pa.list_(pa.struct([(name, pa.string()) for name in _SHOWN]))),
        ("citations", pa.list_(pa.string())),
        TEXTS,
    ]
)


def publishable(source: Path, output: Path, licenses: Licenses) -> StageReport:
    """Write the copy and report how many rows are in it whole.

    Drop reasons (of rows that are there by id only): license.

    Raises:
        FolderError: `source` is no finished folder, or is such a copy itself.
    """
    manifest = folder.read_manifest(source)
    if "original_files" in manifest:
        raise FolderError(f"{source} is a publishable copy already; derive the new one from the whole round")
    report = StageReport("publishable")
    built: list[Built] = []
    with folder.replacing(output) as place:
        for name, splits in progress(by_setting(manifest["files"]).items(), "publishable"):
            built += _copy(source, place, name, splits, licenses, report)
        facts = {**manifest, "files": file_table(built), "original_files": manifest["files"], "licenses": licenses}
        (place / "README.md").write_text(card(facts, [one for one in built if one.samples], report), encoding="utf-8")
        folder.write_manifest(place, facts | {"publishable": report.to_dict()})
    return report


def by_setting(files: dict[str, Any]) -> dict[str, dict[Split, list[str]]]:
    """Setting -> split -> paths of its files, in the order of their rows."""
    found: dict[str, dict[Split, list[str]]] = {}
    for path in sorted(files, key=lambda path: path.rsplit("-", 3)[-3:]):
        setting, name = path.split("/")
        split = next(split for split in SPLITS if name.startswith(f"{split}-"))
        found.setdefault(setting, {}).setdefault(split, []).append(path)
    return dict(sorted(found.items()))


def read_rows(source: Path, paths: list[str]) -> Iterator[dict[str, Any]]:
    """The rows of some files, one group in memory at a time."""
    for path in paths:
        with pq.ParquetFile(source / path) as file:
            for group in range(file.num_row_groups):
                yield from file.read_row_group(group).to_pylist()


def all_rows(source: Path, splits: Mapping[Split, list[str]]) -> Iterator[dict[str, Any]]:
    """The rows of a configuration, split after split."""
    for paths in splits.values():
        yield from read_rows(source, paths)


def row_task(row: dict[str, Any]) -> Task:
    """The task of a writing setting's row, whole or by id."""
    return row["task"] if "texts" in row else task_of(row)


def kind_of(name: str, row: dict[str, Any], by_id: bool) -> tuple[Setting | Level, pa.Schema]:
    """The setting or level of a configuration, told by one of its rows, and the columns that it has whole or by id."""
    if scalar.is_question(row):
        return Level(name), scalar.ID_COLUMNS if by_id else COLUMNS
    task = row_task(row)
    return Setting(name, task), ID_COLUMNS if by_id else schema(task)


def papers_of(row: dict[str, Any]) -> Iterator[str]:
    """The ids, with version, of the papers whose texts a row shows, or would if it were whole.

    Citations of the Related settings are arXiv metadata, which is CC0.
    """
    if scalar.is_question(row):
        yield from scalar.papers_of(row)
    else:
        yield from (row["id"], *(demo["id"] for demo in row["demonstrations"]))


def _copy(
    source: Path, place: Path, name: str, splits: dict[Split, list[str]], licenses: Licenses, report: StageReport
) -> Iterator[Built]:
    """One setting as two: the rows that may be published, and the others by id."""
    first = next(all_rows(source, splits))
    settings = kind_of(name, first, by_id=False), kind_of(name + IDS, first, by_id=True)
    allowed, by_id = (scalar.may_publish, scalar.id_row) if scalar.is_question(first) else (may_publish, id_row)
    whole, ids = ({split: RowWriter(place, s.name, split, columns) for split in SPLITS} for s, columns in settings)
    for split, paths in splits.items():
        for position, row in enumerate(read_rows(source, paths)):
            if allowed(row, licenses):
                whole[split].add(row)
                report.kept += 1
            else:
                ids[split].add(by_id(row, position))
                report.drop(f"{name} {row['id']}", "license")
    yield close_all(settings[0][0], whole, settings[0][1])
    yield close_all(settings[1][0], ids, settings[1][1])


def may_publish(row: dict[str, Any], licenses: Licenses) -> bool:
    """Whether the paper's licence and those of its demonstrations allow it; citations are arXiv metadata, which is CC0."""
    return all(allows(one, licenses) for one in (row["license"], *(d["license"] for d in row["demonstrations"])))


def id_row(row: dict[str, Any], position: int) -> dict[str, Any]:
    """A row without its texts."""
    return {
        **{name: row[name] for name in _KEPT},
        "position": position,
        "task": task_of(row),
        "demonstrations": [{name: demo[name] for name in _SHOWN} for demo in row["demonstrations"]],
        "citations": [one["id"] for one in row.get("citations") or ()],
        "texts": described(row_texts(row)),
    }


def row_texts(row: dict[str, Any]) -> dict[str, str]:
    """Every text of a row, by its place in it."""
    texts = {name: row[name] for name in ("title", "abstract", "content", "target")}
    for i, demo in enumerate(row["demonstrations"]):
        texts |= {f"demonstrations.{i}.{name}": demo[name] for name in ("title", "abstract", "content", "output")}
    for i, cited in enumerate(row.get("citations") or ()):
        texts |= {f"citations.{i}.{name}": cited[name] for name in ("title", "abstract")}
    return texts
