"""`exclude` in round.toml: a question that was found to be wrong is not asked again, and the round says why."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from standins.rounds import SMALL_SOURCE
from tests.builder.test_pipeline import copy_of, rows
from tests.helpers.served import Command

ROUND = """round = "2026.11"
seed = 7
settings = ["Title-10K", "Abs-28K"]
{exclude}
{source}[split]
test = 0.3
[[scalar.level]]
name = "SCALAR-One"
[reading]
configurations = ["Next-8K"]
"""


def rows_by_id(place: Path) -> dict[str, dict[str, Any]]:
    """Configuration -> id -> row."""
    names = ("Title-10K", "Abs-28K", "SCALAR-One", "Next-8K")
    return {name: {row["id"]: row for row in rows(place, name)} for name in names}


@pytest.mark.slow
def test_what_is_wrong_is_left_out_and_said(command: Command, world: Path, tmp_path: Path) -> None:
    place = copy_of(world, tmp_path) / "academiceval"
    file = tmp_path / "round.toml"
    file.write_text(ROUND.format(exclude="", source=SMALL_SOURCE))
    code, _, err = command("run", file)
    assert code == 0, err
    before = rows_by_id(place)
    names = ("Title-10K", "SCALAR-One", "Next-8K")
    wrong = {name: min(before[name]) for name in names}
    mistyped = (f"{max(before['SCALAR-One'])}99", "2401.99999v1#3")
    excluded = [*wrong.values(), *mistyped]
    entries = ", ".join(f'{{ id = "{id_}", reason = "its gold is wrong" }}' for id_ in excluded)
    file.write_text(ROUND.format(source=SMALL_SOURCE, exclude=f"exclude = [{entries}]"))
    code, out, err = command("run", file, "--replace")
    assert code == 0, err
    after = rows_by_id(place)
    for name in names:
        assert wrong[name] not in after[name]
    for name in ("Title-10K", "Abs-28K"):
        before[name].pop(wrong["Title-10K"], None)
        assert after[name] == before[name]
    assert out.count("excluded 1") >= 3
    manifest = json.loads((place / "manifest.json").read_text())
    assert {entry["reason"] for entry in manifest["config"]["exclude"]} == {"its gold is wrong"}
    del before["SCALAR-One"][wrong["SCALAR-One"]]
    assert after["SCALAR-One"] == before["SCALAR-One"]
    assert [line for line in out.splitlines() if "exclude names" in line] == [
        f"warning: exclude names {id_}, which is the id of no row" for id_ in sorted(mistyped)
    ]
