"""`exclude` in round.toml: a question that was found to be wrong is not asked again, and the round says why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from standins.rounds import SMALL_SOURCE
from tests.helpers.served import Command

ROUND = """round = "2026.11"
seed = 7
settings = ["Title-10K", "Abs-9K"]
{exclude}
{source}[split]
test = 0.3
[[scalar.level]]
name = "SCALAR-One"
[reading]
configurations = ["Next-8K"]
"""


def ids(folder: Path) -> dict[str, set[str]]:
    """Configuration -> the ids of its test rows."""
    every: dict[str, set[str]] = {}
    for file in folder.rglob("test-*.parquet"):
        every.setdefault(file.parent.name, set()).update(pq.read_table(file, columns=["id"])["id"].to_pylist())
    return every


def contents(folder: Path) -> dict[str, str]:
    """Id -> all of a test row."""
    rows = [row for file in folder.glob("test-*.parquet") for row in pq.read_table(file).to_pylist()]
    return {row["id"]: json.dumps(row, sort_keys=True) for row in rows}


@pytest.mark.slow
def test_what_is_wrong_is_left_out_and_said(command: Command, world: Path, tmp_path: Path) -> None:
    shutil.copytree(world / "work", tmp_path / "work")
    file = tmp_path / "round.toml"
    file.write_text(ROUND.format(exclude="", source=SMALL_SOURCE))
    code, _, err = command("run", file)
    assert code == 0, err
    before, hashes = ids(tmp_path / "academiceval"), contents(tmp_path / "academiceval" / "SCALAR-One")
    names = ("Title-10K", "SCALAR-One", "Next-8K")
    wrong = {name: min(before[name]) for name in names}
    mistyped = (f"{max(before['SCALAR-One'])}99", "2401.99999v1#3")
    excluded = [*wrong.values(), *mistyped]
    entries = ", ".join(f'{{ id = "{id_}", reason = "its gold is wrong" }}' for id_ in excluded)
    file.write_text(ROUND.format(source=SMALL_SOURCE, exclude=f"exclude = [{entries}]"))
    code, out, err = command("run", file, "--replace")
    assert code == 0, err
    after = ids(tmp_path / "academiceval")
    for name in names:
        assert wrong[name] not in after[name]
    assert after["Title-10K"] == before["Title-10K"] - {wrong["Title-10K"]}
    assert after["Abs-9K"] == before["Abs-9K"] - {wrong["Title-10K"]}
    assert out.count("excluded 1") >= 3
    manifest = json.loads((tmp_path / "academiceval" / "manifest.json").read_text())
    assert {entry["reason"] for entry in manifest["config"]["exclude"]} == {"its gold is wrong"}
    others = before["SCALAR-One"] - {wrong["SCALAR-One"]}
    assert {id_: hashes[id_] for id_ in others} == contents(tmp_path / "academiceval" / "SCALAR-One")
    assert [line for line in out.splitlines() if "exclude names" in line] == [
        f"warning: exclude names {id_}, which is the id of no row" for id_ in sorted(mistyped)
    ]
