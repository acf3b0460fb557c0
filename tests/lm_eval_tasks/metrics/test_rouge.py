"""Our ROUGE against rouge_score's."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score import rouge_scorer

from lm_eval_tasks.base import rouge

SCORER = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=True)


def theirs(target: str, answer: str) -> dict[str, float]:
    # rouge_score takes lines for sentences.
    lines = [re.sub(r"(?<=[.!?])\s+|\n+", "\n", text) for text in (target, answer)]
    return {name: value.fmeasure for name, value in SCORER.score(*lines).items()}


def ours(target: str, answer: str) -> dict[str, float]:
    return {
        "rouge1": rouge.rouge_n(target, answer, 1),
        "rouge2": rouge.rouge_n(target, answer, 2),
        "rougeL": rouge.rouge_l(target, answer),
        "rougeLsum": rouge.rouge_lsum(target, answer),
    }


def text(rng: random.Random, words: int, vocabulary: list[str]) -> str:
    out = ""
    for _ in range(words):
        out += rng.choice(vocabulary) + rng.choice([" "] * 9 + [". ", "!\n", "? "])
    return out


@pytest.mark.slow
def test_every_rouge_is_the_number_of_rouge_score() -> None:
    rng = random.Random(3)
    vocabulary = (
        "running runs ran models model's modelling 3.5 x_1 routes routing Routed the of naïve İstanbul e.g.".split()
    )
    for _ in range(300):
        target, answer = text(rng, rng.randint(1, 80), vocabulary), text(rng, rng.randint(1, 80), vocabulary)
        assert ours(target, answer) == pytest.approx(theirs(target, answer), abs=1e-12)


@settings(max_examples=150, deadline=None)
@given(target=st.text(alphabet="ab cdé.\n!?X1", max_size=80), answer=st.text(alphabet="ab cdé.\n!?X1", max_size=80))
def test_odd_texts_too(target: str, answer: str) -> None:
    assert ours(target, answer) == pytest.approx(theirs(target, answer), abs=1e-12)


def test_nothing_in_common_and_nothing_at_all() -> None:
    assert set(ours("one two", "three four").values()) == {0.0}
    assert set(ours("", "three").values()) == {0.0}
    assert set(ours("?!", "…").values()) == {0.0}
