"""Files of strangers that wanted to be something else: one sentence that names them, or a counted reason."""

from __future__ import annotations

import copy
import json
import logging
import resource
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from builder.cli import main
from builder.errors import FolderError, StoreError
from builder.extract import worker
from builder.families.scalar.structured import read_structured
from builder.store import Store, advice
from tests.helpers.published import REFERENCE, STRUCTURED, write_reference
from tests.helpers.served import Command

SECTION = "1 Introduction"


def _place(record: dict[str, Any]) -> dict[str, Any]:
    place: dict[str, Any] = record["sections"][SECTION]["citations"][0]
    return place


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda one: _place(one).update(start_pos="8"), "start_pos"),
        (lambda one: _place(one).update(start_pos=None), "start_pos"),
        (lambda one: _place(one).update(end_pos=10**30), "is not in its section"),
        (lambda one: _place(one).update(start_pos=-5), "is not in its section"),
        (lambda one: _place(one).update(single_citation="no"), "single_citation"),
        (lambda one: one["sections"][SECTION].update(content=None), "content"),
        (lambda one: one["sections"][SECTION].update(content=[1]), "content"),
        (lambda one: one.update(title=5), "title"),
        (lambda one: one.update(title=" "), "with the title"),
        (lambda one: one.update(abstract=None), "abstract"),
        (lambda one: one.update(paper_id="../../../etc/passwd"), "a paper called"),
        (lambda one: one.update(paper_id="x\n\x1b[31m"), "a paper called"),
        (lambda one: one.update(paper_id=""), "a paper called"),
        (lambda one: one["references"]["data"]["a"].update(title=5), "references.data.a.title"),
        (lambda one: one["references"]["data"]["a"].update(citation=5), "references.data.a.citation"),
    ],
)
def test_structured_papers_that_are_none(change: Callable[[dict[str, Any]], object], says: str, tmp_path: Path) -> None:
    record = copy.deepcopy(STRUCTURED)
    change(record)
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    with pytest.raises(FolderError, match=r"line 1 of .* is not a structured paper of SCALAR \(") as caught:
        read_structured(tmp_path / "p.jsonl")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_samples_of_the_reference_layout_that_are_none(command: Command, tmp_path: Path) -> None:
    write_reference(tmp_path / "reference")
    folder = tmp_path / "reference" / "abs_9K"
    for i, change in enumerate(({"gt": None}, {"gt": 5}, {"main_content": ["x"]})):
        (folder / f"bad{i}.json").write_text(json.dumps({**REFERENCE, **change}))
    (folder / "twice.json").write_text((folder / "0.json").read_text())
    code, out, err = command("import", "academiceval", tmp_path / "reference", "-o", tmp_path / "out")
    assert code == 0, err
    assert "7 in, 3 kept" in out
    assert "bad_record 3" in out
    assert "second_sample_of_a_paper 1" in out
    (folder / "train.txt").write_bytes(b"\xff\xfe")
    code, _, err = command("import", "academiceval", tmp_path / "reference", "-o", tmp_path / "again")
    assert (code, f"{folder / 'train.txt'} is not a list of names" in err) == (1, True), err


def test_a_damaged_store_is_not_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite3"
    path.write_bytes(b"x" * 4096)
    with pytest.raises(StoreError, match="it is damaged: put a copy of it back"):
        Store.open(path)
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    assert "make room" in advice(full)
    assert "make room" not in advice(sqlite3.OperationalError("something else"))


@pytest.mark.parametrize("words", ["realloc failed", "out of memory"])
def test_a_file_that_meets_the_memory_limit_is_not_damaged(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path) -> None:
        raise RuntimeError(words)

    (tmp_path / "x.pdf").touch()
    monkeypatch.setattr(worker, "read_pdf", fails)
    assert worker.answer(tmp_path / "x.pdf")["reason"] == "memory_limit"


def test_a_pdf_too_large_to_open_meets_the_memory_limit(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    row, most = b"0000000000 65535 f \n", resource.getrlimit(resource.RLIMIT_AS)
    start = b"%PDF-1.7\nxref\n0 1\n" + row + b"8000000 1\n" + row + b"7999999 2\n" + row + row
    (tmp_path / "x.pdf").write_bytes(start + b"trailer\n<</Size 8000001>>\nstartxref\n9\n")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_AS, most))
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, most[1]))
    assert worker.answer(tmp_path / "x.pdf")["reason"] == "memory_limit"


def test_logs_show_no_secret(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "builder.commands.status",
        lambda arguments: logging.getLogger("x").warning("api_key=Zq8vX1kT0rB7 \x1b[31m") or (),
    )
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert main(["status", "nowhere.toml"]) == 0
    err = capfd.readouterr().err
    assert "api_key=***" in err
    assert "\x1b" not in err
