"""Citations by number: were the numbers given, do sentences fit what they cite."""

from __future__ import annotations

import random

import pytest

from lm_eval_tasks.metrics.cited import Cited, Given

TITLES = ("Sparse Attention for Long Documents", "BERT: Deep Bidirectional Transformers", "Parsing Tables with Graphs")
TEXTS = (
    "Sparse Attention for Long Documents. We make attention sparse so that long documents fit into memory.",
    "BERT: Deep Bidirectional Transformers. A bidirectional encoder is trained by masking words.",
    "Parsing Tables with Graphs. Tables are parsed into graphs whose edges are cells.",
)


def cited(answer: str) -> Cited:
    return Cited(answer, Given(TITLES, TEXTS))


def test_numbers_that_were_given_and_numbers_that_were_not() -> None:
    found = cited("Sparse attention saves memory on long documents [0]. Masking words trains encoders [1, 7].")
    assert (found.precision, found.recall) == (2 / 3, 2 / 3)
    nothing = cited("Much has been written about attention.")
    assert (nothing.precision, nothing.recall, nothing.support) == (None, 0.0, None)


def test_sentences_that_fit_what_they_cite() -> None:
    right = "Attention can be made sparse for long documents [0]. A bidirectional encoder masks words [1]. Tables become graphs [2]."
    wrong = "Attention can be made sparse for long documents [1]. A bidirectional encoder masks words [2]. Tables become graphs [0]."
    assert cited(right).support == 1.0
    assert cited(wrong).support is not None
    assert cited(wrong).support < 0.5  # type: ignore[operator]
    # Works of one sentence do not compete with each other; what fits nothing is where chance puts it.
    assert cited("Attention, encoders and tables have been studied [0, 1, 2].").support is None
    assert cited("Cooking is pleasant [0].").support == 0.5


def test_support_is_half_by_chance() -> None:
    rng = random.Random(1)
    values = []
    for _ in range(200):
        one, other = rng.choice(TEXTS), rng.randrange(3)
        values.append(cited(f"{one.split('. ')[1].rstrip('.')} [{other}].").support)
    assert sum(filter(None, values)) / len(values) == pytest.approx(0.5, abs=0.08)
