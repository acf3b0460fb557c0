"""The prompts of the reading families: the papers' texts, or parts of them, under neutral labels, and the question last.

What the rows of a context share comes first and is the same for all of them, so that a server that keeps what it has read
(prefix caching) reads it once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lm_eval_tasks.core.errors import EvalError
from lm_eval_tasks.core.row_format import PARTS_VERSION
from lm_eval_tasks.prompts.templates import words

Row = Mapping[str, Any]
# Versioned id -> whole text.
Texts = Mapping[str, str]
_QUESTIONS = "walk_questions"
# What a part is called in the prompts of a family.
_WORDS = {"walk": "Paper", "next": "Passage"}
_FIELD = re.compile(r"\{([A-Z]+)\}")


def prompt_of(row: Row, texts: Texts, name: str) -> tuple[str, str]:
    """The prompt of a row, in two parts: what all rows of its context share, and what follows.

    Args:
        name: of the prompt file, "walk" or "next".

    Raises:
        EvalError: the row's parts are put together in a way that this release does not know.
    """
    if row["parts_version"] != PARTS_VERSION:
        raise EvalError(
            f"the rows of this dataset are put together in way {row['parts_version']}, which this release does not know; take a newer one"
        )
    head, tail = words(name).split("{PARTS}")
    count = str(len(row["parts"]))
    word = _WORDS[name]
    parts = "".join(f"=== {word} {i} ===\n{text}\n\n" for i, text in enumerate(part_texts(row, texts), 1))
    return head.replace("{COUNT}", count) + parts, _filled(tail, row)


def part_texts(row: Row, texts: Texts) -> list[str]:
    """What is shown under each label, in order."""
    return [_edited(texts[row["papers"][part["paper"]]["id"]], part).strip() for part in row["parts"]]


def _edited(text: str, part: Row) -> str:
    """A stretch of a paper's text with its edits."""
    shown, position = [], part["start"]
    for edit in part["edits"]:
        shown += [text[position : edit["start"]], edit["text"]]
        position = edit["end"]
    return "".join([*shown, text[position : part["end"]]])


def _filled(tail: str, row: Row) -> str:
    """The end of a prompt, with what the row asks."""
    titles = [work["title"] for work in row["works"]]
    asked = ", ".join(f"{_WORDS['next']} {label}" for label in row["asked"])
    question = _fill(_questions()[row["kind"]], {"FIRST": titles[0], "SECOND": titles[-1]}) if titles else ""
    return _fill(tail, {"QUESTION": question, "ASKED": asked})


def _fill(text: str, fields: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda match: fields[match[1]], text)


def _questions() -> dict[str, str]:
    """Kind -> question."""
    return dict(line.split(": ", 1) for line in words(_QUESTIONS).splitlines())
