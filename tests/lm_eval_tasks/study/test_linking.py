"""Rounds of different difficulty on one scale."""

from __future__ import annotations

import json
import random
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy.special import expit

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.scales import Scores
from lm_eval_tasks.study.linking import Linked, anchors_of, link, link_task
from lm_eval_tasks.study.rasch import abilities, accuracy
from tests.helpers.runs import relist
from tests.helpers.samples import sample

Command = Callable[..., tuple[int, str, str]]
ANCHORS = ("a1", "a2", "a3", "a4")
SKILLS = {"a1": 0.18, "a2": 0.2, "a3": 0.22, "a4": 0.25, "new": 0.3}


def runs(round_: str, easier: float, seed: int, changed: float = 0.0, n: int = 150) -> dict[str, list[Sample]]:
    """Made-up runs of a round that is easier by so much; the first anchor has changed by so much."""
    chance = random.Random(f"{round_}{seed}")
    papers = [(f"{round_}.{i}", chance.gauss(0, 0.05), f"author {chance.randrange(n)}") for i in range(n)]
    return {
        model: [
            sample(
                id_,
                author,
                {
                    "rouge_l": skill + easier + difficulty + chance.gauss(0, 0.03) + (changed if model == "a1" else 0),
                },
                round_,
            )
            for id_, difficulty, author in papers
        ]
        for model, skill in SKILLS.items()
    }


def new_model(easier: float, seed: int) -> Linked:
    linked, _ = link({"1": runs("1", 0, seed), "2": runs("2", easier, seed)}, ANCHORS, "rouge_l")
    return next(one for one in linked if one.model == "new")


def test_a_shift_of_difficulty_is_taken_out() -> None:
    one = new_model(0.03, 1)
    assert one.raw == pytest.approx(0.33, abs=0.015)
    assert one.low is not None and one.high is not None
    assert one.low < 0.3 < one.high
    assert one.value == pytest.approx(0.3, abs=0.012)


@pytest.mark.slow
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
    with pytest.raises(SamplesError, match="have 1 anchors in common, but linking needs 3"):
        link({"1": runs("1", 0, 1), "2": runs("2", 0, 1)}, ["a1", "b"], "rouge_l")
    assert 4 <= len(anchors_of(None)) <= 6


@pytest.mark.slow
def test_the_command(command: Command, dataset: Path, tmp_path: Path) -> None:
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
    for model in ("lead", "random-sentence", "function-words"):
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
        relist(tmp_path / "two" / model)
    # A run over papers of the first round that the second carries along, in a folder of its own.
    shutil.copytree(tmp_path / "one" / "lead", tmp_path / "two" / "lead on old papers")
    for file in (tmp_path / "two" / "lead on old papers").glob("samples_*"):
        file.write_text(file.read_text().replace('"Abs-9K"', '"Abs-9K-core"'))
    relist(tmp_path / "two" / "lead on old papers")
    code, out, err = command(
        "study",
        "link-rounds",
        tmp_path / "one",
        tmp_path / "two",
        "--anchors",
        "lead,random-sentence,function-words,lead",
    )
    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("| Abs-9K | 2026.12 | lead |"))
    assert not line.endswith("| - |")
    code, _, err = command(
        "study",
        "link-rounds",
        tmp_path / "one",
        tmp_path / "two",
        "--anchors",
        "lead,random-sentence",
        "--metric",
        "foo",
    )
    assert (code, "no metric 'foo'" in err) == (1, True)
    assert "3 anchors score 0.0000 higher" in out
    code, _, err = command("study", "link-rounds", tmp_path / "two", tmp_path / "one")
    assert (code, "give the folder of the oldest first" in err) == (1, True), err
    code, _, err = command("study", "link-rounds", tmp_path / "one", tmp_path / "two")
    assert (code, "have 0 anchors in common" in err) == (1, True)
    code, _, err = command("study", "link-rounds", tmp_path / "one")
    assert (code, "at least two rounds" in err) == (1, True)
    code, _, err = command("study", "link-rounds", tmp_path / "one", tmp_path)
    assert code == 1


# --- right or wrong


def choices(round_: str, easier: float, seed: int, n: int = 200) -> dict[str, Scores]:
    """Answers of models of different ability to a round's questions, two of each first author."""
    chance = random.Random(f"{round_} {seed}")
    questions = {f"{round_}.{i}": chance.gauss(-easier, 1.0) for i in range(n)}
    return {
        model: {
            id_: (float(chance.random() < 0.25 + 0.75 * expit(ability - difficulty)), f"author {i // 2}")
            for i, (id_, difficulty) in enumerate(questions.items())
        }
        for model, ability in ABILITIES.items()
    }


CHANCE = 0.25
ABILITIES = {"a1": -0.5, "a2": 0.2, "a3": 0.8, "a4": 1.5, "new": 2.0}
NEW = float(accuracy(ABILITIES["new"], 1.0, CHANCE))


def test_abilities_are_found() -> None:
    found = abilities(choices("1", 0.0, 3, n=3000), CHANCE)
    assert found.spread == pytest.approx(1.0, abs=0.15)
    for model, ability in ABILITIES.items():
        assert found.values[found.of[model]] == pytest.approx(ability, abs=0.2)


@pytest.mark.slow
@pytest.mark.long
def test_right_or_wrong_answers_are_linked_by_ability() -> None:
    """The later round is so much easier that raw accuracies lie close to 1."""
    placed = []
    for seed in range(40):
        first, later = choices("1", 0.0, seed), choices("2", 1.0, seed)
        _, found = link_task("2", "SCALAR-Hard", first, later, ANCHORS, chance=CHANCE)
        placed.append(next(one for one in found if one.model == "new"))
    assert statistics.fmean(one.raw for one in placed) > NEW + 0.06
    assert statistics.fmean(one.value for one in placed) == pytest.approx(NEW, abs=0.01)
    held = sum(one.low is not None and one.high is not None and one.low <= NEW <= one.high for one in placed)
    assert held >= 35


def test_a_model_that_is_always_right_has_a_place() -> None:
    first, later = choices("1", 0.0, 1), choices("2", 0.0, 1)
    later["new"] = {id_: (1.0, author) for id_, (_, author) in later["new"].items()}
    _, found = link_task("2", "SCALAR-Hard", first, later, ANCHORS, chance=CHANCE)
    one = next(one for one in found if one.model == "new")
    assert 0.95 < one.value <= 1.0


def test_papers_of_the_first_round_check_the_link() -> None:
    before = {
        model: {one.id: (one.scores["rouge_l"], one.cluster) for one in own} for model, own in runs("1", 0, 1).items()
    }
    after = {
        model: {one.id: (one.scores["rouge_l"], one.cluster) for one in own}
        for model, own in runs("2", 0.03, 1).items()
    }
    old = dict(list(before["new"].items())[:60])
    _, found = link_task("2", "Abs-9K", before, after, ANCHORS, {"new": old})
    one = next(one for one in found if one.model == "new")
    assert one.by_core is not None
    value, bounds = one.by_core
    assert value == pytest.approx(one.value, abs=0.02)
    assert bounds is not None
    assert bounds[0] < 0.3 < bounds[1]
    assert all(one.by_core is None for one in found if one.model != "new")
    # A model that has seen the old papers does better on them than the new papers tell.
    seen = {id_: (score + 0.1, author) for id_, (score, author) in old.items()}
    _, found = link_task("2", "Abs-9K", before, after, ANCHORS, {"new": seen})
    one = next(one for one in found if one.model == "new")
    assert one.by_core is not None and one.by_core[1] is not None and one.high is not None
    assert one.by_core[1][0] > one.high
