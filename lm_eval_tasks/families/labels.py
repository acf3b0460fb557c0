"""The labels that an answer names, however it is written: one, a set of them, or pairs.

What counts is the last stretch in brackets that stands on its own lines, or after a colon, and that says what it numbers; what models
write before and after it are their reasons. An entry that names no label is one wrong entry, never a void answer: it is read as the
label 0, -1, and so on, which nothing has.
"""

import re
from collections.abc import Callable
from itertools import takewhile
from typing import TypeVar

from lm_eval_tasks.families.label_entries import (
    BRACKET,
    ENTRIES,
    WORDED,
    entries,
    json_of,
    labels_in,
    one_label,
    written_alike,
)

_T = TypeVar("_T")
# Marks that mean the same, or nothing.
_MARKS = str.maketrans("［］【】｛｝＜＞（），、；：“”„＂", '[][]{}<>(),,;:""""', "*`\\$\u200b\ufeff")
_BOXES = re.compile(r"<\|(?:begin|end)_of_box\|>")
# Boxes to tick, and links within a page.
_UNTICKED = re.compile(r"^[ \t]*[-*•] \[ \][^\n]*$", re.MULTILINE)
_TICKED, _LINK = re.compile(r"(?<=[-*•] )\[[xX✓✔]\] "), re.compile(r"\[([^\[\]\n]+)\]\((?:#|https?:)[^()\s]*\)")
_COMMENT = re.compile(r"(?<=[\",\]}]) *//[^\n]*$", re.MULTILINE)
_ARROW = re.compile(r"[-=]>|→|=")
_NUMBERED = re.compile(r"\[ ?(\d{1,6}) ?\](?= ?\w)")
_BOX = re.compile(r"\bboxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_TEXT = re.compile(r"\btext\{([^{}]*)\}")
# What may follow a verdict; a title such as "No Free Lunch" is none.
_WHY = r"(?:\W*|\s*(?:[(.;:–—-]|,(?=\s(?-i:[a-z]|Tab|Sec|Fig|App))).*)"
_VERDICT = re.compile(rf"(.*?\d)\W+(yes|true|no|false)\b{_WHY}", re.IGNORECASE)
_NO = re.compile(
    rf"\W*(?:paper|passage|work|mask)s?\W*(?:no\.?|number)?\W*\d{{1,6}}[\s:|.)–-]+(?:no|false)\b{_WHY}", re.IGNORECASE
)
# Titles have these words too, mostly as capitals.
_DENIED = re.compile(
    r"(?-i:\b(?:not|NOT|never|neither|none)\b)|\bnot (?:cit|mention|relevan|includ|match)|n['’]t\b|[❌✗✘]"
    r"|\bno\b(?=\W*$|[,.;:(–-](?!\s*\d)|\s+(?:mention|citation|reference|cit))|\bwithout (?:any |a )?(?:mention|citation|reference)",
    re.IGNORECASE,
)
_OBJECT = re.compile(r"\{([^{}]*)\}")
_INNER = re.compile(r"\[([^\[\]]*)\]")
_BEFORE = re.compile(r"(?:^|[:>.!?]|\b(?:is|are|list|return|answer|output))[\s\"'(-]*$", re.IGNORECASE)
_BEHIND = re.compile(r"[\s.\"')$]*")
# What leads to a list that is not the answer.
_ASIDE = re.compile(
    r"\b(?:exclud|except|ignor|reject|discard|irrelevant|unrelated|alternative|(?<!\bbut )not\b"
    r"|\bbut not(?=\W*$)|checked|considered|eliminat"
    r"|ruled out|false positive|incorrect)"
    r"[^\n]*\n?[^\n]*$|#\s*$",
    re.IGNORECASE,
)
# What leads to the answer all the same: "After excluding two, the final list".
_LEADS_ON = re.compile(
    r"\b(?:after|(?<!not the )(?<!not in the )answer|final|remain\w*|left|corrected)\b", re.IGNORECASE
)
_REJECTED, _WORDS_OF_TITLE = re.compile(r"\b(?:rejected|excluded|discarded)\W*$", re.IGNORECASE), 7
# An answer that says of no label that it is one.
_NONE = r"[\"']?(?:none|null|n/a|no (?:papers?|passages?)\b[^\"'{}\[\]]{0,40})[\"']?"
_NOTHING = re.compile(
    r"(?:json\s+)?[\"'(•\s-]*+(?:(?:[^\n]{0,80}\b(?:final|the) )?answer(?: is)?\W{0,3})?"
    r"(?:none|null|no (?:papers?|passages?)(?: (?:in|of|from|among) [^.\n]{0,30}?)?"
    r"(?: (?:fits?|match(?:es)?|cites? (?:it|this|that))[^.\n]{0,30})?"
    r"|none of (?:the|these)(?: (?!other|remaining|rest)\w+)? (?:papers?|passages?)[^.\n]{0,60}"
    rf"|\{{\s*[\"']?\w+[\"']?\s*:\s*(?:null|none)\s*\}}|\[\s*{_NONE}\s*\])\W*",
    re.IGNORECASE,
)
# A sentence behind a list that says nothing of it.
_OTHERS = re.compile(r"\W*none of the (?:other|remaining|rest)\b", re.IGNORECASE)
# The same, with its reason behind it.
_NOTHING_FIRST = re.compile(r"\W*(?:(?:final |the )?answer(?: is)?\W{0,3})?none\W*?(?:\n|\s\()", re.IGNORECASE)
_NUMBERS_IN_TAGS = re.compile(
    r"<answer\s*>\s*(\d{1,6}(?:\s*(?:,|&|and)\s*\d{1,6})*)[\s.]*(?:</answer|\Z)", re.IGNORECASE
)
# An object that says so.
_EMPTY = re.compile(
    r"\{(?:[^{}]*,)?\s*[\"']?(?:papers?|passages?|works?|answers?|labels?|results?)[\"']?"
    rf"\s*:\s*(?:{_NONE}|\"\"|\[\s*{_NONE}\s*\])\s*(?:,[^{{}}]*)?\}}",
    re.IGNORECASE,
)
_TAGS = re.compile(r"</?answer\s*>", re.IGNORECASE)
# A table with a column of labels, what such a column is called, and those that say nothing of them.
_TABLE = re.compile(
    r"^\|(?:[^|\n]*\|)?? *(?:paper|passage|work|mask)s?(?: (?:no|number|id))?[.#]? *\|[^\n]*\n(?:\|[^\n]*(?:\n|$))+",
    re.IGNORECASE | re.MULTILINE,
)
_COLUMN = re.compile(r"\s*(paper|passage|work|mask)s?(?: (?:no|number|id))?[.#]?\s*", re.IGNORECASE)
_NO_COLUMN = re.compile(
    r"\s*(?:#|nr?\.?|no\.?|rank|row|index|reason(?:ing)?|explanation|why|rationale|comments?|evidence|justification)\s*",
    re.IGNORECASE,
)
# Verdicts that tables have for short.
_SHORT = tuple({yes: "yes", no: "no"} for yes, no in (("1", "0"), ("Y", "N"), ("Yes", "—"), ("Yes", "-")))
# Heads of columns whose numbers are no verdicts.
_SAYS = re.compile(r"next|answer|confidence|score|rank|follow|page|section|year|count", re.IGNORECASE)
_TRUTH = re.compile(r"\s*[\"']?(?:true|false|yes|no|null|none|[01])(?:\s*[,.;:(–-][^\n]*)?[\"']?\s*", re.IGNORECASE)
# The verdict of an object about one label, and what makes several such objects one.
_VERDICT_WITHIN = re.compile(r"(\d[\"']?\s*:\s*)\{([^{}]*)\}")
_BOOLEAN = re.compile(r":\s*([\"']?)(true|false|yes|no)\1\s*(?=,|$)", re.IGNORECASE)
_BETWEEN_OBJECTS = re.compile(r"\}\s*,?\s*\{")
# What an object says beside the verdicts on its labels; and one around such an object.
_REMARK = re.compile(
    r"\s*[\"']?(?:reason(?:ing|s)?|explanations?|rationales?|evidence|notes?|comments?|confidences?)[\"']?\s*",
    re.IGNORECASE,
)
# The same of each label, in an object of its own.
_REMARKS = re.compile(rf",?(?<!\s){_REMARK.pattern}:\s*\{{[^{{}}]*\}}", re.IGNORECASE)
_AROUND_OBJECT = re.compile(r"\{\s*[\"']?\w+[\"']?\s*:\s*(\{[^{}]*\})\s*(?:,[^{}]*)?\}", re.DOTALL)
_WRAPPED = re.compile(r"\{\s*[\"']?([^\W\d]+)[\"']?\s*:\s*(\[.*\])\s*\}", re.DOTALL)
# Keys of lists that are not the answer, and of some that are if no other list is.
_NOT_CHOSEN = re.compile(r"exclud|reject|not_|ignor|irrelevant|unrelated|\bno\b", re.IGNORECASE)
_WEIGHED = re.compile(r"other|alternat|\ball_|check|consider|candidate", re.IGNORECASE)
# Keys of objects: for the answer, for a label, for what is asked about.
_ANSWER_KEY = re.compile(r"answer|final|result", re.IGNORECASE)
_LABEL_KEY = re.compile(r"paper|passage|work|label|answer|\bid\b", re.IGNORECASE)
_ASKED_KEY = re.compile(r"mask|from|current|source|question|before", re.IGNORECASE)
_OTHER_KEY = re.compile(r"rank|year|\bpage|section", re.IGNORECASE)
_KEYED = re.compile(r"[\"']?(\w+)[\"']?\s*:\s*$")
_NESTED = re.compile(r"(\"[^\"{}]*\d\"\s*:\s*)\{([^{}]*)\}")
_NAMED_MARK = re.compile(r"\[\s*((?:mask|paper|passage)\s*\d{1,6})\s*\]", re.IGNORECASE)
_PLAIN_NUMBERS = re.compile(r"\s*(?:and )?\d{1,6}(?: and \d{1,6})*\s*")
# What leads to a list without labels that is the answer, whatever stands behind it; not "if none fits, the answer is []".
_CONCLUDES = re.compile(r"\b(?:answer|final|output|result|therefore|thus|hence)\b", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|when|otherwise|should|format)\b", re.IGNORECASE)
# Characters around a stretch that say what it is.
_NEAR, _FAR, _LONGEST_LABEL = 20, 160, 40
_LINE = re.compile(r"(?:[-•]|\d+[.)])\s+|(?:.*\b)?answers?\s*+(?:(?:is|are)\s*+)?:", re.IGNORECASE)


def set_of(text: str) -> tuple[int, ...] | None:
    """Return the labels of the last list in an answer, rising; None if there is none."""
    # In tags or not: the last piece that says something.
    pieces = [piece for piece in _TAGS.split(text) if any(map(str.isalnum, piece))]
    if pieces and _is_nothing(plain(pieces[-1])):
        return ()
    unmarked = plain(text)
    tagged = _NUMBERS_IN_TAGS.findall(unmarked)
    numbers = (
        tuple({int(number) for number in re.findall(r"\d+", tagged[-1])})
        if tagged
        else _last(_TAGS.sub("\n", unmarked), _list)
    )
    if numbers is None and (_denies_all(unmarked) or _NOTHING_FIRST.match(unmarked)):
        return ()
    if not any(number > 0 for number in numbers or ()) and _ends_with_nothing(unmarked):
        return ()
    return None if numbers is None else tuple(sorted(numbers))


def _is_nothing(text: str) -> bool:
    return _NOTHING.fullmatch(text.strip()) is not None and not WORDED.search(text)


def _denies_all(text: str) -> bool:
    """Tell whether the last lines of an answer say of more than one label that it is none, and of none that it is one."""
    lines = [line for line in text.splitlines() if any(map(str.isalnum, line))]
    denied = list(takewhile(_NO.fullmatch, reversed(lines)))
    return len(denied) > 1 and not any(map(WORDED.search, lines[: -len(denied)]))


def _ends_with_nothing(text: str) -> bool:
    """Tell whether the last line of an answer, or its last bracket, names no label on purpose."""
    last = _TAGS.sub("", text).strip().rpartition("\n")[2]
    stretches = _stretches(text)
    begins, ends = stretches[-1] if stretches else (0, 0)
    is_last = not any(map(str.isalnum, text[ends:]))
    return _is_nothing(last) or (is_last and _EMPTY.fullmatch(text[begins:ends]) is not None)


def pairs_of(text: str) -> dict[int, int] | None:
    """Return the pairs of the last object in an answer; None if there is none. Of a label's pairs the last one counts."""
    return _last(_NAMED_MARK.sub(r"\1", _TAGS.sub("\n", plain(text))), _pairs)


def plain(text: str) -> str:
    """Write a text with one sign for each meaning, without markdown."""
    unticked = _TICKED.sub("", _UNTICKED.sub("", text.replace("\r\n", "\n")))
    unmarked = _COMMENT.sub("", _BOXES.sub("\n", _LINK.sub(r"\1", unticked)).translate(_MARKS))
    unboxed = _BOX.sub(r"\n\1\n", _TEXT.sub(r"\1", _ARROW.sub(": ", unmarked)))
    return _TABLE.sub(_with_labels_in_rows, _NUMBERED.sub(r"\1: ", unboxed))


def _with_labels_in_rows(table: re.Match[str]) -> str:
    """Write out the labels of a table's rows that say no more than their numbers; numbers of rows and reasons are left out."""
    every = [row.strip().strip("|").split("|") for row in table[0].splitlines()]
    kept = [place for place, cell in enumerate(every[0]) if not _NO_COLUMN.fullmatch(cell)]
    head, *rows = ([row[place] for place in kept if place < len(row)] for row in every)
    named = [_COLUMN.fullmatch(cell) for cell in head]
    # What short verdicts each column has; one of anything else has none.
    said = [{row[place].strip() for row in rows[1:] if place < len(row)} for place in range(len(head))]
    verdicts = [next((short for short in _SHORT if cells <= short.keys()), {}) for cells in said]
    is_single = sum(map(bool, named)) == 1
    for row in rows:
        for place, (column, cell) in enumerate(zip(named, row, strict=False)):
            if column and cell.strip().isdigit():
                row[place] = f" {column[1]} {cell.strip()} "
            elif is_single and not _SAYS.search(head[place]):
                row[place] = f" {verdicts[place].get(cell.strip(), cell.strip())} "
    return "".join(f"|{'|'.join(row)}|\n" for row in (head, *rows))


def _last(text: str, read: Callable[[str, bool], _T | None]) -> _T | None:
    """Read the last stretch of those that most likely are the answer; without one that says what it numbers, the last lines."""
    best, most, is_named = None, -1, False
    for begins, ends in _stretches(text):
        before, stretch = text[max(0, begins - _FAR) : begins], text[begins:ends]
        is_led = _is_led(before, is_first=begins <= _NEAR)
        is_last = _BEHIND.fullmatch(text[ends : ends + _NEAR].partition("\n")[0]) is not None
        content = read(written_alike(stretch), is_led and (is_last or not stretch.strip("[]{} \n")))
        line = before.rpartition("\n")[2]
        is_said = is_led and is_last and _CONCLUDES.search(line) and not _IF.search(line)
        if content == () and line.strip() and not is_said and WORDED.search(text[ends:]):
            # What the instruction says of no label at all.
            continue
        is_void = isinstance(content, dict) and not any(content.values())
        names = not content or WORDED.search(stretch) is not None
        likely = (is_led and is_last) + names - 2 * _is_aside(before) - 2 * is_void
        if content is not None and (likely >= most or best is None):
            best, most, is_named = content, likely, names
    # Numbers alone may be citations, within a sentence they are.
    return best if is_named else read(_last_lines(text), False) or (best if most > 0 else None)


def _is_led(before: str, *, is_first: bool) -> bool:
    """Tell whether a stretch begins its line, or follows a colon or another mark that leads to it."""
    near = before[-_NEAR:]
    return bool(_BEFORE.search((near if is_first else f"x{near}").rpartition("\n")[2]))


def _is_aside(before: str) -> bool:
    """Tell whether what stands before a stretch, on its line or as its title, says that it is not the answer."""
    above, _, own = before.rpartition("\n")
    line = own
    if not any(map(str.isalnum, own)):
        # The name of a fence's language.
        line = above.rstrip().removesuffix("json").rstrip().rpartition("\n")[2]
        is_short = len(line.split()) <= _WORDS_OF_TITLE and line[-1:].isalnum()
        leads = line.endswith(":") or line.startswith(("#", "_")) or is_short or _REJECTED.search(line) is not None
        # A sentence about one label is a reason.
        if not leads or WORDED.search(line):
            return False
    # What stands between the previous list and this one says more about this one than what led to the previous, if that was an answer.
    head, _, behind = line.rpartition("]")
    is_own = _BEFORE.search(head.rpartition("[")[0]) and behind.count(")") <= behind.count("(")
    said = behind if is_own and _ASIDE.search(behind) else line
    return _ASIDE.search(said) is not None and _LEADS_ON.search(said) is None


def _stretches(text: str) -> list[tuple[int, int]]:
    """Return where brackets begin and end that are in no others; objects in a row are one stretch, and the last bracket may be open."""
    opened: list[int] = []
    closed: list[tuple[int, int]] = []
    for bracket in BRACKET.finditer(text):
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
    """Tell whether a bracket goes on with the one before: objects in a row, or lists in a row that name one label each."""
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
    """List the lines at the end of an answer that each name labels; of lines with verdicts those that say yes."""
    kept: list[str] = []
    before, _, last = text.strip().rpartition("\n")
    text = before if before and _OTHERS.match(last) else text
    above, _, remark = text.strip().rpartition("\n\n")
    # A sentence behind a table repeats it.
    is_behind_table = above.rpartition("\n")[2].startswith("|") and not _is_entry(_entry_of_line(remark.strip()))
    is_remark = above and (is_behind_table or not WORDED.search(remark))
    lines = (above if is_remark else text).strip().split("\n")
    if _is_nothing(remark if is_remark else lines[-1]):
        return "none"
    for line in reversed([line for line in lines if line[-1:] not in ".$)" or any(map(str.isalnum, line))]):
        entry = _entry_of_line(line.strip())
        if entry and not _is_entry(_without_reason(entry)):
            if not (entry.endswith(":") and _DENIED.search(entry) and any(kept)):
                break
            # What stands below is what does not fit.
            kept, entry = [], ""
        kept.append("" if _DENIED.search(entry.partition(":")[2]) else entry)
    return "\n".join(reversed(kept)) if any(kept) else "none"


def _entry_of_line(line: str) -> str:
    """Take what a line lists, without its bullet; nothing of a line that says no."""
    match = _LINE.match(line)
    entry = line[match.end() :] if match else line
    if line.startswith("|"):
        # A row of a table; its head names no label.
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        entry = ": ".join(cells) if any(map(labels_in, cells)) else ""
    verdict = _VERDICT.fullmatch(entry)
    if not verdict:
        return entry
    return verdict[1] if verdict[2].casefold() in ("yes", "true") else ""


def _is_entry(entry: str) -> bool:
    listed = ENTRIES.findall(entry)
    return bool(listed and WORDED.match(listed[0].strip(" \"'("))) and all(map(_is_label, listed))


def _is_label(entry: str) -> bool:
    unbracketed = BRACKET.sub(" ", entry.strip().removeprefix("and "))
    named = labels_in(unbracketed.partition(":")[0].strip()) or labels_in(unbracketed.strip())
    return named is not None or _PLAIN_NUMBERS.fullmatch(entry) is not None


def _list(stretch: str, alone: bool) -> tuple[int, ...] | None:
    """Read the labels of a list; None if it is empty or names none, unless it stands alone."""
    chosen = _chosen(stretch)
    if chosen is not None:
        return chosen
    keys = _keys(stretch)
    if keys is not None:
        return keys
    if not stretch.startswith(("[", "{")):
        stretch = "\n".join(map(_without_reason, stretch.split("\n")))
    within = _list_within(stretch) if stretch.startswith("{") else _with_labels(stretch)
    listed = [entry for entry in entries(within) if entry.strip(". \"'")]
    numbers: list[int] = []
    unread = 0
    for i, entry in enumerate(listed):
        named = labels_in(entry)
        if named:
            numbers += named
        elif i + 1 < len(listed) or stretch[-1:] in "]}" or not numbers:
            # The last entry of a list that was cut says nothing.
            numbers.append(-unread)
            unread += 1
    return tuple(dict.fromkeys(numbers)) if alone or any(number > 0 for number in numbers) else None


def _without_reason(line: str) -> str:
    """Take from a line the labels that it names before a reason in words, in which other numbers stand."""
    head, _, reason = line.partition(": ") if ": " in line else line.partition(" - ")
    is_reason = reason.strip()[:2].isalpha() and not WORDED.search(reason) and not labels_in(reason)
    return head if is_reason and WORDED.match(head.strip()) and labels_in(head) else line


def _chosen(stretch: str) -> tuple[int, ...] | None:
    """Read an object that says of each label whether it is one; None for others."""
    if not stretch.startswith(("{", "[{")):
        return None
    wrapped = _WRAPPED.fullmatch(stretch)
    listed = wrapped[2] if wrapped else stretch
    if listed.startswith("[") and listed.endswith("]") and "{" in listed:
        stretch = _BETWEEN_OBJECTS.sub(", ", listed[1:-1].strip())
    stretch = _VERDICT_WITHIN.sub(_with_verdict, stretch)
    around = _AROUND_OBJECT.fullmatch(stretch)
    stretch = around[1] if around else stretch
    pairs = [entry.partition(":") for entry in entries(stretch)] if stretch.startswith("{") else []
    verdicts = [(one_label(key), value) for key, _, value in pairs if not _REMARK.fullmatch(key)]
    if not verdicts or not all(label and _TRUTH.fullmatch(value) for label, value in verdicts):
        return None
    said = ((label, value.strip(" \"'").casefold()) for label, value in verdicts if label)
    return tuple(label for label, word in said if word.startswith(("true", "yes", "1")))


def _keys(stretch: str) -> tuple[int, ...] | None:
    """Read JSON in which labels are the keys of what is said of them; None for others."""
    content = json_of(stretch) if stretch.startswith("{") else None
    said = {key: value for key, value in (content or {}).items() if not _REMARK.fullmatch(key)}
    if not said or not all(WORDED.match(key) and one_label(key) for key in said):
        return None
    kept = (one_label(key) for key, value in said.items() if value and not _DENIED.search(str(value)))
    return tuple(filter(None, kept)) or None


def _with_verdict(of_label: re.Match[str]) -> str:
    """Put in place of the object of a label its one verdict."""
    said = _BOOLEAN.findall(of_label[2])
    return f"{of_label[1]}{said[0][1]}" if len(said) == 1 else of_label[0]


def _list_within(stretch: str) -> str:
    """Find the list in an object that is the answer; the object's labels if it has none."""
    wrapped = _WRAPPED.fullmatch(stretch)
    if wrapped and wrapped[2].startswith("[{"):
        return _with_labels(wrapped[2])
    lists = [(_key_before(stretch, inner.start()), inner[1]) for inner in _INNER.finditer(stretch)]
    if not lists:
        return _with_labels(stretch)
    left = [(key, content) for key, content in lists if not _NOT_CHOSEN.search(key)] or lists
    chosen = [(key, content) for key, content in left if not _WEIGHED.search(key)] or left
    answers = [content for key, content in chosen if _ANSWER_KEY.search(key)]
    papers = [content for key, content in chosen if _LABEL_KEY.search(key)]
    return (answers or papers or [chosen[0][1]])[0]


def _key_before(text: str, at: int) -> str:
    key = _KEYED.search(text[:at][-_FAR:])
    return key[1] if key else ""


def _with_labels(stretch: str) -> str:
    """Put in place of each object in a stretch the labels that it names."""
    return _OBJECT.sub(lambda match: _labelled(match[1]), stretch)


def _labelled(content: str) -> str:
    """List of an object in a list the labels that it names, as entries; "?" if its keys are labels or it names none."""
    pairs = [entry.partition(":") for entry in entries(content)]
    values = [(key, value) for key, _, value in pairs if not labels_in(key)]
    said = [(key, value.strip(" \"'").casefold()) for key, value in values]
    if any(value in ("false", "no") or (value == "0" and not _LABEL_KEY.search(key)) for key, value in said):
        return ""
    if all(not colon and labels_in(key) for key, colon, _ in pairs):
        return ", ".join(key for key, *_ in pairs) + ","
    named = [value for key, value in values if _LABEL_KEY.search(key)]
    named = named or [value for _, value in values if WORDED.search(value)]
    for value in named:
        stripped = value.strip(" \"'")
        if all(map(labels_in, stripped.split(","))):
            return f"{stripped},"
    return "?,"


def _pairs(stretch: str, alone: bool) -> dict[int, int] | None:
    """Read the pairs of an object, or of a list of objects or of lists; None if it names none."""
    stretch = _REMARKS.sub("", stretch)
    wrapped = _WRAPPED.fullmatch(stretch.strip())
    if wrapped and ("{" in wrapped[2] or "[" in wrapped[2][1:]):
        stretch = wrapped[2]
    stretch = _NESTED.sub(lambda match: match[1] + _labelled(match[2]), stretch)
    flat = _without_lists(stretch) if stretch.startswith("{") else stretch
    pairs: dict[int, int] = {}
    for content in _OBJECT.findall(flat) or _rows(stretch):
        pairs |= _pairs_of_object(_without_lists(content), in_rows=stretch.startswith("[["))
    return pairs if any(pairs.values()) or (pairs and WORDED.search(stretch)) else None


def _without_lists(text: str) -> str:
    """Put in place of each list the one entry that it has, or "?"."""
    return _INNER.sub(lambda inner: "?" if "," in inner[1] else inner[1], text)


def _pairs_of_object(content: str, *, in_rows: bool) -> dict[int, int]:
    pairs: dict[int, int] = {}
    # What is neither a label's pair nor something else: of two such entries the first is asked about.
    values: list[tuple[str, int]] = []
    for entry in entries(content):
        key, colon, value = entry.partition(":")
        label = one_label(key)
        if label is not None and colon:
            number = one_label(value) or 0
            is_turned = number and _ASKED_KEY.search(value) and not _ASKED_KEY.search(key)
            pairs |= {number: label} if is_turned else {label: number}
            continue
        named = one_label(value if colon else key)
        if named is not None and (colon or in_rows) and not _OTHER_KEY.search(key):
            values.append((key, named))
    if len(values) == 2:
        (key, first), (other, second) = values
        is_turned = _ASKED_KEY.search(other) and not _ASKED_KEY.search(key)
        pairs |= {second: first} if is_turned else {first: second}
    return pairs


def _rows(stretch: str) -> list[str]:
    """Return the lists in a list, or what one has in it."""
    if stretch.startswith("[["):
        return _INNER.findall(stretch)
    return [stretch.strip("[]") if stretch.startswith("[") else stretch]
