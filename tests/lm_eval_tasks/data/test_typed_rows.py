"""Rows of a dataset that somebody made: each oddity is one sentence that names the configuration."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lm_eval_tasks.base import unpacked
from lm_eval_tasks.base.contract import GENERATED, LIKELIHOOD, OTHER, Way
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.families.reading import hook as reading
from lm_eval_tasks.families.scalar import hook as scalar
from lm_eval_tasks.families.writing import hook as writing
from tests.helpers import manifests
from tests.helpers.typed_rows import COMMON, READING, SCALAR, WRITING

Change = dict[str, Any]
OVERLAPPING = {
    "paper": 0,
    "start": 0,
    "end": 9,
    "edits": [{"start": 0, "end": 5, "text": ""}, {"start": 2, "end": 7, "text": ""}],
}


def _folder(place: Path, name: str, *rows: Change) -> str:
    (place / name).mkdir()
    pq.write_table(pa.Table.from_pylist(list(rows)), place / manifests.test_file(name))
    manifests.write_manifest(place, [name], rows=len(rows))
    return str(place)


@pytest.mark.parametrize(
    ("name", "load", "usual", "change", "told"),
    [
        ("Next-128K", reading.load, READING, {"answer": [-1]}, "answer"),
        ("Next-128K", reading.load, READING, {"answer": [9]}, "above its 2"),
        ("Next-128K", reading.load, READING, {"asked": []}, "asks about 0 labels"),
        ("Next-128K", reading.load, READING, {"asked": [9]}, "above its 2"),
        ("Next-128K", reading.load, READING, {"asked": [1, 1], "answer": [1, 2]}, "one twice"),
        ("Next-128K", reading.load, READING, {"answer": [1, 2]}, "has 2 answers"),
        ("Next-128K", reading.load, READING, {"published": "2026-W01"}, "is not a day"),
        ("Next-128K", reading.load, READING, {"paper_id": None}, "paper_id"),
        ("Next-128K", reading.load, READING, {"parts": [OVERLAPPING] * 2}, "overlap"),
        ("Walk-128K", reading.load, READING, {"kind": "no such kind"}, "no such kind"),
        ("SCALAR-Easy", scalar.load, SCALAR, {"label": 7}, "candidate 7"),
        ("SCALAR-Easy", scalar.load, SCALAR, {"question": "no mask"}, "no mask"),
        ("SCALAR-Easy", scalar.load, SCALAR, {"published": None}, "published"),
        ("Abs-9K", writing.load, WRITING, {"published": None}, "published"),
        ("Abs-9K", writing.load, WRITING, {"authors": []}, "no authors"),
        ("Abs-9K", writing.load, WRITING, {"content": 5}, "content"),
    ],
)
def test_an_odd_row_is_named(
    tmp_path: Path, name: str, load: Callable[..., Any], usual: Change, change: Change, told: str
) -> None:
    dataset = _folder(tmp_path, name, {**COMMON, **usual, **change})
    with pytest.raises(DatasetError, match=rf"{name}.*{told}"):
        load(name, 64, dataset=dataset, bertscore_model="none")


@pytest.mark.parametrize("way", [GENERATED, LIKELIHOOD])
def test_a_paper_without_a_stranger_has_no_other_context(tmp_path: Path, way: Way) -> None:
    dataset = _folder(tmp_path, "Abs-9K", {**COMMON, **WRITING})
    with pytest.raises(DatasetError, match=r"Abs-9K.*shares an author"):
        writing.load("Abs-9K", 64, shown=OTHER, way=way, dataset=dataset, bertscore_model="none")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked, "_LEAST", 1 << 20)
    long = {**COMMON, **WRITING, "content": "x" * 100_000}
    dataset = _folder(tmp_path, "Abs-9K", *({**long, "id": f"{i}v1"} for i in range(200)))
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.parquet")) < 100_000
    with pytest.raises(DatasetError, match="unpacks to more than 100 times its size"):
        writing.load("Abs-9K", 64, dataset=dataset, bertscore_model="none")


@pytest.mark.parametrize(
    ("change", "told"),
    [({}, "do not all have an id of their own"), ({"id": "2v1", "round": "2026.12"}, "2026.11, 2026.12")],
)
def test_rows_that_do_not_belong_together_are_refused(tmp_path: Path, change: Change, told: str) -> None:
    row = {**COMMON, **SCALAR}
    with pytest.raises(DatasetError, match=told):
        scalar.load("SCALAR-Easy", 64, dataset=_folder(tmp_path, "SCALAR-Easy", row, row | change))


@pytest.mark.parametrize(
    ("name", "load", "usual", "column"),
    [
        ("Next-128K", reading.load, READING, "primary_category"),
        ("SCALAR-Easy", scalar.load, SCALAR, "section"),
        ("Related-34K", writing.load, WRITING, "citations"),
        ("Abs-9K", writing.load, WRITING, "demonstrations"),
    ],
)
def test_a_missing_column_is_named(
    tmp_path: Path, name: str, load: Callable[..., Any], usual: Change, column: str
) -> None:
    row = {key: value for key, value in {**COMMON, **usual}.items() if key != column}
    with pytest.raises(DatasetError, match=column):
        load(name, 64, dataset=_folder(tmp_path, name, row), bertscore_model="none")
