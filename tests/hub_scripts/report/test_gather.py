"""What a page makes of samples."""

from __future__ import annotations

from hub_scripts.report.gather import carried_baselines
from lm_eval_tasks.core.row_format import BM25_LOCAL
from tests.helpers.samples import sample


def test_a_baseline_that_samples_carry_is_shown_over_all_that_carry_it() -> None:
    new = [
        sample(
            str(i), f"A{i}", {"accuracy": 0.0, "accuracy_bm25_local": float(i < 3), "accuracy_random": 0.25}, "2026.11"
        )
        for i in range(4)
    ]
    old = [sample(str(i), f"A{i}", {"accuracy": 1.0, "accuracy_random": 0.25}, "2026.11") for i in range(3)]
    for runs in ({"new": new, "old": old}, {"old": old, "new": new}):
        (cell,) = carried_baselines(runs)
        assert (cell.model, cell.samples, cell.is_carried) == (BM25_LOCAL, 4, True)
        assert cell.scores["accuracy"].mean == 0.75
        assert set(cell.floors["accuracy"].values()) == {0.25}
    assert not list(carried_baselines({"old": old}))
    assert not list(carried_baselines({"new": new, BM25_LOCAL: old}))
