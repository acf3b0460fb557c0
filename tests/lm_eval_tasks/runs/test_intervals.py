from __future__ import annotations

import random

import pytest

from lm_eval_tasks.runs.intervals import holm, interval


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(4)
    held = 0
    for _ in range(150):
        values, clusters = [], []
        for author in range(40):
            shared = rng.gauss(0, 1)
            for _ in range(rng.randint(1, 4)):
                values.append(0.3 + shared + rng.gauss(0, 0.5))
                clusters.append(str(author))
        found = interval(values, clusters)
        held += found.low <= 0.3 <= found.high
    assert 0.86 <= held / 150 <= 0.99


def test_papers_of_one_author_count_less_than_papers_of_many() -> None:
    values = [float(i % 2) for i in range(60)]
    apart = interval(values, [str(i) for i in range(60)])
    together = interval(values, [str(i % 2) for i in range(60)])
    assert together.high - together.low > 2 * (apart.high - apart.low)
    assert (together.clusters, apart.clusters, apart.samples) == (2, 60, 60)


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.1, 0.4, 0.35, 0.8]
    assert interval(values, list("abca")) == interval(values, list("abca"))
    assert interval([0.5], ["a"]).low == interval([0.5], ["a"]).high == 0.5


def test_p_is_small_for_what_is_never_zero_and_large_for_what_is_about_zero() -> None:
    assert interval([0.1 + i / 100 for i in range(20)], [str(i) for i in range(20)]).p < 0.001
    assert interval([(-1.0) ** i for i in range(20)], [str(i) for i in range(20)]).p > 0.5


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
