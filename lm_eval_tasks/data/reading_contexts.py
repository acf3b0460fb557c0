"""Shorter contexts of the reading families: what is shown of each part, under the same labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lm_eval_tasks.base.text import sentences, title_key
from lm_eval_tasks.retrieval.base import best
from lm_eval_tasks.tasks.records import NONE, ReadingTask

if TYPE_CHECKING:
    from lm_eval_tasks.base.metadata import Context

Row = Mapping[str, Any]
# What is shown of each part; None for one that is left out.
Parts = list[str | None]
_REFERENCES = "## References\n"
# Paragraphs of a paper that a search finds for a title; passages that one finds for another.
_PARAGRAPHS, _PASSAGES = 3, 5
_LEFT_OUT = "(not shown)"


def shortened(row: Row, parts: Sequence[str], task: ReadingTask, context: Context) -> Parts:
    """What a shorter context shows.

    Args:
        parts: what the full one does, see `prompts.reading.part_texts`.
        context: one that the task has, see `tasks.records.SHORTER`.
    """
    labelled, last = parts[: row["labels"]], parts[row["labels"] :]
    if task == "walk":
        return [*map(_reference_list, labelled)] if context == NONE else _naming(row, labelled)
    if task == "next":
        return _nearest(row, labelled)
    if context == NONE:
        return [*map(_title, labelled), _LEFT_OUT]
    return [*map(_summary, labelled), *(_masked(text) for text in last)]


def _title(text: str) -> str:
    return text.partition("\n")[0]


def _summary(text: str) -> str:
    """Title and abstract."""
    heading = text.find("\n## ")
    end = text.find("\n## ", heading + 1)
    return text if end < 0 else text[:end].strip()


def _reference_list(text: str) -> str:
    _, heading, entries = f"{text}\n".rpartition(_REFERENCES)
    return f"{heading}{entries}".strip() if heading else _REFERENCES.strip()


def _masked(text: str) -> str:
    """The sentences with masks."""
    return "\n".join(sentence for line in text.splitlines() for sentence in sentences(line) if "[MASK " in sentence)


def _naming(row: Row, parts: Sequence[str]) -> Parts:
    """Of each paper the entries of its reference list that have a title which is asked about, and under their headings the
    paragraphs that a search for the title finds.
    """
    from lm_eval_tasks.retrieval.sparse import BM25

    bm25 = BM25()
    keys = [title_key(work["title"]) for work in row["works"]]
    query = " ".join(work["title"] for work in row["works"])
    shown: Parts = []
    for text in parts:
        body, heading, entries = f"{text}\n".rpartition(_REFERENCES)
        body, entries = (body, entries) if heading else (text, "")
        # By their places, which marks with numbers may refer to.
        naming = [
            f"Entry {i}: {entry}"
            for i, entry in enumerate(entries.splitlines(), 1)
            if any(key in title_key(entry) for key in keys)
        ]
        paragraphs = list(_paragraphs(body))
        # Entries bring the names of authors, which citations by name show.
        found = best(bm25.scores("\n".join([query, *naming]), [text for _, text in paragraphs]), _PARAGRAPHS)
        excerpt = [f"{heading}\n{paragraph}" for heading, paragraph in (paragraphs[i] for i in sorted(found))]
        shown.append("\n\n".join([*excerpt, _REFERENCES + "\n".join(naming)]))
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


def _nearest(row: Row, parts: Sequence[str]) -> Parts:
    """The passages that are asked about, and those that are most like them."""
    from lm_eval_tasks.retrieval.sparse import BM25

    scores = BM25().all_scores([parts[label - 1] for label in row["asked"]], list(parts))
    kept = {label - 1 for label in row["asked"]}
    for label, of_label in zip(row["asked"], scores, strict=True):
        of_label[label - 1] = -1.0
        kept.update(best(of_label, _PASSAGES))
    return [text if i in kept else None for i, text in enumerate(parts)]
