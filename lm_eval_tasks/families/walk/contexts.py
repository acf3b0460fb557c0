"""Walk's shorter contexts: what is shown of each paper, under the same labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.retrieval.sparse import BM25, best

if TYPE_CHECKING:
    from lm_eval_tasks.families.reading.answering import Parts
    from lm_eval_tasks.families.reading.row import ReadingRow

_REFERENCES = "## References\n"
# Paragraphs of a paper that a search finds for a title.
_PARAGRAPHS = 3


def reference_list(text: str) -> str:
    """The reference list of a paper."""
    _, heading, entries = f"{text}\n".rpartition(_REFERENCES)
    return f"{heading}{entries}".strip() if heading else _REFERENCES.strip()


def naming(row: ReadingRow, parts: Sequence[str]) -> Parts:
    """Of each paper the entries of its reference list that have a title which is asked about, and under their headings the
    paragraphs that a search for the title finds.
    """
    bm25 = BM25()
    keys = [title_key(work.title) for work in row.works]
    query = " ".join(work.title for work in row.works)
    shown: Parts = []
    for text in parts:
        body, heading, entries = f"{text}\n".rpartition(_REFERENCES)
        body, entries = (body, entries) if heading else (text, "")
        # By their places, which marks with numbers may refer to.
        naming_entries = [
            f"Entry {i}: {entry}"
            for i, entry in enumerate(entries.splitlines(), 1)
            if any(key in title_key(entry) for key in keys)
        ]
        paragraphs = list(_paragraphs(body))
        # Entries bring the names of authors, which citations by name show.
        found = best(bm25.scores("\n".join([query, *naming_entries]), [text for _, text in paragraphs]), _PARAGRAPHS)
        excerpt = [f"{heading}\n{paragraph}" for heading, paragraph in (paragraphs[i] for i in sorted(found))]
        shown.append("\n\n".join([*excerpt, _REFERENCES + "\n".join(naming_entries)]))
    return shown


def _paragraphs(body: str) -> list[tuple[str, str]]:
    """(heading of the section, paragraph)."""
    found, heading = [], ""
    for line in body.splitlines():
        if line.startswith("## "):
            heading = line
        elif line.strip() and not line.startswith("# "):
            found.append((heading, line))
    return found
