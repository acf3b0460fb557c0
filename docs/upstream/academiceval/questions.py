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


_MARKS = str.maketrans("［］【】｛｝（），、；：“”„＂", '[][]{}(),,;:""""', "*`\\$")
_ARROW = re.compile(r"[-=]>|→|=")
_NUMBERED = re.compile(r"\[ ?(\d{1,6}) ?\](?= ?\w)")
_BOX = re.compile(r"\bboxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_WORDED = re.compile(r"\b(?:papers?|passages?|works?|masks?|P)[\s_#:]{0,3}\d", re.IGNORECASE)
_LABEL = re.compile(
    r"[\s\"'(\[#]*(?:(papers?|passages?|works?|masks?|candidates?|index|answer|P)[\s_#:\"]{0,4}\[?)?"
    r"(\d{1,6})(?!\w|[.,–-]\d)([\s\"')\]]*)",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:and|&|\+)\s+", re.IGNORECASE)
# What may follow a label: its title, but no choice and no range.
_TITLE, _CHOICE = re.compile(r"\(|[:.–—-](?:\s|$)"), re.compile(r"\W*(?:or|to|through|vs)\b", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]{}]")
_PARTS = re.compile(r'(?:"[^"]*"|[^,;\n"]+|")+')
_OBJECT = re.compile(r"\{([^{}]*)\}")
_INNER = re.compile(r"\[([^\[\]]*)\]")
_BEFORE, _BEHIND = re.compile(r"(?:^|[:#>]|\b(?:is|are))[\s\"'(]*$", re.IGNORECASE), re.compile(r"[\s.\"')$]*")
_NEAR = 20
_LINE = re.compile(r"(?:[-•]|\d+[.)])\s+|(?:.*\b)?answers?\s*(?:is|are)?\s*:", re.IGNORECASE)
_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE)
_ANSWER = re.compile(r"(?:.*\b)?answer(?:\s+is)?\s*:?\s+(.*)", re.IGNORECASE)


def answer_of(text: str, candidates: int) -> int | None:
    """The last index in <answer>..</answer>, or without a tag the one that the answer ends with; None if it names no candidate."""
    text = _plain(text)
    within = list(_tagged(text))
    if not within:
        last = text.rstrip().rpartition("\n")[2]
        match = _ANSWER.fullmatch(last)
        within = [match[1] if match else last]
    numbers = (_one(_BRACKET.sub(" ", content)) for content in reversed(within))
    index = next((number for number in numbers if number is not None), None)
    return index if index is not None and index < candidates else None


def set_of(text: str) -> tuple[int, ...] | None:
    """The labels of the last list in an answer, rising; None if there is none."""
    numbers = list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def list_of(text: str) -> tuple[int, ...] | None:
    """As `set_of`, in the order of the answer."""
    return _last(_plain(text), _list)


def pairs_of(text: str) -> dict[int, int] | None:
    """The pairs of the last object in an answer; None if there is none. Of a label's pairs the last one counts."""
    return _last(_plain(text), _pairs)


def _plain(text: str) -> str:
    """A text with one sign for each meaning, without markdown."""
    return _NUMBERED.sub(r"\1: ", _BOX.sub(r"\1", _ARROW.sub(": ", text.translate(_MARKS))))


def _tagged(text: str) -> Iterator[str]:
    """What is between each opening mark and the next mark or, if the last was not closed, the end of its line."""
    begins: int | None = None
    for mark in _TAG.finditer(text):
        if begins is not None and mark[1]:
            yield text[begins : mark.start()]
        begins = None if mark[1] else mark.end()
    if begins is not None:
        yield text[begins:].strip().partition("\n")[0]


def _last(text: str, read: Callable[[str, bool], _T | None]) -> _T | None:
    """What is read from the last stretch of those that most likely are the answer; without brackets, from the last lines."""
    best, most = None, -1
    for begins, ends in _stretches(text):
        stretch, alone = text[begins:ends], _stands_alone(text, begins, ends)
        content = read(stretch, alone)
        likely = alone + bool(not content or _WORDED.search(stretch))
        if content is not None and likely >= most:
            best, most = content, likely
    return read(_last_lines(text), False) if best is None else best


