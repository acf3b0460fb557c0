"""Memorisation that was planted is found, and nothing where none was."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.special import expit

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.intervals import interval
from lm_eval_tasks.data import cutoff
from lm_eval_tasks.study import contamination
from lm_eval_tasks.study.contamination import (
    MAIN,
    PROBE,
    Effect,
    against_later,
    effects,
    observations,
    placebo,
)
from lm_eval_tasks.study.contamination_verdicts import verdicts
from lm_eval_tasks.study.exposure import Observation, gains
from lm_eval_tasks.study.jumps import jumps

Command = Callable[..., tuple[int, str, str]]
CUTOFFS = {"a": 0, "b": 6, "c": 12}


def planted(
    share: float,
    n: int = 300,
    seed: int = 1,
    drift: float = 0.0,
    models: str = "abc",
    style: float = 0.0,
    task: str = "Abs-9K",
) -> list[Observation]:
    """Scores of three models with different cut-offs.

    Args:
        share: of the old papers that each of `models` has memorised.
        drift: by how much newer papers are easier, a month.
        style: by how much newer models are better at older papers, a month and step.
    """
    chance = random.Random(seed)
    papers = [(chance.gauss(0.2, 0.04), chance.randrange(24), chance.randrange(200)) for _ in range(n)]
    return [
        Observation(
            model,
            task,
            f"{task} {i}",
            str(author),
            month,
            late,
            difficulty
            + drift * month
            + style * step * (24 - month)
            + chance.gauss(0, 0.03)
            + 0.5 * (model in models and month <= late and chance.random() < share),
        )
        for step, (model, late) in enumerate(CUTOFFS.items())
        for i, (difficulty, month, author) in enumerate(papers)
    ]


def main(data: list[Observation]) -> list[Effect]:
    return [effect for effect in effects(data) if effect.what == MAIN]


def by_model(found: list[Effect]) -> dict[str, Effect]:
    return {effect.model: effect for effect in found}


def test_planted_memorisation_is_found_whatever_the_papers_difficulty() -> None:
    for drift in (0.0, 0.01):
        found = by_model(main(planted(0.2, drift=drift)))
        for model in "bc":
            gain = found[model].gain
            assert gain.value == pytest.approx(0.1, abs=0.05)
            assert gain.over is not None
            assert gain.over.low < 0.1 < gain.over.high
            assert found[model].is_found
    assert not any(effect.is_found for effect in main(planted(0.0, drift=0.01)))


def test_memory_of_the_newest_model_alone_is_not_hidden_by_papers_that_all_may_have_seen() -> None:
    found = by_model(main(planted(0.2, models="c")))
    assert found["c"].is_found
    assert found["c"].gain.value > 0.04
    assert not found["b"].is_found
    # No model has an earlier cut-off than the oldest.
    assert "no other model has an earlier cut-off" in found["a"].gain.why


def test_style_is_no_memory() -> None:
    """Newer models are better at older papers, seen or not: a plain comparison would call that memory."""
    data = planted(0.0, n=1000, style=0.001)
    assert not any(effect.is_found for effect in effects(data))
    assert abs(by_model(main(data))["c"].gain.value) < 0.02


def test_jumps_are_counted_where_there_are_any() -> None:
    data = planted(0.1, n=600, models="c")
    found = jumps(data)
    assert found["c"].seen >= 10
    assert (found["b"].seen, found["c"].unseen) == (0, 0)
    assert found["c"].p < 0.001 < 0.2 < found["b"].p
    assert jumps([one for one in data if one.model == "c"]) == {}


def test_right_or_wrong_answers_are_estimated_by_their_logits() -> None:
    """Questions become easier; on the scale of shares the better model would gain less from that."""
    chance = random.Random(4)
    questions = [(chance.gauss(0, 1), chance.randrange(24), chance.randrange(400)) for _ in range(1500)]
    data = [
        Observation(
            model,
            "SCALAR-Easy",
            str(i),
            str(author),
            month,
            late,
            float(
                chance.random() < 0.25 + 0.75 * expit(skill - difficulty + 0.15 * (month - 12))
                or (model == "c" and month <= late and chance.random() < 0.95)
            ),
            0.25,
        )
        for skill, (model, late) in zip((-1.0, 0.0, 2.0), CUTOFFS.items(), strict=True)
        for i, (difficulty, month, author) in enumerate(questions)
    ]
    fitted = by_model(main(data))
    assert (fitted["b"].is_found, fitted["c"].jumps) == (False, None)
    assert fitted["c"].is_found
    assert 0.05 < fitted["c"].gain.value < 0.6
    honest = [
        replace(one, score=0.0) if one.score and i % 3 == 0 else one for i, one in enumerate(data) if one.model != "c"
    ]
    assert not any(effect.is_found for effect in main(honest))


def test_placebos_find_nothing_and_ages_show_it() -> None:
    found = effects(planted(0.3))
    kinds = list(dict.fromkeys(effect.what for effect in found))
    assert kinds == [MAIN, "placebo, cut-offs 3 months late", "placebo, cut-offs 6 months late"]
    assert not any(effect.distrusted for effect in found)
    assert all((effect.corrected_p or 1.0) > 0.05 for effect in found if effect.what != MAIN)
    ages = contamination.by_age(planted(0.3))["b"]
    assert ages[-1][0] > ages[0][0] + 0.05


def test_where_a_placebo_finds_something_the_estimate_is_not_trusted() -> None:
    """One model is better for some months after its cut-off, which cannot be memory."""
    data = [
        replace(one, score=one.score + 0.1) if one.model == "b" and 6 < one.month <= 10 else one for one in planted(0.2)
    ]
    assert any((effect.corrected_p or 1.0) < 0.01 for effect in placebo(data, 3))
    found = main(data)
    assert not any(effect.is_found for effect in found)
    told = list(verdicts(found))
    assert any("not trustworthy here: a placebo" in sentence for sentence in told)


def test_the_title_only_probe_stands_by_itself() -> None:
    probe = planted(0.3, task="Abs-9K none")
    found = effects(planted(0.0) + probe)
    assert not any(effect.is_found for effect in found if effect.what == MAIN)
    assert {effect.model for effect in found if effect.what == PROBE and effect.is_found} == {"b", "c"}


def test_the_probe_of_one_model_is_compared_with_its_own_later_papers() -> None:
    """Whatever drift there is in the papers' difficulty."""
    own = f"{PROBE}, against its own later papers"
    for drift in (0.0, 0.01, -0.01):
        probe = [one for one in planted(0.4, 800, drift=drift, task="Abs-9K none") if one.model == "b"]
        (found,) = [effect for effect in effects(probe) if effect.what == own]
        assert found.gain.value == pytest.approx(0.2, abs=0.06)
        assert found.is_found
    later = against_later("b", [one for one in probe if not one.open])
    assert later.gain.why == "all its papers are newer than its cut-off"


