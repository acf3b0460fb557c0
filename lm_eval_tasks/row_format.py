"""What the rows of a dataset hold beside plain texts: the contract between who builds rows and who reads them."""

from __future__ import annotations

# Stands in a SCALAR question where the citation was.
MASK = "**[MASKED_CITATION]**"
# `candidate_text` of a SCALAR row whose candidates show their body alone, without a title.
BODY = "body"
# Endings of the configurations that are made beside a setting's own: its frozen core, and rows by id alone.
CORE, IDS = "-core", "-ids"
# Files beside the data: version 1 of revised papers, and which works there are.
REVISIONS, WORKS = "revisions.jsonl", "works.filter"
# Between the id of a paper and the place of one of its sections, in rows that ask for a section.
FOLD = "#"


def paper_of(id_: str) -> str:
    """The paper of a writing row, whether it asks for a section or not."""
    return id_.partition(FOLD)[0]
