"""What tells the order of passages without reading them, replaced: numbers of sections, figures and equations, citations, debris."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from lm_eval_tasks.families.reading.reading_row import Edit

CITE, NUMBER, FORMULA = "[cite]", "[number]", "[formula]"


_YEAR = r"(?:19|20)\d\d[a-z]?"
_CITATIONS = re.compile(
    # an interval is none
    r"(?<![∈=])(?<![∈=] )(?:"
    # "[3]", "[3, 5-7]"; "(Ek, 2019; Ek and Alm, 2020)"; "Ek et al. (2019)"; "et al., 2019"
    r"\[\s*[1-9]\d{0,3}(?:\s*[,;–—-]\s*\d{1,4})*\s*(?:,[^\[\]\n]{0,30})?\]"
    rf"|\([^()\n]{{0,300}}?\b{_YEAR}(?:[^()\n]{{0,300}}?\b{_YEAR})*\s*\)"
    rf"|\bet al\.?,?\s*[\[(]?{_YEAR}[\])]?"
    r"|\[[^\[\]\n]{0,80}?\d\d[a-z]?\])"
)
_ONE = r"(?:[IVXLC]{1,6}(?:-[A-Z0-9]+)?|[A-Z]?\d+(?:\.\d+)*[a-z]?|[A-Z](?:\.\d+)+)"
_ANY = rf"(?:\({_ONE}\)|{_ONE})"
_NUMBERED = re.compile(
    r"\b(?:Sections?|Secs?\.|Figures?|Figs?\.|Tables?|Tabs?\.|Equations?|Eqn?s?\.?|Appendi(?:x|ces)|Theorems?|Lemmas?|Algorithms?"
    r"|Definitions?|Propositions?|Corollar(?:y|ies)|Examples?|Listings?|Steps?|RQs?|Chapters?|Assumptions?|Remarks?|Hypothes[ie]s"
    r"|Results?|Findings?|Topics?|Observations?|Challenges?|Phases?|Stages?|Cases?|Tasks?|Groups?|Experiments?|Questions?|Types?|Levels?"
    r"|Threats?|Insights?|Implications?|Contributions?|Parts?|Lessons?)"
    rf"[\s~]{{0,2}}(?P<number>{_ANY}(?:(?:\s?[,–—-]\s?|\s?,?\s?(?:and|or|to)\s){_ANY}){{0,4}})(?![A-Za-z])",
    re.IGNORECASE,
)
# "§ 3"; at the beginning of a sentence "3.1.2 Decoder", "B. Results"
_SECTION_MARK = re.compile(
    r"§+\s?[\dA-Z]+(?:\.\d+)*|(?:^|(?<=[.?!] ))(?:\d{1,2}(?:\.\d{1,2}){1,3}\.?|[A-H]\.)(?= [A-Z])", re.MULTILINE
)
_ENUMERATORS = re.compile(
    r"(?<![\w)])\((?:\d{1,2}|[a-z]|[ivx]{1,4})\)|(?:(?<=\s)|^)(?:\d{1,2}|[a-z]|[ivx]{1,4})\)(?=\s)|^(?:\d{1,2}|[ivx]{1,4})\.\s",
    re.MULTILINE,
)
_SUPERSCRIPTS = re.compile(r"[¹²³⁴⁵⁶⁷⁸⁹⁰†‡]+|(?<=[a-z][.,;])\d{1,2}(?=\s|$)")
_WORD = re.compile(r"[A-Za-z]{2,}")
_BRACKETED = re.compile(r"\([^()\n]*\)|\[[^\[\]\n]*\]")
# A line with a smaller share of its characters in words is a formula, or what is left of a figure.
_LEAST_WORDS, _SHORT_LINE = 0.55, 30
_ROADMAP = re.compile(
    r"\b(?:rest|remainder) of (?:the|this|our) (?:paper|article|work|manuscript|section|study)\b"
    r"|\bpaper is (?:structured|organi[sz]ed)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^(?:in |the |finally,? |then,? |next,? |we |related .{0,40}|our )?.{0,60}\b(?:section|sec\.)\s*(?:[IVX\d]|\[)",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(
    r"(?<=[.?!])(?<!\bal\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bvs\.)(?<!\b[A-Z]\.)"
    r"(?<!\bFig\.)(?<!\bSec\.)(?<!\bEq\.)(?<!\bTab\.)(?<!\bNo\.)"
    r"[)\]”\"']?\s+(?=[A-Z“\"(])"
)


def edits_of(text: str, cited: Iterable[tuple[int, int]]) -> list[Edit]:
    """Return what is replaced in a section's text, in order, without overlaps.

    Args:
        cited: first and last character of each marker of a citation, without its brackets.
    """
    replaced: list[tuple[Iterable[tuple[int, int]], str]] = [
        (_debris(text), FORMULA),
        (_roadmap(text), ""),
        (citations_in(text, cited), CITE),
        (_spans(_NUMBERED, text, group="number"), NUMBER),
        (_spans(_SECTION_MARK, text), NUMBER),
        (_spans(_ENUMERATORS, text), NUMBER),
        (_spans(_SUPERSCRIPTS, text), ""),
    ]
    return without_overlaps([Edit(start, end, mark) for spans, mark in replaced for start, end in spans])


def _spans(pattern: re.Pattern[str], text: str, group: str | int = 0) -> Iterator[tuple[int, int]]:
    return (match.span(group) for match in pattern.finditer(text))


def citations_in(text: str, cited: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield every citation of a text: the markers that were found, with their brackets, and what else looks like one."""
    yield from (with_brackets(text, start, end) for start, end in cited)
    yield from (match.span() for match in _CITATIONS.finditer(text))


