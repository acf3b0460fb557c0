"""What the rows of a dataset contain besides plain texts: the contract between their builders and their readers."""

from __future__ import annotations

# Replaces the citation in a SCALAR question.
MASK = "**[MASKED_CITATION]**"
# `candidate_text` of a SCALAR row whose candidates show only their body, without a title.
BODY = "body"
# Endings of the configurations that are made in addition to a setting's own: its frozen core, and rows by id alone.
CORE, IDS = "-core", "-ids"
# Files next to the data: version 1 of revised papers, and a filter of the works that exist.
REVISIONS, WORKS = "revisions.jsonl", "works.filter"
# Between the id of a paper and the place of one of its sections, in rows that ask for a section.
FOLD = "#"


def paper_of(id_: str) -> str:
    """The paper of a writing row, whether it asks for a section or not."""
    return id_.partition(FOLD)[0]
