"""Memorisation that was planted is found, and nothing where none was."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.data import cutoff
from lm_eval_tasks.study import contamination
from lm_eval_tasks.study.contamination import Observation, effect, effects, observations

Command = Callable[..., tuple[int, str, str]]
CUTOFFS = {"a": 0, "b": 6, "c": 12}


def planted(share: float, n: int = 300, seed: int = 1, drift: float = 0.0) -> list[Observation]:
    """Scores of three models with different cut-offs; old papers are memorised with a share, newer ones are easier by `drift` a month."""
    chance = random.Random(seed)
    papers = [(chance.gauss(0.2, 0.04), chance.randrange(24), chance.randrange(200)) for _ in range(n)]
    return [
        Observation(
            model,
            "Abs-9K",
            str(i),
            str(author),
            month - late,
            difficulty + drift * month + chance.gauss(0, 0.03) + 0.5 * (month <= late and chance.random() < share),
        )
        for model, late in CUTOFFS.items()
        for i, (difficulty, month, author) in enumerate(papers)
    ]


def test_planted_memorisation_is_found_whatever_the_papers_difficulty() -> None:
    for drift in (0.0, 0.01):
        found = effect("x", planted(0.2, drift=drift))
        assert found.value == pytest.approx(0.1, abs=0.03)
        assert found.low is not None and found.high is not None and found.p is not None
        assert 0 < found.low < 0.1 < found.high
        assert found.p < 0.01
    nothing = effect("x", planted(0.0, drift=0.01))
    assert nothing.low is not None and nothing.high is not None
    assert nothing.low < 0 < nothing.high


def test_placebos_find_nothing_and_ages_show_it() -> None:
    found = effects(planted(0.3))
    assert [one.what for one in found] == [
        "papers up to the cut-off",
        "placebo, cut-offs 3 months late",
        "placebo, cut-offs 6 months late",
    ]
    for one in found[1:]:
        assert one.value is None or abs(one.value) < 0.03
    ages = contamination.by_age(planted(0.3))["b"]
    assert ages[-1][0] > ages[0][0] + 0.05


def test_the_title_only_probe_stands_by_itself() -> None:
    probe = [
        Observation(one.model, "Abs-9K abs_title_only", one.paper, one.cluster, one.months, one.score)
        for one in planted(0.3)
    ]
    assert [one.what for one in effects(planted(0.0) + probe)][:2] == ["papers up to the cut-off", "title-only probe"]


def test_the_probe_of_one_model_is_compared_with_its_own_later_papers() -> None:
    probe = [
        Observation(one.model, "Abs-9K abs_title_only", one.paper, one.cluster, one.months, one.score)
        for one in planted(0.3)
        if one.model == "b"
    ]
    found = {one.what: one for one in effects(probe)}
    own = found["title-only probe, b against its own later papers"]
    assert found["title-only probe"].value is None
    assert own.value == pytest.approx(0.15, abs=0.05)
    assert own.low is not None and own.p is not None
    assert own.low > 0
    assert own.p < 0.001
    later = contamination.against_later("b", [one for one in probe if one.months > 0])
    assert (later.value, later.why) == (None, "all its papers are newer than its cut-off")


def test_the_probes_intervals_hold_the_truth() -> None:
    held = 0
    for seed in range(200):
        given = [one for one in planted(0.0, n=120, seed=seed) if one.model == "b"]
        found = contamination.against_later("b", given)
        assert found.low is not None and found.high is not None
        held += found.low <= 0 <= found.high
    assert 0.9 <= held / 200 <= 0.99


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (lambda one: one.model == "a", "only one model has such scores"),
        (lambda one: one.months > 0, "all papers are newer than all cut-offs"),
        (lambda one: one.months <= 0, "no paper lies between the cut-offs"),
    ],
)
def test_runs_that_cannot_tell_say_so(kept: Callable[[Observation], bool], why: str) -> None:
    found = effect("x", [one for one in planted(0.2) if kept(one)])
    assert found.value is None
    assert why in found.why


@pytest.mark.slow
def test_the_command(command: Command, dataset: Path, tmp_path: Path) -> None:
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "split": "all"})
    for model in ("lead", "random-sentence"):
        code, _, err = command(
            "eval",
            "--model",
            model,
            "--tasks",
            "academiceval_abs_9k",
            "--metadata",
            metadata,
            "--output",
            tmp_path / model,
        )
        assert code == 0, err
    runs = ("contamination", tmp_path / "lead", tmp_path / "random-sentence")
    code, _, err = command(*runs)
    assert (code, "the cut-off of lead is not known" in err) == (1, True)
    code, out, err = command(*runs, "--cutoff", "lead=2026-01", "--cutoff", "random-sentence=2026-06")
    assert code == 0, err
    assert "| papers up to the cut-off |" in out
    assert "months since the model's cut-off" in out
    code, out, err = command(*runs, "--cutoff", "lead=2026-01", "--cutoff", "random-sentence=2026-01")
    assert code == 0
    assert "not known, because no paper lies between" in out
    code, _, err = command(*runs, "--cutoff", "gpt=2026-01")
    assert (code, "is not MODEL=YYYY-MM with a model of these runs" in err) == (1, True)
    code, _, err = command("contamination", tmp_path / "lead", tmp_path / "lead")
    assert (code, "a second run of lead" in err) == (1, True)


@pytest.mark.slow
def test_every_split_can_be_asked(command: Command, dataset: Path, tmp_path: Path) -> None:
    counts = {}
    for split in ("train", "validation", "test", "all"):
        metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none", "split": split})
        code, out, err = command(
            "eval",
            "--model",
            "lead",
            "--tasks",
            "academiceval_title_10k",
            "--metadata",
            metadata,
            "--output",
            tmp_path / split,
        )
        assert code == 0, err
        assert "subset" not in out
        [scores] = [
            json.loads(file.read_text())["academiceval"]["scores"] for file in (tmp_path / split).glob("results_*.json")
        ]
        counts[split] = scores[0]["samples"]
        assert any(one["metric"] == "rouge_l_wrong_paper" for one in scores)
    assert counts["all"] == sum(counts[split] for split in ("train", "validation", "test"))


def test_models_without_a_score_are_named() -> None:
    with pytest.raises(SamplesError, match="cut-off of gpt is not known"):
        observations({"gpt": []}, {}, "rouge_l")
    with pytest.raises(SamplesError, match="no sample has the score"):
        observations({"gpt": []}, {"gpt": "2024-01"}, "rouge_l")


@pytest.mark.parametrize(
    ("name", "month"),
    [
        ("gpt-4o-2024-08-06", "2023-10"),
        ("openai/gpt-4.1-mini", "2024-06"),
        ("meta-llama/Llama-3.1-70B-Instruct", "2023-12"),
        ("meta-llama/Meta-Llama-3-8B", "2023-03"),
        ("claude-3-5-sonnet-20241022", "2024-04"),
        ("google/gemma-3-27b-it", "2024-08"),
        ("gpt-5-mini", "2024-05"),
        ("mistral-next", None),
        ("my-own-model", None),
        ("gpt-4olala", None),
    ],
)
def test_cut_offs_are_known_by_name(name: str, month: str | None) -> None:
    known = cutoff.of_name(name)
    assert (known.month if known else None) == month


def test_the_registry_is_whole() -> None:
    assert len(cutoff.families()) >= 60
    for pattern, known in cutoff.families().items():
        assert known.says, pattern
        assert cutoff.of_name(pattern) == known, pattern
        assert known.source.startswith("https://")
        assert known.confidence in ("stated", "derived")


def test_the_smallest_detectable_difference_shrinks_with_samples() -> None:
    few, many = (interval([(-1) ** i * 0.1 for i in range(n)], [str(i) for i in range(n)]) for n in (20, 80))
    assert few.detectable is not None and many.detectable is not None
    assert many.detectable < few.detectable / 1.8
    assert few.detectable == pytest.approx(2.9 * 0.1 / 20**0.5, rel=0.1)


def test_the_name_that_a_server_answers_with_may_tell_the_cutoff() -> None:
    own = {"model": "our-deployment"}
    assert cutoff.of_model(own) is None
    assert cutoff.of_model(own, ["gpt-4o-2024-08-06"]) == "2023-10"
    assert cutoff.of_model(own, ["gpt-4o", "our-other"]) is None
    assert cutoff.of_model({"model": "gpt-5"}, ["gpt-4o"]) == "2024-09"


def test_a_card_that_names_several_cutoffs_tells_none() -> None:
    assert cutoff.of_card("Llama 2 has a cutoff of September 2022, ours a knowledge cutoff of June 2025.") is None
    assert cutoff.of_card("Knowledge cutoff: June 2025. The data cutoff is 2025-06.") == "2025-06"
    assert cutoff.of_card("Knowledge cutoff: the 2023-24 academic year.") is None
