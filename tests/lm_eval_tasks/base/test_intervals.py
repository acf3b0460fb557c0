from __future__ import annotations

import random

import numpy as np
import pytest

from lm_eval_tasks.base.intervals import (
    FEWEST,
    FEWEST_EFFECTIVE,
    FEWEST_OF_LEVELS,
    Estimate,
    detectable_with,
    difference,
    holm,
    level,
)


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
        low, high = difference(values, clusters).bounds or (0.0, 0.0)
        held += low <= 0.3 <= high
    assert 0.92 <= held / 400 <= 0.98


def test_few_first_authors_have_no_interval_and_no_p() -> None:
    few = difference([0.1 * i for i in range(30)], [str(i % (FEWEST - 1)) for i in range(30)])
    assert (few.low, few.high, few.p, few.bounds) == (None, None, None, None)
    assert (few.mean, few.samples, few.clusters) == (pytest.approx(1.45), 30, FEWEST - 1)
    assert difference([0.1 * i for i in range(30)], [str(i % FEWEST) for i in range(30)]).bounds is not None


def test_right_and_wrong_answers_by_few_authors_have_no_level() -> None:
    answers = [float(i % 2) for i in range(FEWEST_OF_LEVELS)]
    names = [str(i) for i in range(FEWEST_OF_LEVELS)]
    assert level(answers, names).bounds is not None
    assert level(answers[:-1], names[:-1]).bounds is None
    # Of a few more papers by some of them, fewer count.
    assert level([*answers, 1.0], [*names, "0"]).bounds is None


def test_papers_of_one_author_count_less_than_papers_of_many() -> None:
    values = [float(i % 2) for i in range(60)]
    apart = difference(values, [str(i) for i in range(60)])
    together = difference(values, [str(i % 2 + 2 * (i // 12)) for i in range(60)])
    assert apart.bounds and together.bounds
    assert together.bounds[1] - together.bounds[0] > 2 * (apart.bounds[1] - apart.bounds[0])
    assert (together.clusters, apart.clusters, apart.samples) == (10, 60, 60)


def test_of_one_paper_an_author_it_is_the_t_difference() -> None:
    values = [0.1 * (i % 7) + 0.01 * i for i in range(25)]
    found = difference(values, [str(i) for i in range(25)])
    mean = sum(values) / 25
    error = (sum((value - mean) ** 2 for value in values) / 24 / 25) ** 0.5
    assert found.bounds == pytest.approx((mean - 2.0639 * error, mean + 2.0639 * error), rel=1e-4)


def test_p_is_small_for_what_is_never_zero_and_large_for_what_is_about_zero() -> None:
    names = [str(i) for i in range(20)]
    never, about = (
        difference([0.1 + i / 100 for i in range(20)], names).p,
        difference([(-1.0) ** i for i in range(20)], names).p,
    )
    assert never is not None and never < 0.001
    assert about is not None and about > 0.5


def test_equal_values_have_no_difference() -> None:
    names = [str(i) for i in range(24)]
    assert level([1.0] * 24, names).bounds is None
    better = difference([1.0] * 24, names)
    assert (better.bounds, better.detectable()) == (None, None)
    # What happens to one paper in twenty may not have happened yet.
    assert better.p is None
    assert difference([0.0] * 24, names).p == 1.0


def test_one_author_with_most_of_the_papers_leaves_no_difference() -> None:
    values, sizes = [0.01 * (i % 17) for i in range(60)], [20, *[2] * 20]
    names = [str(author) for author, size in enumerate(sizes) for _ in range(size)]
    assert sum(sizes) ** 2 / sum(size * size for size in sizes) < FEWEST_EFFECTIVE
    assert (level(values, names).bounds, difference(values, names).p, detectable_with(sizes, 0.3)) == (None, None, None)


def test_a_few_scores_far_from_the_rest_leave_no_level() -> None:
    names, alike = [str(i) for i in range(40)], [0.7 + i / 200 for i in range(37)]
    assert level([0.0, 0.0, 0.0, *alike], names).bounds is None
    # Right and wrong answers are skewed as well, which the interval knows.
    assert level([0.0] * 3 + [1.0] * 37, names).bounds is not None
    assert level([0.6, 0.6, 0.65, *alike], names).bounds is not None


def test_a_level_lies_between_its_limits() -> None:
    without = np.array([-0.079, -0.0801, *[-0.08] * 22])
    over = Estimate(-0.0799, without, np.ones(24), 24, 23.0).level((-0.08, 1.0))
    assert over.low is not None and over.high is not None
    assert -0.08 <= over.low <= over.mean <= over.high <= 1


def test_more_comparisons_show_only_larger_differences() -> None:
    over = difference([0.1 * (i % 7) for i in range(40)], [str(i) for i in range(40)])
    alone, among = over.detectable(), over.detectable(13)
    assert alone is not None and among is not None
    assert 1.2 * alone < among < 1.6 * alone
    assert over.reversed().bounds == pytest.approx((-(over.high or 0), -(over.low or 0)))


def test_of_independent_answers_a_share_has_wilsons_level() -> None:
    n, share = 50, 0.94
    found = level([1.0] * 47 + [0.0] * 3, [str(i) for i in range(n)])
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
        low, high = level(right.astype(float).tolist(), [str(author) for author in authors]).bounds or (0, 0)
        held += low <= share <= high
    assert held / 300 >= 0.92


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
