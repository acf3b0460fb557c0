"""What the rows of a dataset contain besides plain texts: the contract between their builders and their readers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lm_eval_tasks.core.text import parse_json

# Replaces the citation in a SCALAR question.
MASK = "**[MASKED_CITATION]**"
# `candidate_text` of a SCALAR row whose candidates show only their body, without a title.
BODY = "body"
# The ways to answer SCALAR's questions without reading, see `retrieval.shortcuts`; and with one of each reading family.
OfScalar = Literal["bm25-local", "embed-local"]
Shortcut = Literal[OfScalar, "title-search", "bm25-parts"]
BM25_LOCAL: OfScalar = "bm25-local"
EMBED_LOCAL: OfScalar = "embed-local"
TITLE_SEARCH: Shortcut = "title-search"
BM25_PARTS: Shortcut = "bm25-parts"
OF_SCALAR: tuple[OfScalar, ...] = (BM25_LOCAL, EMBED_LOCAL)
# What a round measures when it is built: of SCALAR's questions, of which popularity needs the citations of the whole round; and of
# texts, what the first words of the body score.
Measured = Literal[OfScalar, "popularity", "lead"]
POPULARITY: Measured = "popularity"
LEAD: Measured = "lead"
SHORTCUTS: tuple[Shortcut, ...] = (*OF_SCALAR, TITLE_SEARCH, BM25_PARTS)
# Endings of the configurations that are made in addition to a setting's own: its frozen core, and rows by id alone.
CORE, IDS = "-core", "-ids"
# The configurations with the texts that rows of the reading families show parts of: whole papers, and titles with abstracts.
PAPERS, ABSTRACTS = "Papers", "Abstracts"
# How the parts of such a row become a text (`prompts.reading`): raised with any change to that.
PARTS_VERSION = 1
# The kind of source whose papers are made up.
MADE_UP = "sample"
# Files next to the data: what is in them, and version 1 of revised papers.
MANIFEST, FIRST_VERSIONS = "manifest.json", "revisions.jsonl"
# Between the id of a paper and the place of one of its sections, in rows that ask for a section.
FOLD = "#"


@dataclass(frozen=True, slots=True)
class FirstVersion:
    """Version 1 of a revised paper, a line of `FIRST_VERSIONS`; `id` is that of the last version."""

    id: str
    title: str
    abstract: str


def parse_first_versions(data: bytes) -> list[FirstVersion]:
    """The lines of a file of first versions.

    Raises:
        ValueError or another of `text.ODD`: one is something else.
    """
    return [_revision(parse_json(line)) for line in data.splitlines()]


def _revision(content: dict[str, object]) -> FirstVersion:
    names = ("id", "title", "abstract")
    if set(content) != set(names) or not all(isinstance(content[name], str) for name in names):
        raise ValueError("a line is not a paper's first version")
    return FirstVersion(*(str(content[name]) for name in names))


def paper_of(id_: str) -> str:
    """The paper of a writing row, whether it asks for a section or not."""
    return id_.partition(FOLD)[0]
