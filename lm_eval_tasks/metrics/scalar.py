"""Scores of SCALAR answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval_tasks.metrics import refine
from lm_eval_tasks.metrics.score import cutting

_ANSWER = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_INDEX = re.compile(r"\d+")


def answer_of(text: str, candidates: int) -> int | None:
    """The index in the last <answer>..</answer>; None where there is none or it names no candidate."""
    found = _ANSWER.findall(text)
    index = _INDEX.search(found[-1]) if found else None
    return int(index[0]) if index and int(index[0]) < candidates else None


def score(resps: Sequence[Sequence[str]], docs: Sequence[Mapping[str, Any]]) -> list[dict[str, float | str]]:
    """Score all answers of a task; lm-eval's `filter_fn`. No answer is a wrong answer, and counted."""
    return [_score(resp[0] or "", doc) for resp, doc in zip(resps, docs, strict=True)]


def _score(text: str, doc: Mapping[str, Any]) -> dict[str, float | str]:
    stripped, unfinished = refine.strip_reasoning(text)
    candidates = len(doc["candidate_ids"])
    chosen = answer_of(stripped, candidates)
    return {
        "accuracy": float(chosen == doc["label"]),
        "accuracy_random": 1 / candidates,
        "no_answer": float(chosen is None),
        "unfinished": float(unfinished),
        **cutting(doc),
        "answer": "" if chosen is None else str(chosen),
    }
