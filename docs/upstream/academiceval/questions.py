"""Questions whose answers a program knows: SCALAR's masked citations, and questions over many new papers (Walk, Next)."""

import re
from collections.abc import Callable, Iterator, Sequence
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


_MARKS = str.maketrans("［］【】｛｝＜＞（），、；：“”„＂", '[][]{}<>(),,;:""""', "*`\\$\u200b\ufeff")
_COMMENT = re.compile(r"(?<=[\",\]}]) *//[^\n]*$", re.MULTILINE)
_ARROW = re.compile(r"[-=]>|→|=")
_NUMBERED = re.compile(r"\[ ?(\d{1,6}) ?\](?= ?\w)")
_BOX = re.compile(r"\bboxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_WORDED = re.compile(r"\b(?:papers?|passages?|works?|masks?|P)[\s_#:]{0,3}\d", re.IGNORECASE)
_LABEL = re.compile(
    r"[\s\"'(\[#]*(?:(papers?|passages?|works?|masks?|candidates?|index|answer|reference|option|choice|P)[\s_#:\"]{0,4}\[?)?"
    r"(\d{1,6})(?!\w|[.,–-]\d)([\s\"')\]]*)",
    re.IGNORECASE,
)
_AND = re.compile(r"(?:and|&|\+)\s+|,\s*(?=\d)", re.IGNORECASE)
# Verbs and verdicts: a sentence about a label is no entry.
_SAID = re.compile(
    r"\s+(?:does|do|did|is|are|was|has|have|cites?|might|may|could|should|would|will|can|mentions|discusses|refers|not)\b"
)
_VERDICT = re.compile(r"(.*?\d)\W+(yes|true|no|false)\b\W*", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|without|neither|none|no)\b|n['’]t\b|[❌✗✘]", re.IGNORECASE)
_LAST_LABEL = re.compile(r".*\((?:paper|passage|work) (\d{1,6})\)[\s\"'.]*", re.IGNORECASE)
# What may follow a label: its title, but no choice and no range.
_TITLE, _CHOICE = re.compile(r"\(|[:.–—-](?:\s|$)"), re.compile(r"\W*(?:or|to|through|vs)\b", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]{}]")
_PARTS = re.compile(r'(?:"[^"]*"|[^,;\n"]+|")+')
_BULLET = re.compile(r"^[-•]\s+")
_OBJECT = re.compile(r"\{([^{}]*)\}")
_INNER = re.compile(r"\[([^\[\]]*)\]")
_BEFORE = re.compile(r"(?:^|[:>.!?]|\b(?:is|are|list|return|answer|output))[\s\"'(-]*$", re.IGNORECASE)
_BEHIND = re.compile(r"[\s.\"')$]*")
# What leads to a list that is not the answer.
_ASIDE = re.compile(
    r"\b(?:exclud|except|ignor|reject|alternative|(?:but |are |were )?not\b|checked|considered)[^\n]*\n?[^\n]*$|#\s*$",
    re.IGNORECASE,
)
# Keys of objects: for the answer, for a label, for what is asked about.
_ANSWER_KEY = re.compile(r"answer|final|result", re.IGNORECASE)
_LABEL_KEY = re.compile(r"paper|passage|work|label|answer|\bid\b", re.IGNORECASE)
_ASKED_KEY = re.compile(r"mask|from|current|source|question|before", re.IGNORECASE)
_OTHER_KEY = re.compile(r"rank|year|\bpage|section", re.IGNORECASE)
_KEYED = re.compile(r"[\"']?(\w+)[\"']?\s*:\s*$")
_NESTED = re.compile(r"(\"[^\"{}]*\d\"\s*:\s*)\{([^{}]*)\}")
_NAMED_MARK = re.compile(r"\[\s*((?:mask|paper|passage)\s*\d{1,6})\s*\]", re.IGNORECASE)
_PLAIN_NUMBERS = re.compile(r"\s*(?:and )?\d{1,6}(?: and \d{1,6})*\s*")
# Characters around a stretch that say what it is.
_NEAR, _FAR, _LONGEST_LABEL = 20, 80, 40
_LINE = re.compile(r"(?:[-•]|\d+[.)])\s+|(?:.*\b)?answers?\s*(?:is|are)?\s*:", re.IGNORECASE)
_TAG = re.compile(r"<(/?)answer\s*>", re.IGNORECASE)
_ANSWER = re.compile(r"(?:.*\b)?(?:answer|index|reference|candidate|choice)(?:\s+is)?\s*:?\s+(.*)", re.IGNORECASE)
_CALLED = re.compile(r"answer|index|choice", re.IGNORECASE)
# Lines without a tag that decide nothing, and what a line names; one that begins with a candidate may be an item of a listing.
_UNDECIDED = re.compile(r"\b(?:not|no|nor|or|cannot|neither|either|both|than)\b|n['’]t\b", re.IGNORECASE)
_CANDIDATE = re.compile(r"\bcandidates?\W{0,4}(\d{1,6})\b", re.IGNORECASE)
_ITEM = re.compile(r"\W*(?:candidate\W{0,4})?(\d{1,6})\b", re.IGNORECASE)
# "2, because ...", "2 BERT": an index, and what is said of it.
_EXPLAINED = re.compile(
    r"[^\w-]*(?i:(?:(?:it|(?:the )?(?:correct |right |best |best-suited |most suitable )?(?:answer|index|reference|candidate))"
    r"(?: of \w+)?(?: is)?)\W+(?:candidate\W+)?)?(\d{1,6})(?:\s*[.,;:!]?\s*$|,?\s*(?:because|since|as)\b.*|\s+[A-Z].*)",
    re.DOTALL,
)


def answer_of(text: str, candidates: int) -> int | None:
    """The last index in <answer>..</answer>, or without a tag that at the answer's end or beginning; None if it names no candidate."""
    text = _plain(text)
    within = list(_tagged(text)) or _untagged([line.strip() for line in text.split("\n") if line.strip(" {}[]\t\r")])
    numbers = (_index(_BRACKET.sub(" ", content)) for content in reversed(within))
    index = next((number for number in numbers if number is not None), None)
    return index if index is not None and index < candidates else None


def _untagged(lines: Sequence[str]) -> list[str]:
    """What an answer without a tag says in its first and last line, the likelier behind: what is called the answer, else a candidate, if no
    other line begins with another.
    """
    called: list[str] = []
    other: list[str] = []
    for line in [*lines[:1], *lines[-1:]]:
        match = _ANSWER.fullmatch(line)
        if _UNDECIDED.search(line) or len(set(_CANDIDATE.findall(line))) > 1:
            continue
        (called if match and _CALLED.search(line[: match.start(1)]) else other).append(match[1] if match else line)
    return [*(other if len({item[1] for line in lines if (item := _ITEM.match(line))}) < 2 else ()), *called]


def _index(text: str) -> int | None:
    explained = _EXPLAINED.fullmatch(text)
    return int(explained[1]) if explained else _one(text)


def set_of(text: str) -> tuple[int, ...] | None:
    """The labels of the last list in an answer, rising; None if there is none."""
    numbers = list_of(text)
    return None if numbers is None else tuple(sorted(numbers))


def list_of(text: str) -> tuple[int, ...] | None:
    """As `set_of`, in the order of the answer."""
    return _last(_plain(text), _list)


def pairs_of(text: str) -> dict[int, int] | None:
    """The pairs of the last object in an answer; None if there is none. Of a label's pairs the last one counts."""
    return _last(_NAMED_MARK.sub(r"\1", _plain(text)), _pairs)


def _plain(text: str) -> str:
    """A text with one sign for each meaning, without markdown."""
    return _NUMBERED.sub(r"\1: ", _BOX.sub(r"\1", _ARROW.sub(": ", _COMMENT.sub("", text.translate(_MARKS)))))


def _tagged(text: str) -> Iterator[str]:
    """What is between each opening mark and the next mark or, if the last was not closed, the end of its line."""
    begins: int | None = None
    for mark in _TAG.finditer(text):
        if begins is not None:
            yield text[begins : mark.start()]
        elif mark[1] and mark.start() and "<" not in text[: mark.start()]:
            # The prompt ended with the opening mark.
            yield text[: mark.start()].strip().rpartition("\n")[2]
        begins = None if mark[1] else mark.end()
    if begins is not None:
        yield text[begins:].strip().partition("\n")[0]


def _last(text: str, read: Callable[[str, bool], _T | None]) -> _T | None:
    """What is read from the last stretch of those that most likely are the answer; without one that says what it numbers, from the last
    lines.
    """
    best, most, is_named = None, -1, False
    for begins, ends in _stretches(text):
        before, stretch = text[max(0, begins - _FAR) : begins], text[begins:ends]
        is_led = bool(_BEFORE.search((("x" if begins > _NEAR else "") + before[-_NEAR:]).rpartition("\n")[2]))
        is_last = _BEHIND.fullmatch(text[ends : ends + _NEAR].partition("\n")[0]) is not None
        content = read(stretch, is_led and (is_last or not stretch.strip("[]{} \n")))
        if content == () and before.rpartition("\n")[2].strip() and _WORDED.search(text[ends:]):
            # What the instruction says of no label at all.
            continue
        is_void = isinstance(content, dict) and not any(content.values())
        names = not content or _WORDED.search(stretch) is not None
        is_aside = _ASIDE.search(before[-_NEAR:]) or (is_led and _ASIDE.search(_line_before(before)))
        likely = (is_led and is_last) + names - 2 * bool(is_aside) - 2 * is_void
        if content is not None and (likely >= most or best is None):
            best, most, is_named = content, likely, names
    # Numbers alone may be citations, within a sentence they are.
    return best if is_named else read(_last_lines(text), False) or (best if most > 0 else None)


def _line_before(before: str) -> str:
    """The line above a stretch that begins its line and is led by that one, "" for others."""
    above, is_below, own = before.rpartition("\n")
    above = above.rstrip()
    return above.rpartition("\n")[2] if is_below and not own.strip() and above.endswith(":") else ""


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
            is_next = bool(closed) and _is_next(text, closed[-1], begins, at + 1)
            closed.append((closed.pop()[0] if is_next else begins, at + 1))
    if opened and opened[-1] >= (closed[-1][1] if closed else 0):
        closed.append((opened[-1], len(text)))
    return closed


def _is_next(text: str, last: tuple[int, int], begins: int, ends: int) -> bool:
    """Whether a bracket goes on with the one before: objects in a row, or lists in a row that name one label each."""
    if text[ends - 1] != text[last[1] - 1]:
        return False
    between = text[last[1] : begins].strip(", \n-•")
    if text[ends - 1] == "}":
        return not between
    own, other = text[begins:ends], text[max(last[0], last[1] - _LONGEST_LABEL) : last[1]].rpartition("[")[2]
    are_single = (
        "," not in own + other
        and len(own) < _LONGEST_LABEL
        and any(map(str.isdigit, own))
        and any(map(str.isdigit, other))
    )
    return are_single and between in ("", "and")


def _last_lines(text: str) -> str:
    """The lines at the end of an answer that each name labels, as a list; of lines with verdicts those that say yes."""
    kept: list[str] = []
    above, _, remark = text.strip().rpartition("\n\n")
    for line in reversed((above if above and not _WORDED.search(remark) else text).strip().split("\n")):
        match = _LINE.match(line.strip())
        entry = line.strip()[match.end() :] if match else line.strip()
        if verdict := _VERDICT.fullmatch(entry):
            entry = verdict[1] if verdict[2].casefold() in ("yes", "true") else ""
        parts = _PARTS.findall(entry)
        if entry and not (parts and _WORDED.match(parts[0].strip(" \"'(")) and all(map(_is_label, parts))):
            if not (entry.endswith(":") and _DENIED.search(entry) and any(kept)):
                break
            # What stands below is what does not fit.
            kept, entry = [], ""
        kept.append("" if _DENIED.search(entry.partition(":")[2]) else entry)
    return "\n".join(reversed(kept)) if any(kept) else "none"


def _is_label(part: str) -> bool:
    named = _numbers(_BRACKET.sub(" ", part.partition(":")[0]).strip()) or _numbers(_BRACKET.sub(" ", part).strip())
    return named is not None or _PLAIN_NUMBERS.fullmatch(part) is not None


def _list(stretch: str, alone: bool) -> tuple[int, ...] | None:
    """The labels of a list; None if it is empty or names none, unless it stands alone."""
    entries = (
        _list_within(stretch) if stretch.startswith("{") else _OBJECT.sub(lambda match: _labelled(match[1]), stretch)
    )
    numbers: list[int] = []
    unread = 0
    parts = [part for part in _entries(entries) if part.strip(". \"'")]
    for i, part in enumerate(parts):
        if named := _numbers(part):
            numbers += named
        elif i + 1 < len(parts) or stretch[-1:] in "]}" or not numbers:
            # The last entry of a list that was cut says nothing.
            numbers.append(-unread)
            unread += 1
    return tuple(dict.fromkeys(numbers)) if alone or any(number > 0 for number in numbers) else None


def _list_within(stretch: str) -> str:
    """The list in an object that is the answer; the object's labels if it has none."""
    lists = [
        (key[1] if (key := _KEYED.search(stretch[: inner.start()][-_FAR:])) else "", inner[1])
        for inner in _INNER.finditer(stretch)
    ]
    answers = [content for key, content in lists if _ANSWER_KEY.search(key)]
    papers = [content for key, content in lists if _LABEL_KEY.search(key)]
    return next(iter(answers or papers or [content for _, content in lists]), None) or (
        "" if lists else _OBJECT.sub(lambda match: _labelled(match[1]), stretch)
    )


def _labelled(content: str) -> str:
    """Of an object in a list the labels that it names, as entries; "?" if its keys are labels or it names none."""
    pairs = [part.partition(":") for part in _entries(content)]
    if any(value.strip(" \"'").casefold() in ("false", "no") for key, _, value in pairs if not _numbers(key)):
        return ""
    if all(not colon and _numbers(part) for part, colon, _ in pairs):
        return ", ".join(part for part, *_ in pairs) + ","
    values = [(key, value) for key, _, value in pairs if not _numbers(key)]
    named = [value for key, value in values if _LABEL_KEY.search(key)] or [v for _, v in values if _WORDED.search(v)]
    labels = (value.strip(" \"'") for value in named if all(map(_numbers, value.strip(" \"'").split(","))))
    return f"{next(labels, '?')},"


def _pairs(stretch: str, alone: bool) -> dict[int, int] | None:
    """The pairs of an object, or of a list of objects or of lists; None if it names none."""
    pairs: dict[int, int] = {}

    stretch = _NESTED.sub(lambda match: match[1] + _labelled(match[2]), stretch)
    inner = _INNER.sub(lambda part: "?" if "," in part[1] else part[1], stretch)
    for content in _OBJECT.findall(inner if stretch.startswith("{") else stretch) or _rows(stretch):
        values: list[tuple[str, int]] = []
        for part in _entries(_INNER.sub(lambda part: "?" if "," in part[1] else part[1], content)):
            key, colon, value = part.partition(":")
            if (label := _one(key)) is not None and colon:
                number = _one(value) or 0
                is_turned = number and _ASKED_KEY.search(value) and not _ASKED_KEY.search(key)
                pairs |= {number: label} if is_turned else {label: number}
            elif (
                not _OTHER_KEY.search(key)
                and (named := _one(value if colon else key)) is not None
                and (colon or stretch.startswith("[["))
            ):
                values.append((key, named))
        if len(values) == 2:
            is_turned = _ASKED_KEY.search(values[1][0]) and not _ASKED_KEY.search(values[0][0])
            (_, first), (_, second) = reversed(values) if is_turned else values
            pairs[first] = second
    return pairs if any(pairs.values()) or (pairs and _WORDED.search(stretch)) else None


def _rows(stretch: str) -> list[str]:
    """The lists in a list, or what one has in it."""
    return (
        _INNER.findall(stretch)
        if stretch.startswith("[[")
        else [stretch.strip("[]") if stretch.startswith("[") else stretch]
    )


def _entries(text: str) -> Iterator[str]:
    """What commas, semicolons and lines separate, outside of quotes and without brackets."""
    parts = (_BULLET.sub("", part.strip(" \t\r")) for part in _PARTS.findall(_BRACKET.sub(" ", text)))
    return (part for part in parts if part)


def _one(text: str) -> int | None:
    numbers = _numbers(text.strip().rstrip(". "))
    return numbers[0] if numbers and len(numbers) == 1 else None


def _numbers(text: str) -> list[int] | None:
    """The labels that an entry names, with a title behind the last one perhaps; None if it names none, or a choice."""
    numbers: list[int] = []
    at = 0
    if last := _LAST_LABEL.fullmatch(text):
        return [int(last[1])]
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
            is_other = (
                _CHOICE.match(rest)
                or _SAID.match(rest)
                or _SAID.match(match[3] + rest)
                or rest[0] in "/?"
                or _WORDED.search(rest)
            )
            return numbers if is_titled and not is_other else None
    return None
