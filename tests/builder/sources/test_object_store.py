"""Files by address, and papers in a bucket: what comes of them is what comes of the same files by path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from tenacity import wait_fixed

from builder.errors import SourceError
from builder.sources import object_store
from builder.sources.object_store import expand_names, local_copy
from tests.helpers.drawing import PAPER, draw, stack
from tests.helpers.s3_server import Bucket, s3_server
from tests.helpers.served import Command


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [{key: value for key, value in line.items() if key not in ("file", "seconds")} for line in lines]
    return [line | {"reason": line["reason"].replace("file://", "")} for line in kept]


def test_an_address_that_matches_nothing_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"\*\.pdf matches nothing"):
        expand_names([f"file://{tmp_path}/*.pdf"])


def test_a_store_whose_package_is_missing_is_one_sentence(tmp_path: Path, command: Command) -> None:
    code, _, errors = command("extract", "abfs://bucket/a.pdf", "-o", tmp_path / "out.jsonl")
    assert code == 1
    assert errors.startswith("error: cannot read abfs://bucket/a.pdf: ")
    assert errors.count("\n") == 1


def test_a_store_of_no_kind_is_one_sentence() -> None:
    with pytest.raises(SourceError, match=r"cannot read nowhere://a\.pdf"), local_copy("nowhere://a.pdf"):
        pass


def test_a_file_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(object_store, "_MOST_BYTES", 1 << 20)
    (tmp_path / "long.pdf").write_bytes(bytes(3 << 20))
    with pytest.raises(SourceError, match="more than 1048576 bytes"), local_copy(f"file://{tmp_path}/long.pdf"):
        pass


def test_an_output_that_is_one_of_the_files_is_refused_also_by_address(tmp_path: Path, command: Command) -> None:
    draw(tmp_path / "a.pdf", [stack(*PAPER)])
    before = (tmp_path / "a.pdf").read_bytes()
    for address in (f"file://{tmp_path}/a.pdf", f"file://{tmp_path}/*.pdf"):
        code, _, errors = command("extract", address, "-o", tmp_path / "a.pdf")
        assert (code, "one of the files to read" in errors) == (1, True)
    assert (tmp_path / "a.pdf").read_bytes() == before
    assert command("extract", tmp_path / "a.pdf", "-o", "file:///tmp/out.jsonl")[0] == 1


@pytest.mark.slow
def test_a_folder_is_one_failed_file_and_a_dead_server_ends_the_command(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "_TRIES", 1)
    draw(tmp_path / "a.pdf", [stack(*PAPER)])
    (tmp_path / "folder").mkdir()
    code, out, _ = command("extract", f"file://{tmp_path}/*", "-o", tmp_path / "out.jsonl")
    assert (code, out.split(":")[0]) == (0, "1 extracted, 1 failed")
    code, _, errors = command("extract", "http://127.0.0.1:9/a.pdf?token=" + 300 * "x", "-o", tmp_path / "http.jsonl")
    assert (code, errors.count("\n")) == (1, 1)
    assert errors.startswith("error: cannot read http://127.0.0.1:9/a.pdf")


@pytest.mark.slow
def test_names_come_from_a_list(tmp_path: Path, command: Command) -> None:
    draw(tmp_path / "a.pdf", [stack(*PAPER)])
    (tmp_path / "list").write_text(f"{tmp_path / 'a.pdf'}\n\n")
    assert command("extract", "--files-from", tmp_path / "list", "-o", tmp_path / "out.jsonl")[0] == 0
    (tmp_path / "list").write_text("\n")
    code, _, errors = command("extract", "--files-from", tmp_path / "list", "-o", tmp_path / "out.jsonl")
    assert (code, "not empty" in errors) == (1, True)


# --- papers in a bucket

NAMES = ("2601.00001.pdf", "2601.00002.pdf")


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bucket]:
    """Two papers, in a bucket and in `tmp_path`; the client's own repetitions are off."""
    for name in NAMES:
        draw(tmp_path / name, [stack(*PAPER)])
    found = Bucket("arxiv", {f"pdf/{name}": (tmp_path / name).read_bytes() for name in NAMES})
    with s3_server(found) as address:
        for name, value in {
            "AWS_ENDPOINT_URL": address,
            "AWS_ACCESS_KEY_ID": "made",
            "AWS_SECRET_ACCESS_KEY": "up",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_MAX_ATTEMPTS": "1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(object_store, "_WAITS", (wait_fixed(0.01),))
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        yield found
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def test_papers_of_a_bucket_are_read_as_those_of_a_folder(bucket: Bucket, tmp_path: Path, command: Command) -> None:
    assert command("extract", *(tmp_path / name for name in NAMES), "-o", tmp_path / "paths.jsonl")[0] == 0
    code, out, _ = command("extract", "s3://arxiv/pdf/*.pdf", "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, out.split(":")[0]) == (0, "2 extracted, 0 failed")
    assert _lines(tmp_path / "bucket.jsonl") == _lines(tmp_path / "paths.jsonl")


@pytest.mark.slow
def test_a_store_that_fails_once_is_asked_again_and_an_object_that_is_not_there_is_one_failed_file(
    bucket: Bucket, tmp_path: Path, command: Command
) -> None:
    bucket.failures = 1
    names = ("s3://arxiv/pdf/*.pdf", "s3://arxiv/pdf/2601.00009.pdf")
    code, out, _ = command("extract", *names, "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, out.split(":")[0]) == (0, "2 extracted, 1 failed")


@pytest.mark.parametrize("status", [403, 503])
@pytest.mark.slow
def test_a_store_that_refuses_is_one_sentence(bucket: Bucket, tmp_path: Path, command: Command, status: int) -> None:
    bucket.failures, bucket.status = 1000, status
    code, _, errors = command("extract", "s3://arxiv/pdf/*.pdf", "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, errors.count("\n")) == (1, 1)
    assert errors.startswith("error: ")


@pytest.mark.slow
def test_a_slow_store_is_given_up(
    bucket: Bucket, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.seconds = 1.0
    monkeypatch.setattr(object_store, "PATIENCE", 0.2)
    code, _, errors = command("extract", "s3://arxiv/pdf/*.pdf", "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, "no whole answer within 0.2 s" in errors) == (1, True)
