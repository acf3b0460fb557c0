"""The works that made-up papers cite: their entries, their marks, and the sections that have a reason to cite them."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from builder.sources.sample.lexicon import DEVICES, QUALITIES, coin, person

Citing = Literal["numeric", "author-year"]
SectionRole = Literal["introduction", "related_work", "method", "experiments", "conclusion", "acknowledgements"]
# How the titles begin of works that are in no archive.
_UNKNOWN = "Notes on"
# Role of a section -> works that it has a reason to cite; all others are related work.
_CITED: dict[SectionRole, int] = {"introduction": 3, "method": 3, "experiments": 5}
# Works of the related work that the introduction cites too.
_MOTIVATING = 5


@dataclass(frozen=True, slots=True)
class Work:
    """What a reference list and a citation say of an earlier paper.

    Attributes:
        method: the name under which other papers speak of it.
    """

    id: str
    title: str
    authors: tuple[str, ...]
    published: date
    method: str


class Reasons:
    """Hands out the works that a paper cites, each section those that it has a reason to cite, some of them twice."""

    def __init__(self, rng: random.Random, works: Sequence[Work], marks: Sequence[str]) -> None:
        self._named = [(work.method, mark) for work, mark in zip(works, marks, strict=True)]
        order = rng.sample(range(len(works)), len(works))
        places = [role for role, most in _CITED.items() for _ in range(most)]
        self._of: dict[SectionRole, list[int]] = defaultdict(list)
        for i, number in enumerate(order):
            self._of[places[i] if i < len(places) and len(works) > 2 * i else "related_work"].append(number)
        # What is compared with or motivates is often discussed as well, and what is discussed motivates.
        discussed = self._of["related_work"][:_MOTIVATING]
        for number in [*self._of["experiments"], *self._of["introduction"]]:
            if rng.random() < 0.4:
                self._of["related_work"].append(number)
        self._of["introduction"] += discussed

    def of(self, role: SectionRole, most: int) -> list[tuple[str, str]]:
        """Name and mark of the next works for a section of that role."""
        taken, self._of[role] = self._of[role][:most], self._of[role][most:]
        return [self._named[number] for number in taken]


def mark_of(index: int, work: Work, citing: Citing) -> str:
    """What cites a work in the text."""
    if citing == "numeric":
        return f"[{index + 1}]"
    surnames = [author.split()[-1] for author in work.authors]
    who = surnames[0] if len(surnames) == 1 else f"{surnames[0]} et al."
    return f"({who}, {work.published.year})"


def entry_of(work: Work, rng: random.Random) -> str:
    """Its entry in a reference list, without a label."""
    authors = [author.split() for author in work.authors[:8]]
    names = ", ".join(f"{first_name[0]}. {rest[-1]}" for first_name, *rest in authors)
    if work.title.startswith(_UNKNOWN):
        place = "Journal of Invented Results"
    elif work.id and rng.random() < 0.5:
        place = f"arXiv preprint arXiv:{work.id}"
    else:
        place = "In Proceedings of the Made-up Conference"
    return f"{names}. {work.title}. {place}, {work.published.year}."


def unknown_work(rng: random.Random) -> Work:
    """A work that is in no archive."""
    about = f"{rng.choice(QUALITIES)} {rng.choice(DEVICES)}s"
    year = rng.randint(1990, 2024)
    return Work("", f"{_UNKNOWN} {about} and their history", (person(rng),), date(year, 1, 1), coin(rng))
