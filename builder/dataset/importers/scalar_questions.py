"""The published SCALAR questions -> rows of ours, whose prompts come out byte for byte.

A record: `question` (the whole prompt), `paper_id` (URL), `label_id`, `candidates` (`id`, `title`), `citation`, `additional_fields`, `id`,
`level`. Files: JSON lists or JSON lines, compressed with xz or not.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from builder.dataset.importers.scalar_papers import paper_of
from builder.errors import FolderError
from builder.records import UNKNOWN_LICENSE
from lm_eval_tasks.prompts.scalar import slots_of
from lm_eval_tasks.row_format import BODY

_PAPER = re.compile(r"<Paper>\n\n(.*?)</Paper>\n\n<References>\n(.*)</References>\nRemember", re.DOTALL)
_CANDIDATE = re.compile(r"<Candidate>Candidate \[\d+\]:\n(.*?)</Candidate>\n\n", re.DOTALL)
_TYPES = {"method": "attributional", "others": "descriptive"}
_SCOPES = {"full": "full", "section": "section"}


def read_questions(folder: Path) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """The questions in a folder or file: a name for each, and its row; None where it cannot be read.

    Raises:
        FolderError: there is no file of questions.
    """
    files = (
        [folder] if folder.is_file() else sorted(p for p in folder.rglob("*") if re.search(r"\.jsonl?(\.xz)?$", p.name))
    )
    if not files:
        raise FolderError(f"{folder} holds no questions: .json or .jsonl files, compressed with xz or not")
    for file in files:
        for number, record in enumerate(_records(file), 1):
            try:
                yield f"{file.name}:{number}", _row(record)
            except (KeyError, TypeError, ValueError, AttributeError):
                yield f"{file.name}:{number}", None


def _records(file: Path) -> list[Any]:
    try:
        data = file.read_bytes()
        text = (lzma.decompress(data) if file.suffix == ".xz" else data).decode()
        if ".jsonl" in file.name:
            return [json.loads(line) for line in text.split("\n") if line.strip()]
        read = json.loads(text)
    except (OSError, lzma.LZMAError, ValueError) as err:
        raise FolderError(f"{file} cannot be read as JSON: {err}") from err
    return read if isinstance(read, list) else [read]


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """A row of ours.

    Raises:
        ValueError: the prompt is not laid out as published.
    """
    found = _PAPER.search(record["question"])
    if found is None:
        raise ValueError("no paper and references in the prompt")
    shown = _CANDIDATE.findall(found[2])
    candidates = [_candidate(text, given) for text, given in zip(shown, record["candidates"], strict=True)]
    fields, citation = record["additional_fields"], record["citation"]
    paper = paper_of(record["paper_id"], found[1].partition("\n")[0], "")
    row = {
        "id": f"{paper.versioned_id}#{record['level']}-{record['id']}", "paper_id": paper.versioned_id, "title": paper.title,
        "authors": [], "level": record["level"], "section": citation["section_name"],
        "citation_type": _TYPES[citation["citation_type"]], "question_paper": _SCOPES[fields["paper_field"]],
        "distractors": fields["sample"], "candidate_text": _shown(fields["candidate_fields"]), "question": found[1],
        "candidates": candidates, "label": int(record["label_id"]), "published": paper.published.isoformat(),
        "license": UNKNOWN_LICENSE,
    }  # fmt: skip
    if "".join(slot.text for slot in slots_of(row)) != record["question"]:
        raise ValueError("the prompt has words that ours has not")
    return row


def _shown(fields: list[str]) -> str:
    if "body_content" in fields:
        return BODY
    return "full" if "sections" in fields else "concise"


def _candidate(shown: str, given: dict[str, Any]) -> dict[str, str]:
    title, content = given["title"], shown.lstrip("\n") if shown.startswith("\n") else shown[len(given["title"]) + 2 :]
    return {"id": given["id"], "title": title, "license": UNKNOWN_LICENSE, "content": content}
