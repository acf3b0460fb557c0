"""Rounds whose hashes are published before their texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builder.dataset.manifest import read_manifest
from builder.dataset.publishable import publishable
from builder.dataset.rows import read_rows
from builder.dataset.takedown import without_papers
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
