"""Section texts and reference list -> the places where the text cites."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from builder.keys import fold
from builder.records import Mention, Reference, Section

_NUMERIC = re.compile(r"\[\s*(\d{1,4}(?:\s*[,;–—-]\s*\d{1,4})*)\s*(?:,\s*(?:p|sec|ch)[^\]]{0,20})?\]")
_LABELS = re.compile(r"\[([^\[\]]{2,120})\]")
_SURNAME = r"[^\W\d_][^\W\d_'’\-]*(?:[ '’\-][^\W\d_]+){0,2}"
_AUTHOR_YEAR = re.compile(
    rf"(?P<name>{_SURNAME})(?:,? et al\.?|,? (?:and|&) {_SURNAME})?,?\s*[(\[]?(?P<year>(?:19|20)\d{{2}})(?P<letter>[a-z]?)"
)
_NOT_CITED = ("references", "appendix", "acknowledgements")
_CITED_NUMBERS = 60


def find_mentions(sections: Sequence[Section], references: Sequence[Reference]) -> tuple[Mention, ...]:
    """Find every citation marker, in order, with the entries that it points to."""
    by_label = {entry.label: i for i, entry in enumerate(references) if entry.label}
    by_name: dict[tuple[str, int], list[int]] = defaultdict(list)
    for i, entry in enumerate(references):
        if entry.authors and entry.year:
            by_name[fold(entry.authors[0]), entry.year].append(i)
    numeric = sum(label.isdigit() for label in by_label) > len(references) / 2
    found: list[Mention] = []
    for s, section in enumerate(sections):
        if section.role in _NOT_CITED:
            continue
        if numeric:
            found += _numeric(s, section.text, by_label)
        elif by_label:
            found += _labelled(s, section.text, by_label)
        else:
            found += _author_year(s, section.text, by_name)
    return tuple(found)


def _numeric(s: int, text: str, by_label: dict[str, int]) -> Iterator[Mention]:
    for match in _NUMERIC.finditer(text):
        numbers = list(_expand(match.group(1)))
        cited = tuple(dict.fromkeys(by_label[str(n)] for n in numbers if str(n) in by_label))
        if cited:
            yield Mention(s, match.start(), match.end(), cited, len(numbers) > 1)


def _expand(text: str) -> Iterator[int]:
    """The numbers of "3, 5-7"."""
    for part in re.split(r"[,;]", text):
        ends = [int(n) for n in re.findall(r"\d+", part)]
        if len(ends) == 2 and 0 < ends[1] - ends[0] < _CITED_NUMBERS:
            yield from range(ends[0], ends[1] + 1)
        else:
            yield from ends


def _labelled(s: int, text: str, by_label: dict[str, int]) -> Iterator[Mention]:
    for match in _LABELS.finditer(text):
        labels = [part.strip() for part in re.split(r"[,;]", match.group(1))]
        cited = tuple(dict.fromkeys(by_label[label] for label in labels if label in by_label))
        if cited:
            yield Mention(s, match.start(), match.end(), cited, len(labels) > 1)


def _author_year(s: int, text: str, by_name: dict[tuple[str, int], list[int]]) -> Iterator[Mention]:
    hits: list[tuple[int, int, int]] = []
    for match in _AUTHOR_YEAR.finditer(text):
        start, named = _named(match["name"], int(match["year"]), by_name)
        if named:
            order = ord(match["letter"] or "a") - ord("a")
            hits.append((match.start() + start, match.end(), named[order] if order < len(named) else named[0]))
    for i, (start, end, cited) in enumerate(hits):
        joined = (i > 0 and _same_group(text, hits[i - 1][1], start)) or (
            i + 1 < len(hits) and _same_group(text, end, hits[i + 1][0])
        )
        yield Mention(s, start, end, (cited,), joined)


def _named(name: str, year: int, by_name: dict[tuple[str, int], list[int]]) -> tuple[int, list[int]]:
    """Where in `name` the author begins, words of the sentence before it left out, and the entries of that author."""
    for word in re.finditer(r"[^\s]+", name):
        rest = name[word.start() :]
        for key in (fold(rest), fold(word.group())):
            if (key, year) in by_name:
                return word.start(), by_name[key, year]
    return 0, []


def _same_group(text: str, end: int, start: int) -> bool:
    between = text[end:start]
    return start - end < 12 and ";" in between and ")" not in between
