"""What reading is worth: gains over shortcuts, when a model is said to read, and scores by length and place."""

from __future__ import annotations

import random

from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.scores import by_place
from tests.helpers.samples import sample


def cloze(shown: str, shares: dict[str, float], clusters: int = 40, **columns: object) -> list[Sample]:
    """120 answers in a context, right as often as `shares` says; the same draws in all contexts."""
    rng = random.Random(7)
    drawn = [rng.random() for _ in range(120)]
    return [
        sample(
            f"q{i}",
            f"author {i % clusters}",
            {"accuracy": float(x < shares[shown]), "accuracy_bm25_local": float(x < 0.3)},
            setting="SCALAR-Easy",
            prompt_name="scalar",
            shown="" if shown == "full" else shown,
            **columns,
        )
        for i, x in enumerate(drawn)
    ]


def asked(shares: dict[str, float], clusters: int = 40) -> list[Sample]:
    return [one for shown in shares for one in cloze(shown, shares, clusters)]


FOUND = {"none": 0.3, "local": 0.5, "retrieved": 0.6, "full": 0.9}


def test_places_are_those_of_what_answers() -> None:
    columns = {
        "setting": "Next-128K",
        "prompt_name": "next",
        "of_family": {"labels": 300, "asked": [1, 2, 3], "answer": [10, 150, 290]},
    }
    one = sample("n", "a", {"share_right": 1 / 3}, **columns)
    answer = '{"Passage 1": "Passage 10", "Passage 2": "Passage 10"}'
    found = by_place([Sample(one.row, answer, one.scores)])
    assert {name: third.mean for name, third in found.items()} == {
        "first third": 1.0,
        "middle third": 0.0,
        "last third": 0.0,
    }
    walk = {"setting": "Walk-128K", "prompt_name": "walk"}
    sets = [
        sample("w1", "a", {"exact": 0.0}, of_family={"labels": 9, "answer": [1, 9]}, **walk),
        sample("w2", "b", {"exact": 1.0}, of_family={"labels": 9}, **walk),
    ]
    found = by_place([Sample(sets[0].row, '["Paper 9"]', sets[0].scores), sets[1]])
    assert {name: (third.n, third.mean) for name, third in found.items()} == {
        "first third": (1, 0.0),
        "last third": (1, 1.0),
    }
    again = Sample(one.row, answer, one.scores, repeats=(one.scores, one.scores))
    assert by_place([again]) == {}