def without_overlaps(wanted: Iterable[Edit]) -> list[Edit]:
    """Return the longest edit at each place."""
    taken: list[Edit] = []
    for edit in sorted(wanted, key=lambda edit: (edit.start, -edit.end)):
        if edit.end > edit.start and (not taken or edit.start >= taken[-1].end):
            taken.append(edit)
    return taken


def _debris(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines that are formulas, or were left of figures and tables; neighbours together."""
    start = 0
    for is_debris, lines in groupby(text.split("\n"), _is_debris):
        end = start + sum(len(line) + 1 for line in lines)
        if is_debris:
            yield start, end - 1
        start = end


def _is_debris(line: str) -> bool:
    said = _BRACKETED.sub("", line)
    words = sum(len(word) for word in _WORD.findall(said))
    letters = sum(not c.isspace() for c in said)
    return bool(line.strip()) and (
        words < _LEAST_WORDS * letters or (len(line) < _SHORT_LINE and line[-1:] not in ".?!:;")
    )


def _roadmap(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences that say what stands where: the one that announces it, and those after it that name a section."""
    for match in _ROADMAP.finditer(text):
        before = sentence_start(text, match.start())
        end = sentence_end(text, match.end())
        while end < len(text) and _POINTS.match(text[end : sentence_end(text, end)]):
            end = sentence_end(text, end)
        yield before, end


def sentence_start(text: str, position: int) -> int:
    """Return where the sentence before a position begins, within its line."""
    line = text.rfind("\n", 0, position) + 1
    return max((match.end() for match in SENTENCE_END.finditer(text, line, position)), default=line)


def sentence_end(text: str, position: int) -> int:
    """Return where the sentence at a position ends, the spaces after it included, within its line."""
    line_end = text.find("\n", position)
    stop = len(text) if line_end < 0 else line_end
    match = SENTENCE_END.search(text, position, stop)
    return match.end() if match else stop


def with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a marker with the brackets around it."""
    if start and end < len(text) and text[start - 1] + text[end] in ("[]", "()"):
        return start - 1, end + 1
    return start, end
