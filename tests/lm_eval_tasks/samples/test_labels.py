"""What models are called, and options that name them."""

from __future__ import annotations

from lm_eval_tasks.samples.results import label


def test_a_model_is_called_by_its_weights() -> None:
    assert [label(name) for name in ("ORG/MODEL-7B", "/models/llama 3", "lead", "./runs/a")] == [
        "ORG-MODEL-7B",
        "llama-3",
        "lead",
        "a",
    ]
