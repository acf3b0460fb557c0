"""Rounds whose hashes are published before their texts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from builder.dataset.folder import finish
from builder.dataset.manifest import read_manifest
from builder.dataset.publishable import publishable
from builder.dataset.rows import read_rows, without_files
from builder.dataset.takedown import without_papers
from builder.dataset.write import ConfigurationWriter
from builder.pipeline import run
from builder.round.source import SampleTable
from builder.round.tables import ScalarTable
from hub_scripts.hub.sealing import differences_from_seal
from lm_eval_tasks.engines.local import LocalEngine
from tests.helpers.hub_server import Hub
from tests.helpers.rounds import small_round

pytestmark = pytest.mark.slow

Command = Callable[..., tuple[int, str, str]]
REPO = "org/academiceval"
PUSH = ("--repo", REPO, "--yes")


def test_what_was_sealed_is_opened(command: Command, hub: Hub, two_rounds: tuple[Path, Path]) -> None:
    folder = two_rounds[0]
    code, out, errors = command("push", folder, *PUSH, "--sealed")
    assert code == 0, errors
    assert "sealed: every row is there by id" in out
    repo = hub.repos[f"datasets/{REPO}"]
    assert list(repo.tags) == ["2026.11.sealed"]
    sealed = repo.resolve("2026.11.sealed").tree
    assert {path.split("/")[0] for path in sealed if path.endswith(".parquet")} == {"Abs-9K-ids", "Intro-28K-G-ids"}

    code, out, errors = command("push", folder, *PUSH)
    assert code == 0, errors
    assert "opened is what was sealed" in out
    assert set(repo.tags) == {"2026.11.sealed", "2026.11"}
    assert repo.branches["main"] == repo.tags["2026.11"]
    code, out, errors = command("verify", REPO, "--revision", "2026.11.sealed")
    assert (code, "opened" in out) == (0, False), errors
    code, _, errors = command("push", folder, *PUSH, "--sealed")
    assert (code, "already has the texts of 2026.11" in errors) == (1, True)


@pytest.mark.long
def test_papers_are_taken_down_while_a_sealed_round_is_the_newest(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    old, sealed = two_rounds
    repo = hub.repos
    assert command("push", old, *PUSH, "--licenses", "all")[0] == 0
    assert command("push", sealed, *PUSH, "--sealed")[0] == 0
    code, _, errors = command("yank", REPO, "--yes", "--revision", "2026.12.sealed", "--reason", "x")
    assert (code, "has no texts, so nothing in it can be replaced" in errors) == (1, True), errors
    shown = [
        {row["id"].rpartition("v")[0] for row in read_rows(folder, read_manifest(folder).configurations[0], "train")}
        for folder in two_rounds
    ]
    victim = min(shown[0] & shown[1])
    yank = ("yank", REPO, "--yes", "--reason", "asked for", "--paper", victim, "--takedowns", tmp_path / "list.jsonl")
    code, out, errors = command(*yank)
    assert code == 0, errors
    assert "2026.11 is replaced by 2026.11.post1" in out
    assert victim in (tmp_path / "list.jsonl").read_text()
    assert "2026.11.post1" in repo[f"datasets/{REPO}"].tags
    assert (
        json.loads(repo[f"datasets/{REPO}"].resolve("main").tree["manifest.json"].data)["revision"] == "2026.12.sealed"
    )
    assert command(*yank)[0] == 0  # again changes nothing
    # The sealed round is opened without the paper.
    code, out, errors = command("push", sealed, *PUSH, "--licenses", "all")
    assert code == 0, errors
    assert f"without {victim}, taken down since 2026.12.sealed" in out
    assert "opened is what was sealed" in out
    manifest = repo[f"datasets/{REPO}"].resolve("2026.12").tree["manifest.json"].data
    assert json.loads(manifest)["takedown"]["dropped"]
    assert command("push", sealed, *PUSH, "--licenses", "all")[0] == 0


@pytest.mark.long
def test_texts_that_were_not_sealed_are_found_out(
    command: Command, hub: Hub, two_rounds: tuple[Path, Path], tmp_path: Path
) -> None:
    assert command("push", two_rounds[0], *PUSH, "--sealed")[0] == 0
    # The same round with other demonstrations.
    other = small_round(tmp_path, round="2026.11", settings=("Abs-9K", "Intro-28K-G"), seed=9)
    run(other, LocalEngine())
    for options in (PUSH[:-1], PUSH):
        code, _, errors = command("push", tmp_path / "academiceval", *options)
        assert code == 1
        assert "push the folder that was sealed" in errors
    assert list(hub.repos[f"datasets/{REPO}"].tags) == ["2026.11.sealed"]
    assert "Intro-28K-G: " in errors
    assert "not those that were sealed" in errors


def test_the_seal_holds_for_every_licence(two_rounds: tuple[Path, Path], tmp_path: Path) -> None:
    publishable(two_rounds[0], tmp_path / "sealed", "none")
    publishable(two_rounds[0], tmp_path / "some", "redistributable")
    assert read_manifest(tmp_path / "sealed").revision == "2026.11.sealed"
    for opened in (two_rounds[0], tmp_path / "some"):
        assert list(differences_from_seal(tmp_path / "sealed", opened)) == []
    # A paper that was taken down meanwhile may be missing, and no other.
    whole = read_manifest(two_rounds[0])
    some = next(one for one in read_rows(two_rounds[0], whole.configurations[0], "test"))
    without_papers(tmp_path / "some", tmp_path / "less", [some["id"].partition("v")[0]], "2026.11.post1")
    assert list(differences_from_seal(tmp_path / "sealed", tmp_path / "less", [some["id"].partition("v")[0]])) == []
    assert list(differences_from_seal(tmp_path / "sealed", tmp_path / "less"))
    publishable(two_rounds[1], tmp_path / "other", "redistributable")
    assert len(list(differences_from_seal(tmp_path / "sealed", tmp_path / "other"))) >= 1


@pytest.mark.long
def test_a_sealed_question_does_not_tell_its_answer(tmp_path: Path) -> None:
    source = SampleTable(kind="sample", authors=20, papers=50)
    round_ = small_round(tmp_path, source=source, settings=("Title-10K",), scalar=ScalarTable(levels=("SCALAR-Easy",)))
    run(round_, LocalEngine())
    manifest = read_manifest(round_.output)
    questions = next(one for one in manifest.configurations if one.task == "cloze")
    labels = [row["label"] for row in read_rows(round_.output, questions, "test")]
    assert len(set(labels)) > 1
    publishable(round_.output, tmp_path / "sealed", "none")
    publishable(round_.output, tmp_path / "some", "redistributable")
    by_id = read_manifest(tmp_path / "sealed").by_ids_of(questions.name)
    assert by_id is not None
    assert {row["label"] for row in read_rows(tmp_path / "sealed", by_id, "test")} == {0}
    for opened in (round_.output, tmp_path / "some"):
        assert list(differences_from_seal(tmp_path / "sealed", opened)) == []
    # An answer that is changed later is found out, even of a question whose texts may not be published.
    writer = ConfigurationWriter(tmp_path / "changed", without_files(questions))
    for row in read_rows(round_.output, questions, "test"):
        writer.add("test", {**row, "label": (row["label"] + 1) % len(row["candidates"])})
    shutil.copytree(round_.output, tmp_path / "changed", dirs_exist_ok=True)
    others = [one for one in manifest.configurations if one.name != questions.name]
    finish(tmp_path / "changed", replace(manifest, configurations=(*others, writer.close())), {})
    assert any(
        "not those that were sealed" in one for one in differences_from_seal(tmp_path / "sealed", tmp_path / "changed")
    )
