"""The manifest: read as it was written, and refused in one sentence where it is none of ours."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builder.dataset.audit import audit
from builder.dataset.folder import file_differences, replacing
from builder.dataset.publishable import publishable
from builder.errors import FolderError
from builder.families.registry import columns_of, read_rows, rows_of, schema_of
from builder.families.writing.columns import schema_of_task
from builder.round.allowed import allowed_by
from lm_eval_tasks.base.errors import DatasetError
from lm_eval_tasks.base.figures import Statistics
from lm_eval_tasks.base.manifest import DataFile, ListedConfiguration, SplitContents
from lm_eval_tasks.base.manifest_file import FORMAT, manifest_bytes
from lm_eval_tasks.base.unpacked import batch_rows, check_unpacked, largest_chunk
from lm_eval_tasks.families.rounds import parse_manifest, read_manifest

HASH = "0123456789abcdef"


def test_what_is_written_is_read(dataset: Path) -> None:
    data = (dataset / "manifest.json").read_bytes()
    manifest = parse_manifest(data, "manifest.json")
    assert manifest == read_manifest(dataset)
    assert manifest_bytes(manifest) == data
    assert json.loads(data)["format"] == FORMAT
    assert {one.form for one in manifest.configurations} == {"full"}
    assert manifest.published_as == manifest.round == "2026.11"
    assert replace(manifest, revision="2026.11.post1").published_as == "2026.11.post1"


def _set(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(content: dict[str, Any]) -> None:
        place: Any = content
        *way, last = path.split(".")
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        place[int(last) if isinstance(place, list) else last] = value

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_set("format", 1), f"is of format 1, but this release reads {FORMAT}"),
        (_set("round", None), "round"),
        (_set("configurations.0.form", "texts"), "configurations[0].form"),
        (_set("configurations.0.name", "../Title-10K"), "is not a valid configuration name"),
        (_set("configurations.0.name", "Other"), "is not a data file of Other"),
        (_set("configurations.0.splits.test.files.0.path", "../../etc/passwd"), "is not a data file"),
        (
            _set("configurations.0.splits.test.files.0.path", f"/tmp/test-{HASH}-00000-of-00001.parquet"),
            "is not a data file",
        ),
        (_set("configurations.0.splits.test.files.0.rows", "many"), "rows"),
        (_set("configurations.0.form", "ids"), "is of form ids"),
        (_set("configurations.1.name", "title-10k"), "not a data file of title-10k"),
        (_set("configurations", []), "there is no configuration"),
        (_set("configurations.0.task", "cloze"), "is of form full and task cloze"),
        (_set("configurations.0.splits.test.statistics.samples", -1), "samples"),
        (_set("configurations.0.splits.test.files", []), "different numbers of rows"),
        (_set("configurations.0.splits.test.statistics.input_lengths", [1, 2]), "lengths are given at 6 rising shares"),
        (
            _set("configurations.0.splits.test.statistics.target_lengths", [6, 5, 4, 3, 2, 1]),
            "lengths are given at 6 rising",
        ),
        (_set("configurations.0.splits.test.statistics.labels", [1, 2]), "not as many labels as samples"),
        (_set("round", "../../../escaped"), "round"),
        (_set("code_version", "\ud800"), "surrogates"),
        (_set("audit.active_authors", float("nan")), "NaN is not JSON"),
        (_set("audit.months", {"x": 10**30}), "audit.months"),
        (_set("configurations.0.splits.test.statistics.first", "2026-W01"), "first"),
        (_set("audit.months", {"zz": 1}), "audit.months"),
        (_set("audit.shares", {"long_run": 1e300}), "audit.shares"),
        (_set("other_files", {"../README.md": "0"}), "is not a valid name of a file next to the data"),
    ],
)
def test_what_a_stranger_may_not_write(change: Callable[[dict[str, Any]], None], says: str, dataset: Path) -> None:
    content = json.loads((dataset / "manifest.json").read_text())
    change(content)
    with pytest.raises(DatasetError) as caught:
        parse_manifest(json.dumps(content).encode(), "their/manifest.json")
    assert says in str(caught.value)
    assert str(caught.value).startswith("their/manifest.json is not ") or says.startswith("is of format")
    assert "\n" not in str(caught.value)


def test_a_newer_round_is_read_without_what_is_unknown(dataset: Path, caplog: pytest.LogCaptureFixture) -> None:
    content = json.loads((dataset / "manifest.json").read_text())
    known = parse_manifest(json.dumps(content).encode(), "theirs")
    assert not caplog.text
    content["stranger"] = 1
    content["configurations"][0]["splits"]["test"]["statistics"]["stranger"] = {"a": 1}
    tail = json.loads(json.dumps(content["configurations"][0]).replace(known.configurations[0].name, "Recall-9K"))
    content["configurations"].append({**tail, "task": "of-another-family", "form": "questions"})
    content["core"].append({"configuration": "Recall-9K", "samples": 5, "shortcut": "other"})
    for _ in range(2):
        assert parse_manifest(json.dumps(content).encode(), "a newer one") == known
    [record] = caplog.records
    for name in ("a newer one", "Recall-9K", "configurations.splits.test.statistics.stranger", " stranger"):
        assert name in record.message


def test_what_an_audit_allows_is_checked_when_it_is_used(dataset: Path) -> None:
    manifest = read_manifest(dataset)
    assert allowed_by(replace(manifest, allowed={"long_run": 1, "stranger": 2})).long_run == 1
    with pytest.raises(FolderError, match="long_run"):
        allowed_by(replace(manifest, allowed={"long_run": 7}))
    with pytest.raises(FolderError, match="old_check"):
        allowed_by(replace(manifest, allowed={"waive": ["old_check"]}))


def test_all_that_a_row_shows_counts_for_its_licences() -> None:
    facts = schema_of_task("related").facts
    assert {"license", "demonstrations.list.element.license", "citations.list.element.license"} < set(facts)
    assert "citations.list.element.license" not in schema_of_task("abs").facts


@pytest.mark.parametrize("data", [b"{", b"[]", b"null", b"\xff", b"[" * 100_000, f'{{"format": {FORMAT}}}'.encode()])
def test_what_is_no_manifest(data: bytes) -> None:
    with pytest.raises(DatasetError, match="their manifest is "):
        parse_manifest(data, "their manifest")


def test_names_are_told_apart_by_the_manifest_and_not_by_their_endings() -> None:
    file = DataFile(f"Any-ids/test-{HASH}-00000-of-00001.parquet", HASH * 4, 1, 1, 1)
    contents = SplitContents((file,), Statistics(1, 9, 9, "2026-01-01", "2026-01-01", {"unknown": 1}))
    setting = ListedConfiguration("Any-ids", "abs", "full", splits={"test": contents})
    assert columns_of(setting) == schema_of(setting).columns
    assert "content" in columns_of(setting).names
    ids = ListedConfiguration(f"{setting.name}-ids", setting.task, "ids", setting.name)
    assert (ids.name, ids.form, ids.of) == ("Any-ids-ids", "ids", "Any-ids")
    assert "texts" in columns_of(ids).names


@pytest.mark.parametrize("content", [b"garbage", b""])
def test_data_files_that_cannot_be_read_are_named(content: bytes, dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "ds")
    [victim, *_] = sorted((tmp_path / "ds" / "Title-10K").glob("train-*.parquet"))
    victim.write_bytes(content)
    with pytest.raises(FolderError, match=f"{victim.name} cannot be read"):
        publishable(tmp_path / "ds", tmp_path / "out", "redistributable")
    assert not (tmp_path / "out").exists()


def test_data_files_of_another_configuration_are_named(dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "ds")
    [victim, *_] = sorted((tmp_path / "ds" / "Title-10K").glob("train-*.parquet"))
    [other, *_] = sorted((tmp_path / "ds" / "Related-34K").glob("train-*.parquet"))
    victim.write_bytes(other.read_bytes())
    with pytest.raises(FolderError, match="does not have the columns and rows of Title-10K"):
        audit(tmp_path / "ds", read_manifest(tmp_path / "ds").configurations)


@pytest.mark.parametrize("place", ["data", "folder", "manifest"])
def test_links_out_of_a_folder_are_refused(place: str, dataset: Path, tmp_path: Path) -> None:
    shutil.copytree(dataset, tmp_path / "elsewhere")
    shutil.copytree(dataset, tmp_path / "ds")
    victim = {
        "data": next((tmp_path / "ds" / "Title-10K").glob("train-*.parquet")),
        "folder": tmp_path / "ds" / "Title-10K",
        "manifest": tmp_path / "ds" / "manifest.json",
    }[place]
    if victim.is_dir():
        shutil.rmtree(victim)
    else:
        victim.unlink()
    victim.symlink_to(tmp_path / "elsewhere" / victim.relative_to(tmp_path / "ds"))
    with pytest.raises(DatasetError, match="leads out of the dataset folder"):
        audit(tmp_path / "ds", read_manifest(tmp_path / "ds").configurations)
    if place == "data":
        with pytest.raises(DatasetError, match="leads out of the dataset folder"):
            list(file_differences(tmp_path / "ds", read_manifest(tmp_path / "ds")))


def test_a_snapshot_of_the_hubs_cache_is_no_way_out(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    shutil.copytree(dataset, tmp_path / "snapshots" / "abc")
    for i, path in enumerate(sorted((tmp_path / "snapshots").rglob("*.*"))):
        if path.is_file():
            path.rename(tmp_path / "blobs" / str(i))
            path.symlink_to(tmp_path / "blobs" / str(i))
    folder = tmp_path / "snapshots" / "abc"
    assert not list(file_differences(folder, read_manifest(folder)))


@pytest.mark.slow
def test_parquet_that_grows_or_has_holes_is_refused(dataset: Path, tmp_path: Path) -> None:
    """A dictionary makes a text of megabytes, many times over, a small file; and a cell may be empty."""
    manifest = read_manifest(dataset)
    one = next(one for one in manifest.configurations if one.name == "Title-10K")
    [file, *_] = one.files("test")
    table = pq.read_table(dataset / file.path)
    place = tmp_path / file.path
    place.parent.mkdir(parents=True)
    at = table.schema.get_field_index("title")
    for column in (pa.array(["x" * 30_000_000] * len(table)), pa.array([None] * len(table), pa.string())):
        pq.write_table(table.set_column(at, table.schema.field("title"), column), place)
        with pytest.raises(FolderError, match="contains more than its manifest says"):
            list(read_rows(tmp_path, one, "test"))
    assert len(list(rows_of(dataset, one, ["id"]))) == one.samples


@pytest.mark.long
def test_a_small_file_does_not_fill_the_memory(dataset: Path, tmp_path: Path) -> None:
    """However much its own manifest allows: a value is unpacked once for each row of a batch."""
    manifest = read_manifest(dataset)
    one = next(one for one in manifest.configurations if one.name == "Title-10K")
    [file, *_] = one.files("test")
    table = pq.read_table(dataset / file.path)
    (tmp_path / file.path).parent.mkdir(parents=True)
    at = table.schema.get_field_index("title")
    grown = table.set_column(at, table.schema.field("title"), pa.array(["x" * 100_000_000] * len(table)))
    pq.write_table(grown, tmp_path / file.path)
    assert (tmp_path / file.path).stat().st_size < 5_000_000
    generous = replace(one, splits={"test": SplitContents((replace(file, nbytes=1 << 50),), one.statistics("test"))})
    assert batch_rows(largest_chunk(pq.ParquetFile(tmp_path / file.path).metadata)) == 5
    del grown
    assert sum(len(row["title"]) for row in read_rows(tmp_path, generous, "test")) == len(table) * 100_000_000


def test_a_link_to_an_output_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for text in ("first", "second"):
        with replacing(tmp_path / "link") as place:
            (place / "manifest.json").write_text(text)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "manifest.json").read_text() == "second"
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link"}


def test_a_row_of_a_thousand_million_values_is_refused(tmp_path: Path) -> None:
    """A small file whose one row has more values than fit into memory: they are counted before any is unpacked."""
    file = tmp_path / "small.parquet"
    values = pa.array(np.zeros(34_000_000, np.int8))
    table = pa.table({"numbers": pa.ListArray.from_arrays([0, len(values)], values)})
    with pq.ParquetWriter(file, table.schema) as writer:
        for _ in range(4):
            writer.write_table(table)
    assert file.stat().st_size < 5_000_000
    with pytest.raises(DatasetError, match="unpacks to more than"):
        check_unpacked(file, "x")
