"""The published prompts (AcademicEval paper, appendix D) as text files in the folders of their families, and their reading.

A file contains a prompt as published: one block per line, `{CONTENT}` and its like for the texts, and for blocks that
repeat (demonstrations, citations, retrieved chunks) the one of index 0 followed by a line `...`. A file's text is data:
a change of one byte is a new version of the tasks.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from lm_eval_tasks import families
from lm_eval_tasks.families.descriptor import FAMILIES_FOLDER

# The last three are SCALAR's: a candidate's text and its abstract, and the paper around the mask.
Component = Literal["fixed", "demonstration", "body", "citation", "chunk", "candidate", "candidate_abstract", "around"]

_FIELD = re.compile(r"\{([A-Z_]+?)(_0)?\}")
_COLUMNS = {
    "CONTENT": "content",
    "TITLE": "title",
    "ABSTRACT": "abstract",
    "OUTPUT": "output",
    "C_TITLE": "title",
    "C_ABSTRACT": "abstract",
}
# Fields of the two sides of a mask.
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Slot:
    """A stretch of a prompt.

    Attributes:
        component: what it belongs to; "fixed" is never cut.
        index: which demonstration, citation, chunk or candidate, 0 elsewhere.
        field: "" for the prompt's own words, else the column whose text it is.
    """

    text: str
    component: Component = "fixed"
    index: int = 0
    field: str = ""


def slots(name: str, row: object) -> list[Slot]:
    """Return the prompt of one row, as slots whose texts in a row are the prompt.

    Args:
        name: of its file.
        row: of a writing setting; it has an attribute for each field, and for what repeats a list of such.
    """
    filled_slots: list[Slot] = []
    for text, repeats in blocks(name):
        if repeats == "fixed":
            filled_slots += _fill(text, row, "fixed", 0)
        else:
            for index, item in enumerate(getattr(row, f"{repeats}s")):
                filled_slots += _fill(text.replace(" 0:", f" {index}:"), item, repeats, index)
    return filled_slots


@cache
def blocks(name: str) -> tuple[tuple[str, Component], ...]:
    """Return the blocks of a prompt file, by its name without ending, in order, each with its line ends and what it repeats over, "fixed"
    for nothing.
    """
    found: list[tuple[str, Component]] = []
    pending: list[str] = []
    repeated: list[str] = []
    for line in words(name).splitlines(keepends=True):
        if line.rstrip("\n") == "...":
            if pending:
                found.append(("".join(pending), "fixed"))
            block = "".join(repeated)
            found.append((block, "citation" if "{C_" in block else "demonstration" if "{OUTPUT_" in block else "chunk"))
            pending, repeated = [], []
        elif repeated or re.match(r"### .* 0:", line):
            repeated.append(line)
        else:
            pending.append(line)
    return (*found, ("".join(pending), "fixed"))


@cache
def words(name: str) -> str:
    """Return a prompt file as it stands, in the folder of its family."""
    family = families.of_task(families.task_of_prompt(name))
    return (FAMILIES_FOLDER / family.name / f"{name}.txt").read_text(encoding="utf-8")


def behind(prompt: Sequence[Slot], *, is_chat: bool) -> list[Slot]:
    """Return a prompt with what stands between it and a text whose likelihood is asked: an empty line, or what the chat template writes."""
    return list(prompt) if is_chat else [*prompt, Slot("\n\n")]


def named_lines(name: str) -> dict[str, str]:
    """Name -> the line that it begins in a file: questions by their kinds, notes by the contexts that they are for."""
    return dict(line.split(": ", 1) for line in words(name).splitlines())


def filled(text: str, fields: Mapping[str, str]) -> str:
    """Return a text with what stands for its fields, such as `{COUNT}`."""
    return re.sub(r"\{([A-Z]+)\}", lambda match: fields[match[1]], text)


def _fill(text: str, source: object, component: Component, index: int) -> Iterator[Slot]:
    """Yield the slots of one block: the prompt's words, and the texts in it."""
    position = 0
    for match in _FIELD.finditer(text):
        yield Slot(text[position : match.start()], "fixed", index)
        column = _COLUMNS[match.group(1)]
        yield Slot(
            getattr(source, column),
            "body" if component == "fixed" and column == "content" else component,
            index,
            column,
        )
        position = match.end()
    yield Slot(text[position:], "fixed", index)
