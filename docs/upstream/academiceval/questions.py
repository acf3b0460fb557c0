"""Questions whose answers a program knows: SCALAR's masked citations, and questions over many new papers (Walk, Next)."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar

import datasets

_PROMPTS = Path(__file__).parent / "prompts"
_T = TypeVar("_T")
_FIELD = re.compile(r"\{([A-Z]+)\}")
# A paper may have lines that look like the prompt's own.
_RULE = re.compile(r"^={3,}", re.MULTILINE)
_LABELS = {"walk": "Paper", "next": "Passage"}


@cache
def _words(name):
    return (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8")


def scalar(doc):
    """The published prompt; a candidate is its title and text, or, in the ablations, its body alone."""
    start, end = _words("scalar_candidate").split("{CANDIDATE}")
    candidates = []
    for i, candidate in enumerate(doc["candidates"]):
        text = candidate["content"]
        before = "\n" * bool(text) if doc["candidate_text"] == "body" else f"{candidate['title']}\n\n"
        candidates.append(start.replace("{INDEX}", str(i)) + before + text + end)
    head, middle, tail = re.split(r"\{PAPER\}|\{CANDIDATES\}", _words("scalar"))
    return "".join([head, doc["question"], middle, *candidates, tail])


def process_scalar(doc, results):
    return {"acc": float(answer_of(results[0], len(doc["candidates"])) == doc["label"])}


def load(path, name, revision, **_):
    """The test rows of a configuration, each with its prompt; the texts of papers are rows of another configuration."""
    rows = datasets.load_dataset(path, name, revision=revision, split="test")
    texts = {}
    for config in sorted({paper["texts"] for papers in rows["papers"] for paper in papers}):
        for split in datasets.load_dataset(path, config, revision=revision).values():
            texts |= {(config, row["id"]): row["text"] for row in split}
    task = name.partition("-")[0].lower()
    docs = [{**_asked(row), "prompt": _prompt(task, row, texts)} for row in rows]
    return {"test": datasets.Dataset.from_list(docs)}


def _asked(row):
    return {"id": row["id"], "asked": row["asked"], "answer": row["answer"]}


def _prompt(task, row, texts):
    if row["parts_version"] != 1:
        raise ValueError(
            f"{row['id']} is put together in way {row['parts_version']}; take a newer version of this task"
        )
    parts = []
    for part in row["parts"]:
        paper = row["papers"][part["paper"]]
        text, shown, position = texts[paper["texts"], paper["id"]], [], part["start"]
        for edit in part["edits"]:
            shown += [text[position : edit["start"]], edit["text"]]
            position = edit["end"]
        parts.append(_RULE.sub("= = =", "".join([*shown, text[position : part["end"]]])).strip())
    head, tail = _words(task).split("{PARTS}")
    labelled = "".join(f"=== {_LABELS[task]} {i} ===\n{part}\n\n" for i, part in enumerate(parts, 1))
    titles = [work["title"] for work in row["works"]]
    question = ""
    if titles:
        kinds = dict(line.split(": ", 1) for line in _words("walk_questions").splitlines())
        question = _fill(kinds[row["kind"]], {"FIRST": titles[0], "SECOND": titles[-1]})
    asked = ", ".join(f"Passage {label}" for label in row["asked"])
    return _fill(head, {"COUNT": str(row["labels"])}) + labelled + _fill(tail, {"QUESTION": question, "ASKED": asked})


def _fill(text, fields):
    return _FIELD.sub(lambda field: fields[field[1]], text)


def process_walk(doc, results):
    named, right = set_of(results[0]), set(doc["answer"])
    if named is None:
        return {"exact": 0.0, "set_f1": 0.0}
    both = len(named) + len(right)
    return {"exact": float(set(named) == right), "set_f1": 2 * len(set(named) & right) / both if both else 1.0}


def process_next(doc, results):
    pairs = pairs_of(results[0]) or {}
    right = [pairs.get(label) == answer for label, answer in zip(doc["asked"], doc["answer"], strict=True)]
    return {"share_right": sum(right) / len(right)}


# --- what answers say


_MARK = re.compile(r"<(/?)answer>", re.IGNORECASE)
# "2", "[2]", "Candidate 2", "index [02]."; two numbers or a negative one are not an index.
_INDEX = re.compile(r"(?:(?:candidate|index|answer)\s{0,3})?\[?\s{0,3}(\d{1,6})\s{0,3}\]?\.?", re.IGNORECASE)
# SCALAR's rule: within a line, lower case, and the word that the prompt shows in place of a number does not count.
_OPENING, _ENDING = "<answer>", "</answer>"
_WORD = re.compile(r"[Ii]ndex")


def answer_of(text: str, candidates: int) -> int | None:
    """The last index in <answer>..</answer>, however it is written; None if there is none or it names no candidate."""
    indices = [match[1] for within in _answers(text) if (match := _INDEX.fullmatch(within.strip()))]
    return _valid_index(indices[-1], candidates) if indices else None


def strict_answer_of(text: str) -> str:
    """What SCALAR's own code compares with the label (`evaluate_response` in src/evaluate/evaluate_cloze.py).

    Args:
        text: the whole answer, reasoning included.

    Returns:
        What the last tag holds, without the word "index" and without spaces at its ends; "" without a tag.
    """
    last = ""
    for line in text.split("\n"):
        end = 0
        while (start := line.find(_OPENING, end)) >= 0:
            start += len(_OPENING)
            closes = line.find(_ENDING, start)
            if closes < 0:
                break
            last, end = line[start:closes], closes + len(_ENDING)
    return _WORD.sub("", last).strip()


def _valid_index(number: str, candidates: int) -> int | None:
    return int(number) if int(number) < candidates else None


def _answers(text: str) -> Iterator[str]:
    """What is between each closing mark and the opening mark next to it."""
    begins: int | None = None
    for mark in _MARK.finditer(text):
        if not mark[1]:
            begins = mark.end()
        elif begins is not None:
            yield text[begins : mark.start()]
            begins = None


_LISTS = re.compile(r"\[([^\[\]{}]*)\]")
_OBJECTS = re.compile(r"\{([^{}]*)\}")
_WORDED = re.compile(r"\b(?:paper|passage|work|mask|P\d)", re.IGNORECASE)
_LABEL = r"[\"'`*\[“”]{0,3}\s?(?:(?:paper|passage|work|mask)s?\s{0,2}#?|P)?(\d{1,6})[\"'`*\]“”]{0,3}"
_ITEM = re.compile(rf"\s*{_LABEL}\s*", re.IGNORECASE)
_PAIR = re.compile(rf"\s*{_LABEL}\s*(?::|->|→|=)\s*{_LABEL}\s*", re.IGNORECASE)
# A label that is given none.
_OPEN = re.compile(r"(?::|->|→|=)\s*(?:null|none|\"\")\s*$", re.IGNORECASE)
_STRICT = re.compile(r"(?:Paper|Passage|Work|Mask) ([1-9]\d{0,5})")
_FENCE = "```"


def set_of(text: str) -> tuple[int, ...] | None:
    """The labels of the last list in an answer, rising; None if there is none that can be read."""
    numbers = list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def list_of(text: str) -> tuple[int, ...] | None:
    """As `set_of`, in the order of the answer."""
    if _without_fence(text).endswith("[]"):
        return ()
    numbers = _last(text, _LISTS, _items)
    return None if numbers is None else tuple(dict.fromkeys(numbers))


def _last(text: str, pattern: re.Pattern[str], read: Callable[[str], _T | None]) -> _T | None:
    """The last stretch of a pattern that can be read. One with words counts more than numbers alone, which may be citations."""
    readable = [(match[1], content) for match in pattern.finditer(text) if (content := read(match[1])) is not None]
    worded = [content for stretch, content in readable if _WORDED.search(stretch)]
    return worded[-1] if worded else next((content for _, content in reversed(readable)), None)


def _items(text: str) -> list[int] | None:
    if not text.strip():
        return []
    matches = [_ITEM.fullmatch(item) for item in re.split("[,;]", text.strip().rstrip(","))]
    return None if None in matches else [int(match[1]) for match in matches if match]


def pairs_of(text: str) -> dict[int, int] | None:
    """The pairs of the last object in an answer; None if there is none that can be read. Of a label's pairs the last one counts."""
    return _last(text, _OBJECTS, _pairs)


def _pairs(text: str) -> dict[int, int] | None:
    matches = [_PAIR.fullmatch(item) for item in re.split("[,;\n]", text) if item.strip() and not _OPEN.search(item)]
    if not matches or None in matches:
        return None
    return {int(match[1]): int(match[2]) for match in matches if match}


def _without_fence(text: str) -> str:
    return text.rstrip().removesuffix(_FENCE).rstrip()
