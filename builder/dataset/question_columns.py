"""SCALAR questions -> Parquet files of a dataset folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from builder.dataset.card import Built, close_all
from builder.dataset.write import RowWriter
from builder.records import SPLITS, Split
from builder.round.levels import Level
from builder.samples.tokens import TokenCounter
from builder.scalar.questions import Question

_GROUP = 16
_CANDIDATE = pa.struct([(name, pa.string()) for name in ("id", "title", "license", "content")])
COLUMNS = pa.schema(
    [
        *((name, pa.string()) for name in ("id", "paper_id", "title")), ("authors", pa.list_(pa.string())),
        *(
            (name, pa.string())
            for name in (
                "level", "section", "citation_type", "question_paper", "distractors", "candidate_text", "question",
            )
        ),
        ("candidates", pa.list_(_CANDIDATE)), ("label", pa.int64()), ("published", pa.string()), ("license", pa.string()),
        ("input_tokens", pa.int64()), ("round", pa.string()),
    ]
)  # fmt: skip


def row_of(question: Question) -> dict[str, Any]:
    """A question as a row, without its tokens and round."""
    paper, level = question.paper, question.level
    return {
        "id": question.id, "paper_id": paper.versioned_id, "title": paper.title, "authors": list(paper.authors),
        "level": level.short_name, "section": question.section,
        "citation_type": question.citation_type, "question_paper": level.question, "distractors": level.distractors,
        "candidate_text": level.candidates, "question": question.text,
        "candidates": [
            {"id": one.id, "title": one.title, "license": one.license, "content": one.content}
            for one in question.candidates
        ],
        "label": question.label, "published": paper.published.isoformat(), "license": paper.license,
    }  # fmt: skip


def write_level(
    place: Path, level: Level, rows: Mapping[Split, Iterable[dict[str, Any]]], round_name: str, count: TokenCounter
) -> Built:
    """Write the rows of one level, split by split."""
    writers = {split: RowWriter(place, level.name, split, COLUMNS) for split in SPLITS}
    for split, of_split in rows.items():
        waiting = iter(of_split)
        while group := list(islice(waiting, _GROUP)):
            for row in _counted(group, round_name, count):
                writers[split].add(row)
    return close_all(level, writers, COLUMNS)


def _counted(rows: Sequence[dict[str, Any]], round_name: str, count: TokenCounter) -> list[dict[str, Any]]:
    """The rows with their input tokens (bert-base-uncased; the prompt's own words are not counted) and their round."""
    # Tokens never reach over a line's end, and a paper's questions differ in one line: only that one is counted anew.
    texts = [
        [*row["question"].split("\n"), *(text for one in row["candidates"] for text in _shown(one, row))]
        for row in rows
    ]
    counts = iter(count([text for own in texts for text in own]))
    return [
        {**row, "input_tokens": sum(next(counts) for _ in own), "round": round_name}
        for row, own in zip(rows, texts, strict=True)
    ]


def _shown(candidate: dict[str, Any], row: dict[str, Any]) -> list[str]:
    return [candidate["content"]] if row["candidate_text"] == "body" else [candidate["title"], candidate["content"]]
