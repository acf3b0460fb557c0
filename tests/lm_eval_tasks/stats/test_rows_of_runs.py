"""Which rows a number is of: runs over other contents and other revisions, through the commands."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from builder.dataset.publishable import without_papers
from builder.ids import bare_id
from builder.round.source import SampleTable
from lm_eval_tasks.engines.registry import LocalEngine
from lm_eval_tasks.samples.sample import read
from standins import rounds
from standins.rounds import small_round
from tests.helpers.served import Command, metadata

pytestmark = pytest.mark.slow

TASK = "academiceval_abs_9k"
OTHER = SampleTable(kind="sample", authors=12, papers=30)


def built(place: Path, **changes: object) -> Path:
    """A small round of one setting."""
    rounds.run(small_round(place, settings=["Abs-9K"], **changes), LocalEngine(2))
    return place / "academiceval"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round of the same name over other papers."""
    return built(tmp_path_factory.mktemp("other"), source=OTHER)


@pytest.fixture
def answered(command: Command, tmp_path: Path) -> Callable[..., Path]:
    """A baseline's run over a dataset, in a folder of its own."""

    def run(model: str, dataset: Path, name: str, *options: object) -> Path:
        line = ("eval", "--model", model, "--tasks", TASK, "--metadata", metadata(dataset), "--output", tmp_path / name)
        code, _, err = command(*line, *options)
        assert code == 0, err
        return tmp_path / name

    return run


def shown(command: Command, *line: object) -> list[dict[str, str]]:
    code, out, err = command("compare", *line, "--format", "json")
    assert code == 0, err
    return list(json.loads(out))


def test_other_contents_under_one_name_are_neither_compared_nor_on_one_board(
    dataset: Path, other: Path, answered: Callable[..., Path], command: Command, tmp_path: Path
) -> None:
    a, b = answered("lead", dataset, "a"), answered("function-words", other, "b")
    code, _, err = command("compare", a, b)
    assert code == 1
    assert "rows in common" in err
    code, _, err = command("report", a, b, "-o", tmp_path / "site")
    assert code == 1
    assert "do not belong on one page" in err
    assert "the round was built again" in err
    # Of two runs of one model the newer counts, whole; what the other has of its own does not join it.
    newer = answered("lead", other, "newer")
    for runs in ((a, newer), (a, newer, b)):
        assert command("report", *runs, "-o", tmp_path / "site")[0] == 0
        rows = csv.DictReader((tmp_path / "site" / "data" / "scores.csv").read_text().splitlines())
        shown_ = {row["model"]: (row["n"], row["of"]) for row in rows if row["metric"] == "rouge_l_content"}
        assert shown_["lead"] == (str(len(list(read([newer])))), "")


def test_a_later_revision_without_a_paper_and_another_name_of_it(
    dataset: Path, answered: Callable[..., Path], command: Command, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    a = answered("lead", dataset, "a")
    victim = bare_id(next(iter(read([a]))).id)
    without_papers(dataset, tmp_path / "renamed", [victim], "2026.11.post1")
    b = answered("function-words", tmp_path / "renamed", "b")
    whole, part = len(list(read([a]))), len(list(read([b])))
    assert part < whole
    [row] = shown(command, a, b)
    assert row["n"] == f"{part} of {whole} and {part}"
    # An own content of one question changes that question and no other.
    assert {one.identity for one in read([b])} < {one.identity for one in read([a])}
    # Which rows the revisions differ in is said, where a run may not simply lack them.
    lacking = sorted({one.id for one in read([a])} - {one.id for one in read([b])})
    said = f"of the dataset differ in {len(lacking)} row{'s' * (len(lacking) > 1)}: {', '.join(lacking)}"
    assert said in command("compare", a, b)[1]
    assert command("report", a, b, "-o", tmp_path / "site")[0] == 0
    assert said in caplog.text
    assert (
        "revisions"
        not in command("compare", a, answered("function-words", tmp_path / "renamed", "c", "--limit", "3"))[1]
    )
    assert "revisions" not in command("compare", a, answered("function-words", dataset, "d"))[1]


def test_a_baseline_that_needs_training_papers_has_no_score_without_them(
    world: Path, command: Command, tmp_path: Path
) -> None:
    shutil.copytree(world / "work", tmp_path / "bare" / "work")
    bare = built(tmp_path / "bare", split={"validation": 0.001, "test": 0.998})
    line = ("--tasks", TASK, "--metadata", metadata(bare), "--output", tmp_path / "run")
    code, _, err = command("eval", "--model", "lead", *line)
    assert code == 1
    assert "has no score on any of these tasks" in err
    assert not list((tmp_path / "run").glob("results_*"))
