"""Texts that stand for answers, so that damage can be done to them: saved answers, other human texts of a paper, its first version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.row_format import REVISIONS, parse_revisions
from lm_eval_tasks.core.text import ODD
from lm_eval_tasks.data import folds, hook
from lm_eval_tasks.samples import logged
from lm_eval_tasks.samples.run_docs import CITED, docs_of
from lm_eval_tasks.study.damages.base import sentences
from lm_eval_tasks.study.report_card import Candidate

# What human text of a paper stands for an answer: the setting that shows it, and what the metric compares it with.
_HUMAN = {"abs": "Abs-9K", "title": "Title-10K", "intro": "Intro-8K"}
_CONCLUSION = re.compile(r"conclu|summary|closing remarks", re.IGNORECASE)
_WORDS = (40, 900)
_SECTIONS = "Title-10K"


def human_texts(dataset: str, task: str, bertscore_model: str, metadata: Mapping[str, Any]) -> list[Candidate]:
    """Other human texts of the papers of a dataset: for an abstract the conclusion, for a title the abstract's last sentence, for an
    introduction the abstract.

    Raises:
        EvalError: the dataset is not there.
    """
    given = {**metadata, "dataset": dataset, "bertscore_model": bertscore_model, "split": metadata.get("split", "all")}
    rows = hook.load(_HUMAN[task], 1, keep_parts=True, **given)["test"]
    whole = rows if _HUMAN[task] == _SECTIONS else hook.load(_SECTIONS, 1, keep_parts=True, **given)["test"]
    bodies = {row["id"]: row["content"] for row in whole}
    return [
        Candidate(task, row["id"], row["first_author"], row["primary_category"], text, row["target"], row)
        for row in rows
        if (text := _other_text(task, row, bodies.get(row["id"], "")))
    ]


def first_versions(dataset: str, task: str, bertscore_model: str, metadata: Mapping[str, Any]) -> list[Candidate]:
    """Version 1 of the revised papers of a dataset folder: what the authors themselves wrote in another way.

    Raises:
        SamplesError: the folder has none.
        EvalError: the dataset is not there.
    """
    place = Path(dataset) / REVISIONS
    if task not in ("abs", "title") or not place.is_file():
        raise SamplesError(
            f"{dataset} has no {REVISIONS}, or not of this task: choose abs or title, or leave --revisions out"
        )
    try:
        texts = {one.id: one.abstract if task == "abs" else one.title for one in parse_revisions(place.read_bytes())}
    except ODD as err:
        raise SamplesError(f"{place} cannot be read ({err}); build the folder again") from err
    given = {**metadata, "dataset": dataset, "bertscore_model": bertscore_model}
    rows = hook.load(_HUMAN[task], 1, keep_parts=True, **given)["test"]
    return [
        Candidate(task, row["id"], row["first_author"], row["primary_category"], text, row["target"], row)
        for row in rows
        if (text := texts.get(row["id"], ""))
    ]


def _other_text(task: str, row: Mapping[str, Any], body: str) -> str:
    if task == "title":
        return " ".join(sentences(row["abstract"])[-1:])
    if task == "intro":
        return str(row["abstract"])
    found = [fold.text for fold in folds.folds_of(body) if _CONCLUSION.search(fold.heading)]
    text = " ".join(found[-1].split()) if found else ""
    return text if _WORDS[0] <= len(text.split()) <= _WORDS[1] else ""


def answers_of(folder: Path, bertscore_model: str) -> list[Candidate]:
    """The saved answers of a run; its dataset is asked for their prompts.

    Raises:
        SamplesError: the folder holds no run of writing tasks.
    """
    answered = [
        one
        for one in logged.read([folder])
        if one.kind == "writing" and (" " not in one.task or CITED in one.task) and one.answer.strip()
    ]
    if not answered:
        raise SamplesError(f"{folder} holds no answer to a writing task")
    found = []
    settings = sorted({one.task for one in answered})
    for setting, docs in docs_of([folder], settings, bertscore_model).items():
        for one in answered:
            if one.task == setting and (doc := docs.get(one.id)):
                task = setting.lower().partition("-")[0]
                found.append(Candidate(task, one.id, one.cluster, doc["primary_category"], one.answer, one.target, doc))
    return found
