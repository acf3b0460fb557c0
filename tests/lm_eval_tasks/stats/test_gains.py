"""What reading is worth: gains over shortcuts, when a model is said to read, and scores by length and place."""

from __future__ import annotations

from lm_eval_tasks.samples.sample import Sample
from lm_eval_tasks.stats.scores import by_place
from tests.helpers.samples import sample


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
