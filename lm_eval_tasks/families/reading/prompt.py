"""The prompts of the reading families: the papers' texts, or parts of them, under neutral labels, and the question last.

What the rows of a context share comes first and is the same for all of them, so that a server that keeps what it has read
(prefix caching) reads it once.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from lm_eval_tasks.base.contract import PARTS_VERSION
from lm_eval_tasks.base.errors import EvalError
from lm_eval_tasks.families.reading.answering import ReadingAnswering
from lm_eval_tasks.families.reading.reading_row import Edit, ReadingRow, ShownPaper, ShownPart
from lm_eval_tasks.prompts import filled, named_lines, words

# (Configuration of texts, versioned id) -> text.
Texts = Mapping[tuple[str, str], str]
# A paper may have lines that look like the prompt's own.
_MARKS = re.compile(r"^={3,}", re.MULTILINE)


def prompt_of(row: ReadingRow, texts: Texts, answering: ReadingAnswering) -> tuple[str, str]:
    """Return the prompt of a row, in two parts: what all rows of its context share, and what follows.

    Raises:
        EvalError: the row's parts are put together in a way that this release does not know.
    """
    return with_parts(row, part_texts(row, texts), answering)


def with_parts(
    row: ReadingRow, texts: Sequence[str | None], answering: ReadingAnswering, context: str = ""
) -> tuple[str, str]:
    """Return as `prompt_of`, of other texts in place of the parts'.

    Args:
        texts: of all parts; None for one that is left out.
        context: in which they are all that is shown of the parts, a name in `<name>_contexts.txt`; "" for all of them.
    """
    family = answering.family
    head, tail = words(family.name).split("{PARTS}")
    labelled, last = texts[: row.labels], texts[row.labels :]
    parts = "".join(f"=== {family.word} {i} ===\n{text}\n\n" for i, text in enumerate(labelled, 1) if text is not None)
    note = f"{named_lines(f'{family.name}_contexts')[context]}\n\n" if context else ""
    common = filled(head, {"COUNT": str(len(labelled))}) + parts + note
    return common, filled(tail, {"LAST": "".join(filter(None, last)), **answering.fields(row)})


def part_texts(row: ReadingRow, texts: Texts) -> list[str]:
    """Return what is shown of each part, in order: those with a label, then the paper that is asked about, where it stands apart.

    Raises:
        EvalError: the row's parts are put together in a way that this release does not know.
    """
    return parts_shown(row.papers, row.parts, row.parts_version, texts)


def parts_shown(papers: Sequence[ShownPaper], parts: Sequence[ShownPart], version: int, texts: Texts) -> list[str]:
    """Return what is shown of some parts; errors as `part_texts`."""
    if version != PARTS_VERSION:
        raise EvalError(
            f"the rows of this dataset are put together in way {version}, which this release does not know; take a newer one"
        )
    names = [(paper.texts, paper.id) for paper in papers]
    shown = (edited(texts[names[part.paper]], part.start, part.end, part.edits) for part in parts)
    return [_MARKS.sub("= = =", text).strip() for text in shown]


def edited(text: str, start: int, end: int, edits: Iterable[Edit]) -> str:
    """Return a stretch of a text with its edits, which are in order and do not overlap."""
    shown, position = [], start
    for edit in edits:
        shown += [text[position : edit.start], edit.text]
        position = edit.end
    return "".join([*shown, text[position:end]])
