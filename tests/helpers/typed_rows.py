"""Rows of a dataset as the families' records, made of the columns that a test is about."""

from __future__ import annotations

from typing import Any

from lm_eval_tasks.base.row_format import MASK
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.reading.answering import reading_answering as reading_answering
from lm_eval_tasks.families.reading.row import ReadingRow
from lm_eval_tasks.families.scalar.row import ScalarRow
from lm_eval_tasks.families.writing.row import WritingRow

_COMMON = {"id": "1", "title": "A title", "published": "2026-05-01", "license": "unknown", "round": "2026.11"}


def reading_row(**columns: Any) -> ReadingRow:
    labels = columns.get("labels", 1)
    paper = {"id": "1v1", "license": "unknown", "published": "2026-01-01", "texts": "Papers"}
    usual = {
        **_COMMON,
        "paper_id": "1v1",
        "kind": "",
        "order": 0,
        "primary_category": "cs.CL",
        "labels": labels,
        "context": "1v1",
        "cluster": "a",
        **dict.fromkeys(("asked", "answer", "shortcut", "tags", "authors", "works"), ()),
        "papers": [paper],
        "parts": [{"paper": 0, "start": 0, "end": 0, "edits": []}] * labels,
        "parts_version": 1,
    }
    given = {**columns, "papers": [{**paper, **one} for one in columns.get("papers", [paper])]}
    return typed(ReadingRow, {**usual, **given})


def scalar_row(**columns: Any) -> ScalarRow:
    usual = {
        **_COMMON,
        "paper_id": "1v1",
        "label": 0,
        "level": "easy",
        "citation_type": "attributional",
        "candidate_text": "full",
        "section": "",
        "authors": (),
        "question": MASK,
    }
    candidate = {"id": "2v1", "title": "", "license": "unknown", "content": ""}
    return typed(
        ScalarRow, {**usual, **columns, "candidates": [{**candidate, **one} for one in columns.get("candidates", [{}])]}
    )


def writing_row(**columns: Any) -> WritingRow:
    usual = {**_COMMON, "abstract": "", "authors": ["A"], "primary_category": "cs.CL", "content": "", "target": "t"}
    paper = {"license": "unknown", "title": "", "abstract": "", "content": "", "output": ""}
    shown = [{**paper, **one} for one in columns.get("demonstrations", ())]
    return typed(WritingRow, {**usual, **columns, "demonstrations": shown})
