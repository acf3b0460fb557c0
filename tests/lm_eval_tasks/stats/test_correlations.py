"""Rank correlations of metrics, as scipy has them, with intervals that hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.correlations import correlations
from tests.helpers.samples import sample


def samples(n: int, seed: int, authors: int) -> list[Sample]:
    chance = np.random.default_rng(seed)
    x = chance.normal(size=n)
    y = 0.6 * x + 0.8 * chance.normal(size=n)
    return [sample(str(i), str(i % authors), {"a": float(x[i]), "b": float(y[i]), "same": 1.0}) for i in range(n)]


def test_they_are_scipys() -> None:
    given = samples(80, 1, 40)
    [one] = correlations(given, ["a", "b", "same"])
    expected = spearmanr([s.scores["a"] for s in given], [s.scores["b"] for s in given]).statistic
    assert one.value == pytest.approx(expected)
    assert (one.first, one.second, one.samples) == ("a", "b", 80)
    [few] = correlations(samples(20, 1, 5), ["a", "b"])
    assert few.low is None


def test_their_intervals_hold_the_truth() -> None:
    truth = 6 / np.pi * np.arcsin(0.3)
    found = [correlations(samples(100, seed, 80), ["a", "b"])[0] for seed in range(120)]
    held = sum(one.low is not None and one.high is not None and one.low <= truth <= one.high for one in found)
    assert held >= 106
