"""Which of the given works a related-work section mentions, and how many others.

The prompt gives titles and abstracts, no authors and no years. A given work is mentioned by its title, by the name before
its colon ("BERT"), or by its number ("[3]", "Target Citation 3"); a number that was not given, and a work named by author
and year, are mentions of something that was not given, unless a given work is mentioned in the same sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

NUMBERS = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]|\bTarget Citations?\s+(\d{1,3})\b", re.IGNORECASE)
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_NAME = rf"(?<![\w'’-])(?!(?:{_MONTH})\b)[A-Z][\w'’-]+"
_YEAR = r"(?:19|20)\d\d[a-z]?\b"
AUTHOR_YEAR = re.compile(
    rf"{_NAME}(?:\s+(?:and|&)\s+{_NAME})?\s*[,(\[]\s*{_YEAR}|{_NAME}\s+et\s+al\.?,?\s*[(\[]?\s*{_YEAR}"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?!\d)")
_AL = re.compile(r"\bet al\.")
WORD = re.compile(r"[^\W_]+")
_LONGEST_NAME = 3
_LONGEST_SPAN = 100


@dataclass(frozen=True, slots=True)
class Mentions:
    """Counts of one answer.

    Attributes:
        given: works that the prompt gave.
        mentioned: of them, those that the answer mentions.
        others: mentions of works that the prompt did not give.
    """

    given: int
    mentioned: int
    others: int

    @property
    def mentioned_share(self) -> float:
        """Of the given works."""
        return self.mentioned / self.given if self.given else 0.0

    @property
    def other_share(self) -> float:
        """Of all works that the answer mentions."""
        total = self.mentioned + self.others
        return self.others / total if total else 0.0


def mentions(answer: str, titles: Sequence[str]) -> Mentions:
    """What an answer mentions.

    Args:
        titles: of the given works, in the order of the prompt, which numbers them from 0.
    """
    mentioned: set[int] = set()
    others = 0
    names = [names_of(title) for title in titles]
    base = base_of(answer, len(titles))
    for sentence in cited_sentences(answer):
        text = f" {' '.join(WORD.findall(sentence))} "
        here = {i for i, work_names in enumerate(names) if any(stands(name, text) for name in work_names)}
        numbers = {number - base for number in numbers_in(sentence)}
        here |= {number for number in numbers if 0 <= number < len(titles)}
        others += sum(not 0 <= number < len(titles) for number in numbers)
        if not here:
            others += len(AUTHOR_YEAR.findall(sentence))
        mentioned |= here
    return Mentions(len(titles), len(mentioned), others)


def cited_sentences(answer: str) -> list[str]:
    """The sentences of an answer, a number behind a full stop with the sentence before it."""
    return _SENTENCE.split(_AL.sub("et al", answer))


def names_of(title: str) -> list[tuple[str, bool]]:
    """What a work may be called, and whether capitals count: its title, and a short name before a colon."""
    head, colon, _ = title.partition(":")
    words = WORD.findall(head)
    names = [(" ".join(WORD.findall(title)), False)]
    if colon and words and len(words) <= _LONGEST_NAME and any(c.isupper() for c in head):
        names.append((" ".join(words), True))
    return names


def stands(name: tuple[str, bool], text: str) -> bool:
    """Whether a work's name stands in a text, which is given as words with spaces around each."""
    words, exact = name
    return f" {words} " in text if exact else f" {words} ".casefold() in text.casefold()


def numbers_in(sentence: str) -> set[int]:
    """The numbers that a sentence cites; a range stands for all numbers in it."""
    numbers: set[int] = set()
    for bracket, citation in NUMBERS.findall(sentence):
        for part in re.split(r"\s*[,;]\s*", bracket or citation):
            first, *last = [int(n) for n in re.split(r"\s*[–-]\s*", part)]
            low, high = sorted((first, last[0] if last else first))
            # No list of works is so long that a wider span would be meant.
            numbers.update(range(low, min(high, low + _LONGEST_SPAN) + 1))
    return numbers


def base_of(answer: str, count: int) -> int:
    """Whether an answer numbers the works from 0, as the prompt does, or from 1."""
    numbers = numbers_in(answer)
    return int(bool(numbers) and 0 not in numbers and max(numbers) == count)