def _stretches(text: str) -> list[tuple[int, int]]:
    """Where brackets begin and end that are in no others; objects in a row are one stretch, and the last bracket may be open."""
    opened: list[int] = []
    closed: list[tuple[int, int]] = []
    for bracket in _BRACKET.finditer(text):
        at = bracket.start()
        if text[at] in "[{":
            opened.append(at)
        elif opened and text[opened[-1]] + text[at] in ("[]", "{}"):
            begins = opened.pop()
            while closed and closed[-1][0] > begins:
                closed.pop()
            is_next = (
                closed and text[at] == text[closed[-1][1] - 1] == "}" and not text[closed[-1][1] : begins].strip(", \n")
            )
            closed.append((closed.pop()[0] if is_next else begins, at + 1))
    if opened and opened[-1] >= (closed[-1][1] if closed else 0):
        closed.append((opened[-1], len(text)))
    return closed


def _stands_alone(text: str, begins: int, ends: int) -> bool:
    """Whether nothing else is on the lines of a stretch, but for what leads to it."""
    before = ("" if begins <= _NEAR else "x") + text[max(0, begins - _NEAR) : begins]
    behind = text[ends : ends + _NEAR].partition("\n")[0]
    return bool(_BEFORE.search(before.rpartition("\n")[2]) and _BEHIND.fullmatch(behind))


def _last_lines(text: str) -> str:
    """The lines at the end of an answer that each name labels, as a list."""
    kept: list[str] = []
    for line in reversed(text.strip().split("\n")):
        match = _LINE.match(line.strip())
        entry = line.strip()[match.end() :] if match else line.strip()
        if entry and not all(_WORDED.match(part.strip(" \"'(")) for part in _PARTS.findall(entry)):
            break
        kept.append(entry)
    return "\n".join(reversed(kept)) if any(kept) else "none"


def _list(stretch: str, alone: bool) -> tuple[int, ...] | None:
    """The labels of a list; None if it is empty or names none, unless it stands alone."""
    inner = _INNER.findall(stretch) if stretch.startswith("{") else ()
    entries = inner[0] if inner else _OBJECT.sub(_labelled, stretch)
    numbers: list[int] = []
    for part in _entries(entries):
        numbers += _numbers(part) or [-sum(number <= 0 for number in numbers)]
    return tuple(dict.fromkeys(numbers)) if alone or any(number > 0 for number in numbers) else None


def _labelled(match: re.Match[str]) -> str:
    """Of an object in a list the first label, as an entry; "?" if its keys are labels."""
    values = [part.partition(":") for part in _entries(match[1])]
    labels = (number for key, _, value in values if not _numbers(key) and (number := _one(value)) is not None)
    return f"{next(labels, '?')},"


def _pairs(stretch: str, alone: bool) -> dict[int, int] | None:
    """The pairs of an object, or of a list of objects; None if it names none."""
    pairs: dict[int, int] = {}
    for content in _OBJECT.findall(stretch) or [stretch]:
        values: list[int] = []
        for part in _entries(_INNER.sub(lambda inner: "?" if "," in inner[1] else inner[1], content)):
            key, colon, value = part.partition(":")
            if (label := _one(key)) is not None and colon:
                pairs[label] = _one(value) or 0
            elif (number := _one(value)) is not None:
                values.append(number)
        if len(values) == 2:
            pairs[values[0]] = values[1]
    return pairs if any(pairs.values()) else None


def _entries(text: str) -> Iterator[str]:
    """What commas, semicolons and lines separate, outside of quotes and without brackets."""
    parts = (part.strip(" \t\r") for part in _PARTS.findall(_BRACKET.sub(" ", text)))
    return (part for part in parts if part)


def _one(text: str) -> int | None:
    numbers = _numbers(text.strip().rstrip(". "))
    return numbers[0] if numbers and len(numbers) == 1 else None


def _numbers(text: str) -> list[int] | None:
    """The labels that an entry names, with a title behind the last one perhaps; None if it names none, or a choice."""
    numbers: list[int] = []
    at = 0
    while match := _LABEL.match(text, at):
        numbers.append(int(match[2]))
        at = match.end()
        rest = text[at:]
        if not rest:
            return numbers
        if joined := _AND.match(rest):
            at += joined.end()
        elif not _WORDED.match(rest):
            is_titled = _TITLE.match(rest) or match[1] or match[3].strip()
            return numbers if is_titled and not _CHOICE.match(rest) and not _WORDED.search(rest) else None
    return None
