"""The numbers that a text states, and whether another text states them too.

A number is supported if the shown text has it too, rounded or not, as a percentage or a fraction, with or without signs between
thousands, in digits or words. Small whole numbers occur everywhere; they count only next to a word that is next to them in the answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, takewhile

_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
        "nineteen twenty".split()
    )
}
_WORDS |= {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
}
_TIMES = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "k": 1e3, "m": 1e6, "b": 1e9}
# "one" and the like are rarely numbers.
_SPELLED = re.compile(rf"\b(?:{'|'.join(word for word, value in _WORDS.items() if value > 1)})\b", re.IGNORECASE)
# "two billion"; a word without a multiple is looked up where it is needed.
_MULTIPLE = re.compile(r"(?:thousand|million|billion|trillion)\b")
_LAST_WORD = re.compile(r"([A-Za-z]+)\s$")
_SPELLING = {float(value): word for word, value in _WORDS.items() if value > 1}
_DIGITS = re.compile(r"\d+(?:[,\u2009\u202f]\d{3}(?!\d))*(?:\.\d+)?")
_BEHIND = re.compile(
    r"(?P<times>\s?(?:thousand|million|billion|trillion)\b|[KMBkmb]\b)?(?P<percent>\s?(?:\\?%|percent\b|per cent\b|percentage points?\b))?"
)
_INSIDE = re.compile(r"(?:[^\W\d_]|[^\W_][._]|[^\W\d_]-)$")
# A number that comes after one of these stands alone.
_OPEN = " ($~\n"
# A section, a figure, an equation, a year in brackets, a citation: numbers that make no statement.
_POINTER = re.compile(
    r"(?:\b(?:sections?|sec\.|figures?|figs?\.|tables?|tab\.|equations?|eqs?\.|appendix|algorithms?|theorems?|lemmas?|chapters?|steps?|"
    r"arxiv:?|rq|citation|candidate|january|february|march|april|may|june|july|august|september|october|november|december)\s*|§\s*|\[[\d\s,;–-]*)$",
    re.IGNORECASE,
)
_AT_LEAST = re.compile(r"\b(?:at least|over|above|more than)\s*$", re.IGNORECASE)
_SMALL = 20
# Characters that a remark in brackets may have before a number.
_ASIDE = 120
_NEAR = 3
# Spelling -> unit. "m" and the like, which are also millions, are left out.
_UNITS = {
    spelling: name
    for name, spellings in {
        "ms": "ms millisecond milliseconds", "s": "s sec secs second seconds", "min": "min mins minute minutes",
        "h": "h hr hrs hour hours", "day": "day days", "GB": "GB GiB gigabytes", "MB": "MB MiB megabytes", "KB": "KB KiB",
        "TB": "TB TiB", "x": "x × fold", "km": "km kilometres kilometers", "Hz": "Hz hertz", "W": "W watts",
    }.items()
    for spelling in spellings.split()
}  # fmt: skip
_UNIT = re.compile(rf"\s?-?({'|'.join(sorted(_UNITS, key=len, reverse=True))})(?![\w-])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_STOP = frozenset(
    "the and for with that this from are was were has have had our their its than over more less each all both can into such which "
    "while when where who whose but not also only between across about these those other using used based between per most least up".split()
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a text.

    Attributes:
        value: with thousands and the like applied; for a percentage, the figure before the sign.
        step: of its last digit; that of 0.85 is 0.01.
        start, end: where it is.
    """

    value: float
    step: float
    percent: bool
    start: int
    end: int


def numbers(text: str) -> Iterator[Number]:
    """The numbers that a text states, in order; those that point to a section, a figure or a citation are left out."""
    every = (*_in_digits(text), *(_spelled(text, found) for found in _SPELLED.finditer(text)))
    return (one for one in sorted(every, key=lambda one: one.start) if not _points(text, one))


def _spelled(text: str, found: re.Match[str]) -> Number:
    return _number(text, *found.span(), float(_WORDS[found[0].casefold()]), 1.0)


def _spelled_multiples(text: str) -> Iterator[Number]:
    """Where a text writes "two billion"."""
    for found in _MULTIPLE.finditer(text):
        word = _LAST_WORD.search(text, max(0, found.start() - 12), found.start())
        value = _WORDS.get(word[1].casefold(), 0) if word else 0
        if word and value > 1:
            yield _number(text, *word.span(1), float(value), 1.0)


@cache
def _spelled_as(word: str) -> re.Pattern[str]:
    return re.compile(rf"\b{word}\b", re.IGNORECASE)


