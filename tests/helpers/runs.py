"""A small run of a baseline, by the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path


def evaluated(command: Callable[..., tuple[int, str, str]], dataset: Path, output: Path, *options: str) -> Path:
    """The output folder of `lead` over the abstracts of a dataset, without BERTScore."""
    metadata = json.dumps({"dataset": str(dataset), "bertscore_model": "none"})
    code, _, errors = command(
        "eval",
        "--model",
        "lead",
        "--tasks",
        "academiceval_abs_9k",
        "--metadata",
        metadata,
        "--output",
        output,
        *options,
    )
    assert code == 0, errors
    return output
