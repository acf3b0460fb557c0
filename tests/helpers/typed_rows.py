"""Rows of a dataset as the families' records, made of the columns that a test is about."""

from __future__ import annotations

from typing import Any

from lm_eval_tasks.base.contract import MASK
from lm_eval_tasks.base.typed import typed
from lm_eval_tasks.families.reading.answering import reading_answering as reading_answering
from lm_eval_tasks.families.reading.reading_row import ReadingRow
from lm_eval_tasks.families.scalar.scalar_row import ScalarRow
from lm_eval_tasks.families.writing.writing_row import WritingRow

COMMON: dict[str, Any] = {
    "id": "1v1",
    "title": "A title",
    "published": "2026-05-01",
    "license": "unknown",
    "round": "2026.11",
    "authors": ["A"],
    "primary_category": "cs.CL",
}
_PAPER = {"id": "1v1", "license": "unknown", "published": "2026-01-01", "texts": "Papers"}
_PART = {"paper": 0, "start": 0, "end": 0, "edits": [{"start": 0, "end": 0, "text": ""}]}
READING: dict[str, Any] = {
    "paper_id": "1v1",
    "kind": "following",
    "order": 0,
    "labels": 2,
    "context": "1v1",
    "asked": [1],
    "answer": [2],
    "shortcut": [2],
    "tags": ["body"],
    "works": [{"title": "A work"}],
    "papers": [_PAPER],
    "parts": [_PART, _PART],
    "parts_version": 1,
}
_CANDIDATE = {"id": "2v1", "title": "", "license": "unknown", "content": ""}
SCALAR: dict[str, Any] = {
    "paper_id": "1v1",
    "label": 0,
    "level": "easy",
    "citation_type": "attributional",
    "candidate_text": "full",
    "section": "",
    "question": MASK,
    "candidates": [_CANDIDATE],
}
_SHOWN = {"license": "unknown", "title": "", "abstract": "", "content": "", "output": ""}
WRITING: dict[str, Any] = {"abstract": "", "content": "", "target": "t", "demonstrations": [_SHOWN]}


def reading_row(**columns: Any) -> ReadingRow:
    labels = columns.get("labels", 1)
    nothing = dict.fromkeys(("asked", "answer", "shortcut", "tags", "works"), ())
    row = {**COMMON, **READING, **nothing, "labels": labels, "parts": [_PART] * labels, **columns}
    return typed(ReadingRow, {**row, "papers": [{**_PAPER, **one} for one in row["papers"]]})


def scalar_row(**columns: Any) -> ScalarRow:
    row = {**COMMON, **SCALAR, **columns}
    return typed(ScalarRow, {**row, "candidates": [{**_CANDIDATE, **one} for one in row["candidates"]]})


def writing_row(**columns: Any) -> WritingRow:
    row = {**COMMON, **WRITING, "demonstrations": (), **columns}
    return typed(WritingRow, {**row, "demonstrations": [{**_SHOWN, **one} for one in row["demonstrations"]]})
