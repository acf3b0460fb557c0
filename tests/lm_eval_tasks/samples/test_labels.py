"""What models are called, and options that name them."""

from __future__ import annotations

import pytest
from lm_eval_tasks.study.linking import anchors_of

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.samples.labels import cutoffs_of, label


def test_a_model_is_called_by_its_weights() -> None:
    assert [label(name) for name in ("ORG/MODEL-7B", "/models/llama 3", "lead", "./runs/a")] == [
        "ORG-MODEL-7B",
        "llama-3",
        "lead",
        "a",
    ]


def test_options_name_a_model_as_tables_do_or_as_its_weights_are_named() -> None:
    models = {"ORG-MODEL": 0, "my run": 0}
    for name in ("ORG/MODEL", "ORG-MODEL"):
        assert cutoffs_of([f"{name}=2025-06", "my run=2025-07"], models) == {
            "ORG-MODEL": "2025-06",
            "my run": "2025-07",
        }
    for wrong in ("ORG/OTHER=2025-06", "ORG/MODEL", "ORG/MODEL=2025-13", "=2025-06"):
        with pytest.raises(SamplesError, match="is not MODEL=YYYY-MM with a model of these runs: ORG-MODEL, my run"):
            cutoffs_of([wrong], models)
    assert anchors_of("ORG/MODEL,my run,ORG-MODEL") == ("ORG-MODEL", "my run")
