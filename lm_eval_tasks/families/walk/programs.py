"""What programs get in Walk that look at the prompt.

One, of rules, was written for Walk: it parses headings, citation marks and reference lists. It shows that Walk is look-up over a long text;
results with tools, which can run such a program, do not count there. The other reads no heading: it looks up the works in a paper's
reference list, and how far into the paper their numbers stand.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from lm_eval_tasks.base.text import title_key
from lm_eval_tasks.prompts import named_lines

_PAPER = re.compile(r"^=== Paper \d+ ===\n", re.MULTILINE)
_REFERENCES = "\n## References\n"
_QUESTION = "=== Question ===\n"
# "[7]", "[5]-[9]", "[3, 5-7]".
_NUMBERS = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*)\](?:\s*[–-]\s*\[(\d{1,4})\])?")
_NUMBER = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_WORD = re.compile(r"[^\W\d_][\w’'-]+")
_CALLED = {
    "experiments": re.compile(r"\b(?:experiment\w*|evaluations?|results?)\b", re.IGNORECASE),
    "introduction": re.compile(r"\bintroduction\b", re.IGNORECASE),
    "related_work": re.compile(r"\b(?:related|prior) \w*\s*(?:works?|research|stud)|\brelated works?\b", re.IGNORECASE),
    "method": re.compile(
        r"\b(?:methods?|methodology|approach(?:es)?|models?|frameworks?|algorithms?)\b", re.IGNORECASE
    ),
}
# Characters before a year in which the surname of an author stands.
_BEFORE_YEAR = 80


def papers_that(kind: str, prompt: str) -> list[int]:
    """Return the papers that a prompt's question, of this kind, is about."""
    papers, titles = _asked_in(kind, prompt)
    return [i for i, paper in enumerate(papers, 1) if _answers(kind, paper, titles)]


def _asked_in(kind: str, prompt: str) -> tuple[list[str], tuple[str, ...]]:
    """Return the texts of the papers that a prompt shows, and the titles that its question is about; none if it is of another kind."""
    shown, _, question = prompt.rpartition(_QUESTION)
    pattern = re.escape(named_lines("walk_questions")[kind])
    for name in ("FIRST", "SECOND"):
        pattern = pattern.replace(re.escape(f"{{{name}}}"), "(.+)")
    asked = re.match(pattern, question)
    return (_PAPER.split(shown)[1:], asked.groups()) if asked else ([], ())


def paragraphs_of(body: str) -> list[tuple[str, str]]:
    """Return (heading of the section, paragraph)."""
    found, heading = [], ""
    for line in body.splitlines():
        if line.startswith("## "):
            heading = line
        elif line.strip():
            found.append((heading, line))
    return found


def _answers(kind: str, paper: str, titles: Collection[str]) -> bool:
    body, _, listed = paper.rpartition(_REFERENCES)
    paragraphs, entries = paragraphs_of(body or paper), listed.strip().splitlines()
    found = [_found(title, paragraphs, entries) for title in titles]
    if kind in _CALLED:
        return _is_in(found[0], kind)
    if kind == "background_only":
        return (_is_in(found[0], "introduction") or _is_in(found[0], "related_work")) and not _is_in(
            found[0], "experiments"
        )
    if kind == "same_paragraph":
        return not {i for _, i in found[0]}.isdisjoint(i for _, i in found[1])
    return bool(found[0]) and not found[1] if kind == "cites_first_only" else all(found)


def _found(title: str, paragraphs: Sequence[tuple[str, str]], entries: Sequence[str]) -> list[tuple[str, int]]:
    """Return where a paper cites a work: the heading of the section, and the number of the paragraph."""
    numbers = _entries_of(title, entries)
    has_numbers = any(True for _, text in paragraphs for _ in _numbers_in(text))
    return [
        (heading, i)
        for i, (heading, text) in enumerate(paragraphs)
        if not numbers.keys().isdisjoint(number for _, number in _numbers_in(text))
        or (not has_numbers and any(_names(text, entry) for entry in numbers.values()))
    ]


def _entries_of(title: str, entries: Sequence[str]) -> dict[int, str]:
    """Return the entries of a reference list that have a title, by their numbers."""
    key = title_key(title)
    return {i: entry for i, entry in enumerate(entries, 1) if key in title_key(entry)}


def _is_in(found: list[tuple[str, int]], called: str) -> bool:
    return any(_CALLED[called].search(heading) for heading, _ in found)


def _numbers_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield the place of each mark of a text, with the numbers of the entries that it names."""
    for mark in _NUMBERS.finditer(text):
        listed = [(int(first), int(last or first)) for first, last in _NUMBER.findall(mark[1])]
        if mark[2]:
            listed[-1] = (listed[-1][0], int(mark[2]))
        for first, last in listed:
            yield from ((mark.start(), number) for number in range(first, min(last, first + 99) + 1))


def _names(text: str, entry: str) -> bool:
    """Tell whether a text has a mark with an entry's year, behind the surname that it begins with."""
    words = _WORD.findall(entry)[:6]
    return any(
        any(
            re.search(rf"\b{re.escape(word)}\b", text[max(0, year.start() - _BEFORE_YEAR) : year.start()])
            for word in words
        )
        for year in _YEAR.finditer(text)
        if year[0] in entry
    )


# --- by the places of citations

_NAME = re.compile(r"[A-Z][\w’'-]{3,}")
# Kind of question -> the parts of a paper between which it cites the work, or by which its citations of the two works differ. They answer
# most of every other question of `Walk-256K` over 86 papers (benchmarks/floors.py).
_SPANS = {
    "background_only": (0.8, 1.0),
    "experiments": (0.3, 0.8),
    "introduction": (0.0, 0.15),
    "method": (0.2, 0.4),
    "related_work": (0.8, 1.0),
    "same_paragraph": (0.0, 0.02),
}
_ANYWHERE = (0.0, 1.0)


def papers_by_place(kind: str, prompt: str) -> list[int]:
    """Return the papers that a prompt's question, of this kind, may be about."""
    papers, titles = _asked_in(kind, prompt)
    span = _SPANS.get(kind, _ANYWHERE)
    return [
        i for i, paper in enumerate(papers, 1) if is_in_span(kind, [places_of(title, paper) for title in titles], span)
    ]


def is_in_span(kind: str, places: Sequence[Sequence[float]], span: tuple[float, float]) -> bool:
    """Tell whether a paper answers a question if it cites the works, one or two, at these places."""
    first, second = places[0], places[-1]
    if kind == "cites_first_only":
        return bool(first) and not second
    found = [abs(one - other) for one in first for other in second] if len(places) > 1 else first
    return any(span[0] <= place <= span[1] for place in found)


def places_of(title: str, paper: str) -> list[float]:
    """Return where a paper cites a work, as parts of its text: by its number or, where papers have none, its first author."""
    body, _, entries = paper.rpartition(_REFERENCES)
    listed = _entries_of(title, entries.splitlines())
    marks = list(_numbers_in(body))
    if marks:
        starts = [start for start, number in marks if number in listed]
    else:
        names = [name[0] for entry in listed.values() if (name := _NAME.search(entry))]
        starts = [name.start() for each in names for name in re.finditer(rf"\b{re.escape(each)}\b", body)]
    return [start / max(1, len(body)) for start in starts]
