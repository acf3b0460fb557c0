"""Samples of a made-up run."""

from __future__ import annotations

from typing import Any

from lm_eval_tasks import families
from lm_eval_tasks.samples.prompt_row import PromptRow
from lm_eval_tasks.samples.sample import Sample

_OF_FAMILY: dict[str, dict[str, Any]] = {
    "writing": {},
    "scalar": {
        "level": "easy",
        "section": "",
        "citation_type": "attributional",
        "label": 0,
        "candidate_ids": list("abcd"),
        "best_constant": 0,
        "is_sound": True,
    },
    "reading": {"kind": "any", "context": "1", "order": 0, "labels": 10, "paper_count": 10},
}


def own(prompt_name: str, **columns: object) -> dict[str, object]:
    """What a row says of its family."""
    name = families.of_task(families.task_of_prompt(prompt_name)).name
    return {**_OF_FAMILY.get(name, _OF_FAMILY["reading"]), **columns}


def ranking(task: str) -> str:
    """What models are ranked by on a task."""
    return families.of_task(task).metrics[0].name


def sample(
    id_: str, author: str, scores: dict[str, float], round_: str = "2026.11", of_family: Any = None, **columns: object
) -> Sample:
    """One scored answer to a prompt, of Abs-9K if the columns do not say another; `of_family` are columns of its own."""
    doc = {
        "id": id_,
        "setting": "Abs-9K",
        "prompt_name": "abs_short",
        "prompt_version": 1,
        "first_author": author,
        "published": "2026-01-01",
        "round": round_,
        "target": "",
        **columns,
    }
    return Sample(PromptRow.of_doc({**doc, "own": own(doc["prompt_name"], **(of_family or {}))}), "", scores)
