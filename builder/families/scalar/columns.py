"""The rows of SCALAR's levels: their columns, whole and by id, and what is in them."""

from collections.abc import Sequence
from dataclasses import asdict
from string import ascii_uppercase
from typing import Any

import pyarrow as pa

from builder.families.scalar.shown import ClozeQuestion
from builder.parquet.schema import INTEGER, STRING, RowSchema, strings
from builder.sources.tokenizer import TokenCounter
from lm_eval_tasks.base.contract import BODY

# What a manifest calls the task.
TASK = "cloze"
_CANDIDATE = pa.struct([*strings("id", "title", "license", "content"), ("authors", pa.list_(STRING))])
_FORM = "round level citation_type question_paper distractors candidate_text section".split()
COLUMNS = pa.schema(
    [
        *strings("id", "paper_id", "title", "published", "license", "target"),
        ("label", INTEGER),
        ("input_tokens", INTEGER),
        *strings(*_FORM),
        ("authors", pa.list_(STRING)),
        ("question", STRING),
        ("choices", pa.list_(STRING)),
        ("candidates", pa.list_(_CANDIDATE)),
    ]
)
_TEXTS = ("title", "section", "question")
# What is made of other columns: harnesses that read plain columns take choices as texts and their letter as the target.
_MADE = ("choices", "target")


def row_of(question: ClozeQuestion) -> dict[str, Any]:
    """Return a question as a row, without its tokens and round."""
    paper, level = question.paper, question.level
    return {
        "id": question.id,
        "paper_id": paper.versioned_id,
        "title": paper.title,
        "authors": list(paper.authors),
        "level": level.short_name,
        "section": question.section,
        "citation_type": level.citation,
        "question_paper": level.question,
        "distractors": level.distractors,
        "candidate_text": level.candidates,
        "question": question.text,
        "candidates": list(map(asdict, question.candidates)),
        "label": question.label,
        "published": paper.published.isoformat(),
        "license": paper.license,
    }


def with_token_counts(rows: Sequence[dict[str, Any]], round_name: str, count: TokenCounter) -> list[dict[str, Any]]:
    """Return the rows with their input tokens (bert-base-uncased; the prompt's own words are not counted) and their round."""
    # No token spans two lines, and a paper's questions differ in one line: only that one is counted again.
    row_texts = [
        [
            *row["question"].split("\n"),
            *(text for candidate in row["candidates"] for text in _candidate_texts(candidate, row)),
        ]
        for row in rows
    ]
    counts = iter(count([text for texts in row_texts for text in texts]))
    return [
        {**with_choices(row), "input_tokens": sum(next(counts) for _ in texts), "round": round_name}
        for row, texts in zip(rows, row_texts, strict=True)
    ]


def with_choices(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row with each candidate as one text, and the letter of the right one."""
    choices = ["\n\n".join(_candidate_texts(candidate, row)) for candidate in row["candidates"]]
    return {**row, "choices": choices, "target": ascii_uppercase[row["label"]]}


def _candidate_texts(candidate: dict[str, Any], row: dict[str, Any]) -> list[str]:
    return [candidate["content"]] if row["candidate_text"] == BODY else [candidate["title"], candidate["content"]]


SCHEMA = RowSchema(
    columns=COLUMNS,
    kept=[name for name in COLUMNS.names if name not in (*_TEXTS, "candidates", *_MADE)],
    own=_TEXTS,
    paper_column="paper_id",
    shown_column="candidates",
    listed={"candidates": (pa.struct(strings("id", "license")), ["title", "content"])},
)