def test_the_probes_intervals_hold_the_truth() -> None:
    held = 0
    for seed in range(200):
        data = [one for one in planted(0.0, n=120, seed=seed, drift=0.01) if one.model == "b"]
        over = against_later("b", data).gain.over
        assert over is not None
        held += over.low <= 0 <= over.high
    assert 0.9 <= held / 200 <= 0.99


@pytest.mark.parametrize(
    ("kept", "why"),
    [
        (lambda one: one.model == "b", "no other model has an earlier cut-off"),
        (lambda one: one.model == "a" or one.month <= CUTOFFS[one.model], "it was run on no paper that is newer"),
    ],
)
def test_runs_that_cannot_tell_say_so(kept: Callable[[Observation], bool], why: str) -> None:
    found = by_model(main([one for one in planted(0.2) if kept(one)]))["b"]
    assert (found.p, found.is_found) == (None, False)
    assert why in found.gain.why
    assert why in next(verdicts([found]))


def test_no_paper_up_to_a_cut_off_gives_no_estimate() -> None:
    assert gains([one for one in planted(0.2) if one.month > 12]) == {}
    (sentence,) = verdicts(effects([one for one in planted(0.2) if one.month > 12]))
    assert "all papers are newer than all cut-offs" in sentence


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
    runs = ("study", "contamination", tmp_path / "lead", tmp_path / "random-sentence")
    code, _, err = command(*runs)
    assert (code, "the cut-off of lead is not known" in err) == (1, True)
    code, out, err = command(*runs, "--cutoff", "lead=2026-01", "--cutoff", "random-sentence=2026-06")
    assert code == 0, err
    assert "| papers up to the cut-off |" in out
    assert "months since the model's cut-off" in out
    code, out, err = command(*runs, "--cutoff", "lead=2026-05", "--cutoff", "random-sentence=2026-05")
    assert code == 0
    assert "cannot be told, because no other model has an earlier cut-off" in out
    code, _, err = command(*runs, "--cutoff", "gpt=2026-01")
    assert (code, "is not MODEL=YYYY-MM with a model of these runs" in err) == (1, True)
    code, _, err = command("study", "contamination", tmp_path / "lead", tmp_path / "lead")
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