def _in_digits(text: str) -> Iterator[Number]:
    for found in _DIGITS.finditer(text):
        start, end = found.span()
        if text[start - 1 : start] not in _OPEN and _INSIDE.search(text, max(0, start - 2), start):
            continue  # part of a name, such as GPT-4 or v1.5
        plain = found[0]
        if "," in plain or not plain.isascii():
            plain = plain.translate(_NO_SEPARATORS)
        step = 10.0 ** -(len(plain) - plain.find(".") - 1 if "." in plain else 0)
        yield _number(text, start, end, float(plain), step)


def _number(text: str, start: int, end: int, value: float, step: float) -> Number:
    """A number with what comes directly after it."""
    if text[end : end + 2].strip(" ") == "" or text[end] in ".,;)":
        return Number(value, step, False, start, end)
    behind = _BEHIND.match(text, end)
    assert behind is not None
    factor = _TIMES[behind["times"].strip().casefold()] if behind["times"] else 1.0
    return Number(value * factor, step * factor, behind["percent"] is not None, start, behind.end())


def _points(text: str, number: Number) -> bool:
    """Whether a number points to a place, such as a section or a citation."""
    behind = text[number.end : number.end + 1]
    # "[3]"; "(1)" or "1)" in an enumeration, "(2019)"; but "(78.1 %)" and "(5,158)" state something.
    if behind == "]":
        return True
    if behind == ")" and text[number.start - 1 : number.start] == "(":
        return not number.percent and number.step == 1 and (number.value <= _SMALL or 1900 <= number.value <= 2100)
    if behind == ")" and "(" not in text[max(0, number.start - _ASIDE) : number.start].rpartition(")")[2]:
        return True
    return bool(_POINTER.search(text, max(0, number.start - 24), number.start))


_NO_SEPARATORS = str.maketrans("", "", ",\u2009\u202f")


def _beside(text: str, number: Number) -> frozenset[str]:
    """The stems of the nearest words that mean something, on both sides."""
    before = [
        word for word in _WORD.findall(text[max(0, number.start - 60) : number.start]) if word.casefold() not in _STOP
    ]
    behind = [word for word in _WORD.findall(text[number.end : number.end + 60]) if word.casefold() not in _STOP]
    return frozenset(_stem(word) for word in (*before[-_NEAR:], *behind[:_NEAR]))


def _unit(text: str, number: Number) -> str:
    """The unit behind a number, one name for all its spellings; "" if it has none that we know."""
    found = _UNIT.match(text, number.end)
    return _UNITS[found[1]] if found else ""


def _other_unit(text: str, number: Number, other_text: str, other: Number) -> bool:
    """Whether two numbers of one value have different units; a number without a unit may have any, as in a table."""
    one, another = _unit(text, number), _unit(other_text, other)
    return bool(one and another and one != another) or bool(number.percent and another) or bool(other.percent and one)


def _stem(word: str) -> str:
    """A word without its ending, roughly."""
    return re.sub(r"(?:ies|es|s|ed|ing|ly)$", "", word.casefold())[:8]


class ShownNumbers:
    """The numbers of what a model was shown, prepared for looking them up."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _by_value(self) -> tuple[list[float], list[Number]]:
        every = (*_in_digits(self._text), *_spelled_multiples(self._text))
        ordered = sorted(every, key=lambda one: one.value)
        return [one.value for one in ordered], ordered

    def support(self, number: Number, answer: str) -> bool:
        """Whether the text states a number of an answer."""
        if self._states(number, answer, number.value, number.step, None):
            return True
        if number.percent:
            # 93 % is 0.93; and half of something.
            return self._states(number, answer, number.value / 100, number.step / 100, percent=False)
        if 0 < number.value < 1:
            return self._states(number, answer, number.value * 100, number.step * 100, percent=True)
        return False

    def _states(self, number: Number, answer: str, value: float, step: float, percent: bool | None) -> bool:
        values, ordered = self._by_value
        small = value == int(value) and abs(value) <= _SMALL and not number.percent and step >= 1
        beside = _beside(answer, number) if small else frozenset()
        margin = step / 2 + 1e-9 * max(1.0, abs(value))
        # "At least 99 %" may be 99.7.
        above = step if _AT_LEAST.search(answer, max(0, number.start - 12), number.start) else margin
        same = takewhile(
            lambda one: one.value <= value + above, islice(ordered, bisect_left(values, value - margin), None)
        )
        for one in chain(same, self._words_for(value)):
            # The shown number may be more precise than the answer's, never less.
            if one.step > step * 1.0001 and one.value != value:
                continue
            if (percent is not None and one.percent != percent) or _points(self._text, one):
                continue
            if _other_unit(answer, number, self._text, one):
                continue
            if not beside or beside & _beside(self._text, one):
                return True
        return False

    def _words_for(self, value: float) -> Iterator[Number]:
        """Where the text spells a number out."""
        word = _SPELLING.get(value)
        if word:
            yield from (_spelled(self._text, found) for found in _spelled_as(word).finditer(self._text))
