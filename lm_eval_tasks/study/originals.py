"""Texts that stand for answers, so that damage can be done to them: saved answers, other human texts of a paper, its first version."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lm_eval_tasks.core.errors import SamplesError
from lm_eval_tasks.core.row_format import FIRST_VERSIONS, parse_first_versions
from lm_eval_tasks.core.text import ODD, sentences
from lm_eval_tasks.data import folds, hook
from lm_eval_tasks.samples.row import PromptRow
from lm_eval_tasks.samples.sample import read
from lm_eval_tasks.study.report_card import Original

# What human text of a paper stands for an answer: the setting that shows it, and what the metric compares it with.
_HUMAN = {"abs": "Abs-9K", "title": "Title-10K", "intro": "Intro-8K"}
_CONCLUSION = re.compile(r"conclu|summary|closing remarks", re.IGNORECASE)
_WORDS = (40, 900)
_SECTIONS = "Title-10K"


def human_texts(dataset: str, task: str, bertscore_model: str, metadata: Mapping[str, Any]) -> list[Original]:
    """Other human texts of the papers of a dataset: for an abstract the conclusion, for a title the abstract's last sentence, for an
    introduction the abstract.

    Raises:
        EvalError: the dataset is not there.
    """
    options = {
        **metadata,
        "dataset": dataset,
        "bertscore_model": bertscore_model,
        "split": metadata.get("split", "all"),
    }
    rows = _rows(_HUMAN[task], options)
    with_sections = rows if _HUMAN[task] == _SECTIONS else _rows(_SECTIONS, options)
    bodies = {row.id: row.content or "" for row in with_sections}
    return [Original(task, text, row) for row in rows if (text := _other_text(task, row, bodies.get(row.id, "")))]


def _rows(setting: str, options: Mapping[str, Any]) -> list[PromptRow]:
    return list(map(PromptRow.of_doc, hook.load(setting, 1, keep_parts=True, **options)["test"]))


def first_versions(dataset: str, task: str, bertscore_model: str, metadata: Mapping[str, Any]) -> list[Original]:
    """Version 1 of the revised papers of a dataset folder: what the authors themselves wrote in another way.

    Raises:
        SamplesError: the folder has none.
        EvalError: the dataset is not there.
    """
    place = Path(dataset) / FIRST_VERSIONS
    if task not in ("abs", "title") or not place.is_file():
        raise SamplesError(
            f"{dataset} has no {FIRST_VERSIONS}, or not of this task: choose abs or title, or leave --revisions out"
        )
    try:
        texts = {
            revision.id: revision.abstract if task == "abs" else revision.title
            for revision in parse_first_versions(place.read_bytes())
        }
    except ODD as err:
        raise SamplesError(f"{place} cannot be read ({err}); build the folder again") from err
    rows = _rows(_HUMAN[task], {**metadata, "dataset": dataset, "bertscore_model": bertscore_model})
    return [Original(task, text, row) for row in rows if (text := texts.get(row.id, ""))]


def _other_text(task: str, row: PromptRow, body: str) -> str:
    abstract = row.abstract or ""
    if task == "title":
        return " ".join(sentences(abstract)[-1:])
    if task == "intro":
        return abstract
    conclusions = [fold.text for fold in folds.folds_of(body) if _CONCLUSION.search(fold.heading)]
    text = " ".join(conclusions[-1].split()) if conclusions else ""
    return text if _WORDS[0] <= len(text.split()) <= _WORDS[1] else ""


def answers_of(folder: Path, bertscore_model: str) -> list[Original]:
    """The saved answers of a run; its dataset is asked for their prompts.

    Raises:
        SamplesError: the folder holds no run of writing tasks.
    """
    from lm_eval_tasks.data.rows_of_run import CITED, rows_of_run

    answered = [
        sample
        for sample in read([folder])
        if sample.row.kind == "writing" and (" " not in sample.task or CITED in sample.task) and sample.answer.strip()
    ]
    if not answered:
        raise SamplesError(f"{folder} holds no answer to a writing task")
    rows = rows_of_run([folder], sorted({sample.task for sample in answered}), bertscore_model)
    return [
        Original(sample.row.task, sample.answer, row)
        for task in rows
        for sample in answered
        if sample.task == task and (row := rows[task].get(sample.id))
    ]
