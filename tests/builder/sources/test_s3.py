"""Papers in a bucket: what comes of them is what comes of the same files by path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from tenacity import wait_fixed

from builder.sources import object_store
from tests.helpers.drawing import PAPER, draw, stack
from tests.helpers.s3_server import Bucket, s3_server
from tests.helpers.served import Command

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


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [{key: value for key, value in line.items() if key not in ("file", "seconds")} for line in lines]


@pytest.mark.long
def test_papers_of_a_bucket_are_read_as_those_of_a_folder(bucket: Bucket, tmp_path: Path, command: Command) -> None:
    assert command("extract", *(tmp_path / name for name in NAMES), "-o", tmp_path / "paths.jsonl")[0] == 0
    code, out, _ = command("extract", "s3://arxiv/pdf/*.pdf", "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, out.split(":")[0]) == (0, "2 extracted, 0 failed")
    assert _lines(tmp_path / "bucket.jsonl") == _lines(tmp_path / "paths.jsonl")


@pytest.mark.slow
def test_a_store_that_fails_once_is_asked_again(bucket: Bucket, tmp_path: Path, command: Command) -> None:
    bucket.failures = 1
    assert command("extract", "s3://arxiv/pdf/*.pdf", "-o", tmp_path / "bucket.jsonl", "--jobs", 1)[0] == 0


@pytest.mark.slow
def test_an_object_that_is_not_there_is_one_failed_file(bucket: Bucket, tmp_path: Path, command: Command) -> None:
    gone = "s3://arxiv/pdf/2601.00009.pdf"
    code, out, _ = command("extract", f"s3://arxiv/pdf/{NAMES[0]}", gone, "-o", tmp_path / "bucket.jsonl", "--jobs", 1)
    assert (code, out.split(":")[0]) == (0, "1 extracted, 1 failed")


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
