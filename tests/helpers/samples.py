"""Samples of a made-up run."""

from __future__ import annotations

from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import Sample


def sample(id_: str, author: str, scores: dict[str, float], round_: str = "2026.11", **columns: object) -> Sample:
    """One scored answer to a prompt of Abs-9K."""
    doc = {
        "id": id_,
        "setting": "Abs-9K",
        "prompt_name": "abs_short",
        "prompt_version": 1,
        "first_author": author,
        "published": "2026-01-01",
        "round": round_,
        "target": "",
    }
    return Sample(PromptRow.of_doc({**doc, **columns}), "", scores)
