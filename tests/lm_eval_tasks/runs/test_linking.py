"""Rounds of different difficulty on one scale."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from lm_eval_tasks.errors import SamplesError
from lm_eval_tasks.runs.linking import Linked, link, usual_anchors
from lm_eval_tasks.runs.logged import Logged

Command = Callable[..., tuple[int, str, str]]
ANCHORS = ("a1", "a2", "a3", "a4")
SKILLS = {"a1": 0.18, "a2": 0.2, "a3": 0.22, "a4": 0.25, "new": 0.3}


def runs(round_: str, easier: float, seed: int, changed: float = 0.0, n: int = 150) -> dict[str, list[Logged]]:
    """Made-up runs of a round that is easier by so much; the first anchor has changed by so much."""
    chance = random.Random(f"{round_}{seed}")
    papers = [(f"{round_}.{i}", chance.gauss(0, 0.05), f"author {chance.randrange(n)}") for i in range(n)]
    return {
        model: [
            Logged("Abs-9K", "writing", id_, author, "2026-01-01", round_, 1, "", "", {
                "rouge_l": skill + easier + difficulty + chance.gauss(0, 0.03) + (changed if model == "a1" else 0),
            })
            for id_, difficulty, author in papers
        ]
        for model, skill in SKILLS.items()
    }  # fmt: skip


def new_model(easier: float, seed: int) -> Linked:
    linked, _ = link({"1": runs("1", 0, seed), "2": runs("2", easier, seed)}, ANCHORS, "rouge_l")
    return next(one for one in linked if one.model == "new")


def test_a_shift_of_difficulty_is_taken_out() -> None:
    one = new_model(0.03, 1)
    assert one.raw == pytest.approx(0.33, abs=0.015)
    assert one.low is not None and one.high is not None
    assert one.low < 0.3 < one.high
    assert one.value == pytest.approx(0.3, abs=0.012)


def test_intervals_hold_the_truth_and_linking_is_without_bias() -> None:
    found = [new_model(0.03, seed) for seed in range(60)]
    assert abs(sum(one.value - 0.3 for one in found) / len(found)) < 0.002
    held = sum(one.low is not None and one.high is not None and one.low <= 0.3 <= one.high for one in found)
    assert held >= 54


def test_an_anchor_that_changed_is_named() -> None:
    _, [one] = link({"1": runs("1", 0, 1), "2": runs("2", 0.03, 1, changed=0.05)}, ANCHORS, "rouge_l")
    assert one.changed == ("a1",)
    _, [same] = link({"1": runs("1", 0, 1), "2": runs("2", 0.03, 1)}, ANCHORS, "rouge_l")
    assert same.changed == ()
    assert same.shift == pytest.approx(0.03, abs=0.015)


def test_too_few_anchors_are_named() -> None:
    with pytest.raises(SamplesError, match="have 1 anchors in common, and linking takes 2"):
        link({"1": runs("1", 0, 1), "2": runs("2", 0, 1)}, ["a1", "b"], "rouge_l")
    assert 4 <= len(usual_anchors()) <= 6


def test_the_command(command: Command, dataset: Path, tmp_path: Path) -> None:
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
    for model in ("lead", "random-sentence"):
        place = tmp_path / "one" / model
        assert (
            command(
                "eval", "--model", model, "--tasks", "academiceval_abs_9k", "--metadata", metadata, "--output", place
            )[0]
            == 0
        )
        (tmp_path / "two" / model).mkdir(parents=True)
        for file in place.iterdir():
            if file.suffix in (".json", ".jsonl"):
                (tmp_path / "two" / model / file.name).write_text(file.read_text().replace("2026.11", "2026.12"))
    code, out, err = command("link-rounds", tmp_path / "one", tmp_path / "two", "--anchors", "lead,random-sentence")
    assert code == 0, err
    assert "| Abs-9K | 2026.12 | lead |" in out
    assert "2 anchors score +0.0000 higher" in out
    code, _, err = command("link-rounds", tmp_path / "one", tmp_path / "two")
    assert (code, "have 0 anchors in common" in err) == (1, True)
    code, _, err = command("link-rounds", tmp_path / "one")
    assert (code, "at least two rounds" in err) == (1, True)
    code, _, err = command("link-rounds", tmp_path / "one", tmp_path)
    assert code == 1
