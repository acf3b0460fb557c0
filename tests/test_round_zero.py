"""The round that lies in the repository by id: no text in it, and complete again from the articles."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from lm_eval_tasks.families.rounds import read_manifest
from standins.places import DATA

Command = Callable[..., tuple[int, str, str]]
ZERO = Path(__file__).resolve().parents[1] / "rounds" / "zero"


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for each in value.values() for text in texts(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in texts(each))


def test_it_has_no_text() -> None:
    files = sorted(ZERO.rglob("*.parquet"))
    assert files
    longest = max((text for file in files for row in pq.read_table(file).to_pylist() for text in texts(row)), key=len)
    assert len(longest) <= 120, longest


def test_a_source_that_lacks_something_is_one_sentence(command: Command, tmp_path: Path) -> None:
    shutil.copytree(ZERO, tmp_path / "zero")
    for source, words in (("jats", "give --path"), ("europepmc", "wants to know who asks")):
        code, _, err = command("fill", tmp_path / "zero", "--source", source)
        assert (code, words in err, err.count("\n")) == (1, True, 1), err


@pytest.mark.data
@pytest.mark.slow
def test_it_is_completed_from_the_articles(command: Command, tmp_path: Path) -> None:
    shutil.copytree(ZERO, tmp_path / "zero")
    code, out, err = command("fill", tmp_path / "zero", "--source", "jats", "--path", DATA / "jats")
    assert code == 0, err
    assert "269 in, 269 kept" in out
    filled = tmp_path / "zero-filled"
    original = read_manifest(ZERO).publishable
    assert original is not None and read_manifest(filled).configurations == original.original
    code, out, err = command(
        "eval",
        "--model",
        "lead",
        "--tasks",
        "academiceval_abs_9k",
        "--dataset",
        filled,
        "--bertscore",
        "none",
        "--output",
        tmp_path / "lead",
    )
    assert code == 0, err
    assert "| academiceval_abs_9k | rouge_l_content | 0.1456 " in out
