"""Scores by how much papers read as if a language model had written them."""

from __future__ import annotations

import pytest

from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.study.styles import by_style, table
from tests.helpers.samples import sample


def samples(**columns: object) -> list[Sample]:
    return [
        sample(f"{i:02d}", str(i), {"rouge_l": i / 100 + i % 2 / 50}, **({"marker_words": float(i)} | columns))
        for i in range(36)
    ]


def test_the_last_third_is_compared_with_the_first() -> None:
    thirds = by_style(samples(), "rouge_l")
    assert thirds is not None
    means, difference, bounds = thirds
    assert means == sorted(means)
    assert difference == pytest.approx(means[2] - means[0])
    assert bounds is not None and bounds[0] > 0
    assert table({"a": samples()}, "rouge_l").rows[0][:2] == ("a", "Abs-9K")


def test_nothing_is_said_of_few_papers_or_unmarked_ones() -> None:
    assert by_style(samples()[:8], "rouge_l") is None
    assert by_style(samples(marker_words=None), "rouge_l") is None
    assert by_style(samples(), "bertscore") is None
