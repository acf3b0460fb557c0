"""Files that are whole, locks, and journals that lose nothing."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lm_eval_tasks.base import files
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.base.files import exchange, exclusive, sync_folder, write_together, write_whole
from lm_eval_tasks.base.journal import Journal, read_entries


def test_bytes_are_on_the_disk_before_the_name_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, Path.replace

    def sync(handle: int) -> None:
        done.append(f"sync {Path(f'/proc/self/fd/{handle}').readlink().name}")
        real_sync(handle)

    def replace(self: Path, target: Path) -> Path:
        done.append(f"rename {self.name}")
        return real_replace(self, target)

    monkeypatch.setattr(files.os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    write_whole(tmp_path / "a", "text")
    assert done == ["sync .a.part", "rename .a.part", f"sync {tmp_path.name}"]
    done.clear()
    write_together({tmp_path / "a": ["one", "two"], tmp_path / "b": ["three"]})
    assert done == [
        "sync .a.part",
        "sync .b.part",
        f"sync {tmp_path.name}",
        "rename .a.part",
        "rename .b.part",
        f"sync {tmp_path.name}",
    ]
    done.clear()
    Journal(tmp_path / "j").add("key", 1)
    assert done == ["sync j", f"sync {tmp_path.name}"]
    done.clear()
    sync_folder(tmp_path)
    assert sorted(done) == ["sync a", "sync b", "sync j", f"sync {tmp_path.name}"]


def test_files_that_belong_together_are_replaced_together(tmp_path: Path) -> None:
    places = {tmp_path / name: [name] for name in ("a", "b", "last")}
    write_together(places)

    def failing() -> object:
        yield "half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_together({**places, tmp_path / "last": failing()})  # type: ignore[dict-item]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "a", "b": "b", "last": "last"}


def _hold(place: Path, ready: multiprocessing.synchronize.Event, end: multiprocessing.synchronize.Event) -> None:
    with exclusive(place):
        ready.set()
        end.wait(60)


@contextmanager
def holder(place: Path) -> Iterator[multiprocessing.context.ForkProcess]:
    """Another process that holds a place until the block is left."""
    context = multiprocessing.get_context("fork")
    ready, end = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(place, ready, end))
    other.start()
    assert ready.wait(60)
    try:
        yield other
    finally:
        # One that was killed may have died with the event's own lock in its hands.
        if other.is_alive():
            end.set()
        other.join()


@pytest.mark.slow
def test_the_second_process_says_who_holds_a_place(tmp_path: Path) -> None:
    with holder(tmp_path / "place") as other:
        says = f"place is being written by process {other.pid} on "
        with pytest.raises(EvalError, match=says), exclusive(tmp_path / "place"):
            pass
    with exclusive(tmp_path / "place"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_killed_holder_frees_its_place(tmp_path: Path) -> None:
    with holder(tmp_path / "place") as other:
        other.kill()
        other.join()
    with exclusive(tmp_path / "place"):
        pass


def test_what_cannot_be_read_is_passed_over_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = tmp_path / "journal.jsonl"
    good = b'{"key": "a", "value": 1}\n'
    odd = [b"\n", b"\0\0\0\n", b"[1]\n", b'{"key": 1, "value": 2}\n', b'{"key": "x"}\n', b"[" * 9000 + b"\n"]
    odd += [b'{"key": "s", "value": "\\ud800"}\n', b'{"key": "n", "value": NaN}\n', b"\xff\n", b'{"key": "torn", "val']
    place.write_bytes(good + b"".join(odd))
    journal = Journal(place)
    assert (len(journal), journal["a"], journal.unreadable) == (1, 1, len(odd) - 1)
    assert f"journal.jsonl: unreadable lines skipped: {len(odd) - 1}" in caplog.text
    before = place.read_bytes()
    journal.add("b", "two \ud800", more=[1])
    assert place.read_bytes().startswith(before)
    assert journal["b"] == "two \ufffd"
    again = Journal(place)
    assert (again["a"], again["b"], again.unreadable) == (1, "two \ufffd", len(odd) - 1)


def test_the_newest_value_counts(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.add("a", {"failed": "status 500"})
    journal.add("a", "answer")
    assert Journal(tmp_path / "j")["a"] == "answer"


def _write(place: Path, name: str) -> None:
    for i in range(1500):
        # Opened each time, as by a second command that starts while the first one writes.
        if i % 100 == 0:
            journal = Journal(place)
        journal.add(f"{name}{i}", "x" * (i % 400))


@pytest.mark.slow
def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    place = tmp_path / "journal.jsonl"
    writers = [context.Process(target=_write, args=(place, name)) for name in ("a", "b")]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    entries = [entry for entry in read_entries(place) if entry is not None]
    assert len({entry["key"] for entry in entries}) == 3000


def test_a_journal_on_a_full_disk_says_so(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = Journal(tmp_path / "j")
    journal.add("a", 1)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        with pytest.raises(OSError, match=r"only .* of .* bytes could be written|File too large"):
            journal.add("b", "x" * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "b" not in journal
    journal.add("b", 2)
    assert json.loads((tmp_path / "j").read_text().splitlines()[-1])["value"] == 2
    assert {key: Journal(tmp_path / "j")[key] for key in "ab"} == {"a": 1, "b": 2}


def test_two_folders_take_each_others_place_in_one_step(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "of").write_text(name)
    assert exchange(tmp_path / "a", tmp_path / "b")
    assert [(tmp_path / name / "of").read_text() for name in ("a", "b")] == ["b", "a"]
    assert not exchange(tmp_path / "a", tmp_path / "nothing")
    assert (tmp_path / "a" / "of").read_text() == "b"
