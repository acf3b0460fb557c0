"""Shards of a run: together they are what one run is, and nothing else is put together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lm_eval_tasks.samples.run_folder import only_result
from standins.runs import evaluated, rewrite
from tests.helpers.served import Command, metadata

pytestmark = pytest.mark.slow

OTHER = "academiceval_title_10k"


@pytest.fixture
def shards(command: Command, dataset: Path, tmp_path: Path) -> list[Path]:
    return [evaluated(command, dataset, tmp_path / f"shard{i}", "--shard", f"{i}/3") for i in (3, 1, 2)]


def test_together_they_are_what_one_run_is_and_replace_no_other_results(
    shards: list[Path], command: Command, dataset: Path, tmp_path: Path
) -> None:
    whole = evaluated(command, dataset, tmp_path / "whole")
    # What an earlier run left beside a shard is not its own.
    [file] = shards[0].glob("samples_*")
    shutil.copy(file, shards[0] / "samples_academiceval_abs_28k_lead.jsonl")
    merged = tmp_path / "merged"
    assert command("merge", *shards, "--output", merged)[0] == 0
    scores = only_result(merged).scores
    [samples] = merged.glob("samples_*")
    assert samples.read_bytes() == (whole / samples.name).read_bytes()
    ours, theirs = only_result(whole), only_result(merged)
    assert (ours.scores, ours.subsets, ours.rounds) == (theirs.scores, theirs.subsets, theirs.rounds)
    assert ours.block is not None and theirs.block is not None
    assert ours.block.usage.answers == theirs.block.usage.answers
    line = ("eval", "--model", "lead", "--metadata", metadata(dataset), "--limit", "2", "--tasks")
    assert command(*line, OTHER, "--output", merged)[0] == 1
    assert list(only_result(merged).scores) == list(scores)
    assert command(*line, OTHER, "--output", tmp_path / "others")[0] == 0
    code, _, err = command("merge", *shards, "--output", tmp_path / "others")
    assert (code, f"has results of {OTHER}" in err) == (1, True), err
    left_out = iter([None])  # a row that does not fit the model
    rewrite(shards[1], lambda line: next(left_out, line))
    assert command("merge", *shards, "--output", tmp_path / "fitting")[0] == 0
    (merged / "results_other.json").write_text("{}")
    code, _, err = command("merge", *shards, "--output", merged)
    assert (code, "contains the results of other" in err) == (1, True), err


def test_what_is_not_one_run_is_refused(shards: list[Path], command: Command, dataset: Path, tmp_path: Path) -> None:
    def refused(*folders: Path, output: Path = tmp_path / "wrong") -> str:
        code, _, err = command("merge", *folders, "--output", output)
        assert (code, err.count("\n")) == (1, 1)
        return err

    whole = evaluated(command, dataset, tmp_path / "whole")
    assert "these are missing: 2" in refused(*shards[:2])
    assert "are both shard 1/3" in refused(*shards[:2], shards[1])
    assert "is one of the shards" in refused(*shards, output=shards[0])
    assert "is a whole run" in refused(*shards, whole)
    (tmp_path / "empty").mkdir()
    assert "contains no results_*.json" in refused(*shards[:2], tmp_path / "empty")
    other = evaluated(command, dataset, tmp_path / "other", "--shard", "2/3")
    [file] = other.glob("results_*.json")
    content = json.loads(file.read_text())
    for name, value in {"weights": {"pretrained": "x"}, "tasks": ["academiceval_abs_28k", OTHER]}.items():
        run = {**content["academiceval"]["run"], name: value}
        file.write_text(json.dumps({**content, "academiceval": {**content["academiceval"], "run": run}}))
        assert f"differ in {name}" in refused(*shards[:2], other)
    [file] = shards[0].glob("samples_*")
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert f"{file} is not the file" in refused(*shards)
