from __future__ import annotations

import random

import numpy as np
import pytest

from lm_eval_tasks.base.intervals import DIFFERENCES, SHARES, TInterval, holm, interval, within_limits
from lm_eval_tasks.base.power import FEWEST


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(4)
    held = 0
    for _ in range(400):
        values, clusters = [], []
        for author in range(12):
            shared = rng.gauss(0, 1)
            for _ in range(rng.randint(1, 3)):
                values.append(0.3 + shared + rng.gauss(0, 0.5))
                clusters.append(str(author))
        low, high = interval(values, clusters).bounds or (0.0, 0.0)
        held += low <= 0.3 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_few_first_authors_have_no_interval_and_no_p() -> None:
    few = interval([0.1 * i for i in range(30)], [str(i % (FEWEST - 1)) for i in range(30)])
    assert (few.low, few.high, few.p, few.bounds) == (None, None, None, None)
    assert (few.mean, few.samples, few.clusters) == (pytest.approx(1.45), 30, FEWEST - 1)
    assert interval([0.1 * i for i in range(30)], [str(i % FEWEST) for i in range(30)]).bounds is not None


def test_papers_of_one_author_count_less_than_papers_of_many() -> None:
    values = [float(i % 2) for i in range(60)]
    apart = interval(values, [str(i) for i in range(60)])
    together = interval(values, [str(i % 2 + 2 * (i // 12)) for i in range(60)])
    assert apart.bounds and together.bounds
    assert together.bounds[1] - together.bounds[0] > 2 * (apart.bounds[1] - apart.bounds[0])
    assert (together.clusters, apart.clusters, apart.samples) == (10, 60, 60)


def test_of_one_paper_an_author_it_is_the_t_interval() -> None:
    values = [0.1 * (i % 7) + 0.01 * i for i in range(25)]
    found = interval(values, [str(i) for i in range(25)])
    mean = sum(values) / 25
    error = (sum((value - mean) ** 2 for value in values) / 24 / 25) ** 0.5
    assert found.bounds == pytest.approx((mean - 2.0639 * error, mean + 2.0639 * error), rel=1e-4)


def test_p_is_small_for_what_is_never_zero_and_large_for_what_is_about_zero() -> None:
    names = [str(i) for i in range(20)]
    never, about = (
        interval([0.1 + i / 100 for i in range(20)], names).p,
        interval([(-1.0) ** i for i in range(20)], names).p,
    )
    assert never is not None and never < 0.001
    assert about is not None and about > 0.5


def test_equal_values_say_how_often_others_may_occur() -> None:
    names = [str(i) for i in range(24)]
    unseen = 1 - 0.025 ** (1 / 24)  # Clopper-Pearson
    assert interval([1.0] * 24, names, SHARES).bounds == pytest.approx((1 - unseen, 1))
    assert interval([0.0] * 24, names, SHARES).bounds == pytest.approx((0, unseen))
    assert interval([0.0] * 24, names, DIFFERENCES).bounds == pytest.approx((-unseen, unseen))
    better = interval([1.0] * 24, names, DIFFERENCES)
    assert better.bounds == pytest.approx((1 - 2 * unseen, 1))
    # The sign test's.
    assert better.p == pytest.approx(2 * 0.5**24)
    assert better.detectable is None
    assert (interval([0.0] * 24, names, DIFFERENCES).p, interval([0.5] * 24, names).bounds) == (1.0, None)


def test_a_mean_at_a_limit_that_is_an_estimate_has_an_interval() -> None:
    """All scores are 0, and the floor below which they lie has an error of its own."""
    for mean in (-0.08, 1 - 1e-12):
        over = TInterval(mean - 0.02, mean + 0.02, 0.5, 0.01, 24.0)
        found = within_limits(mean, over, 25, 25, (-0.08, 1.0), are_shares=True)
        assert found.low is not None
        assert found.high is not None
        assert -0.08 <= found.low <= found.high <= 1


def test_of_independent_answers_a_share_has_wilsons_interval() -> None:
    n, share = 50, 0.94
    found = interval([1.0] * 47 + [0.0] * 3, [str(i) for i in range(n)], SHARES)
    t = 2.0096  # 49 degrees of freedom
    independent = n - 1  # the jackknife divides by n - 1
    middle, reach = (
        share + t * t / (2 * independent),
        t * (share * (1 - share) / independent + (t / 2 / independent) ** 2) ** 0.5,
    )
    expected = [(middle + sign * reach) / (1 + t * t / independent) for sign in (-1, 1)]
    assert found.bounds == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("share", [0.9, 0.97])
def test_intervals_of_shares_near_one_hold_the_truth(share: float) -> None:
    """A hundred first authors with one to eight papers each, whose papers are alike; t intervals hold it in 0.84 to 0.92."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(300):
        authors = np.repeat(np.arange(100), np.minimum(8, rng.geometric(0.5, 100)))
        right = rng.random(len(authors)) < rng.beta(6 * share, 6 * (1 - share), 100)[authors]
        low, high = interval(right.astype(float).tolist(), [str(author) for author in authors], SHARES).bounds or (0, 0)
        held += low <= share <= high
    assert held / 300 >= 0.92


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
