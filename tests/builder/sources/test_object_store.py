"""Files by address: what comes of them is what comes of the same files by path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builder.errors import SourceError
from builder.sources import object_store
from builder.sources.object_store import expand_names, local_copy
from tests.helpers.drawing import PAPER, draw, stack
from tests.helpers.served import Command


def _lines(path: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    kept = [{key: value for key, value in line.items() if key not in ("file", "seconds")} for line in lines]
    return [line | {"reason": line["reason"].replace("file://", "")} for line in kept]


@pytest.mark.long
def test_extraction_by_address_gives_what_it_gives_by_path(tmp_path: Path, command: Command) -> None:
    for name in ("2601.00001", "2601.00002"):
        draw(tmp_path / f"{name}.pdf", [stack(*PAPER)])
    (tmp_path / "2601.00003.pdf").write_bytes(b"no paper")
    paths = sorted(tmp_path.glob("*.pdf"))
    assert command("extract", *paths, "-o", tmp_path / "paths.jsonl", "--jobs", 1)[0] == 0
    address = f"file://{tmp_path}/*.pdf"
    code, out, _ = command("extract", address, f"file://{tmp_path}/gone.pdf", "-o", tmp_path / "addresses.jsonl")
    assert (code, out.split(":")[0]) == (0, "2 extracted, 2 failed")
    *same, gone = _lines(tmp_path / "addresses.jsonl")
    assert same == _lines(tmp_path / "paths.jsonl")
    assert gone["reason"].startswith("missing_file")
    named = [json.loads(line)["file"] for line in (tmp_path / "addresses.jsonl").read_text().splitlines()]
    assert named[:3] == [f"file://{path}" for path in paths]


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
