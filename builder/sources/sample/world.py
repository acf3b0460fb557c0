"""A made-up arXiv: seeded authors in research groups, their papers, and the texts of those papers.

Each paper reports a study: its abstract, introduction and experiments state the same findings in different words, and every work
is cited where there is a reason to. The texts are assembled from sentence patterns; no real person, paper or sentence is
meant. What real arXiv does to a
builder is in it on purpose: authors who share a name, author lists of sixty, papers without an introduction or related
work, works that nobody can resolve, a withdrawn paper, papers whose authors revised title and abstract.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Literal

from builder.sources.sample.lexicon import DISCIPLINES, FAMILY, GIVEN, Discipline, coin, coin_collection, person
from builder.sources.sample.prose import WorldSection, Writer
from builder.sources.sample.study import make_study
from builder.sources.sample.works import Citing, SectionRole, Work

Layout = Literal["one-column", "two-column"]
_CLASSICS = 24
_CLASSIC_TITLES = (
    "A Method for {task} of {material}",
    "Reading {material} with Little Supervision",
    "{task} from First Principles",
    "What {material} Tell Us about {task}",
    "A Benchmark for {task} under Noise",
)

LAST_DAY = date(2026, 10, 28)
MONTHS = 14
# Every second paper was revised.
_REVISED = 2
_FIRST_WORDS = {
    "percent": "per cent",
    "which": "that",
    "cost": "price",
    "error": "mistake",
    "decides": "chooses",
    "uses": "employs",
    "same": "identical",
    "large": "big",
    "small": "little",
    "is": "was",
    "are": "were",
    "the": "this",
}
_LICENSES = (
    "http://creativecommons.org/licenses/by/4.0/",
    "http://creativecommons.org/licenses/by-sa/4.0/",
    "http://creativecommons.org/publicdomain/zero/1.0/",
    "http://creativecommons.org/licenses/by-nc-nd/4.0/",
    "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
    "http://arxiv.org/licenses/nonexclusive-distrib/1.0/",
)


@dataclass(frozen=True, slots=True)
class WorldPaper(Work):
    """A made-up paper, ready to be set.

    Attributes:
        references: the printed entries of its reference list, without labels.
        marks: what cites the entries in the text, entry by entry; the last entries are not cited.
        flaw: "broken" for a paper whose file is cut off, "withdrawn" for one taken back, else "".
        first: title and abstract of version 1, if this is version 2.
    """

    category: str
    license: str
    abstract: str
    sections: tuple[WorldSection, ...]
    references: tuple[str, ...]
    marks: tuple[str, ...]
    layout: Layout
    citing: Citing
    numbered: bool
    flaw: str = ""
    first: tuple[str, str] | None = None

    def citations(self) -> Iterator[tuple[int, SectionRole, int]]:
        """Where the text cites: index into `references`, role of the section, number of the paragraph in the whole text."""
        paragraphs = ((section.role, text) for section in self.sections for text in section.paragraphs)
        for number, (role, text) in enumerate(paragraphs):
            for index, mark in enumerate(self.marks):
                yield from ((index, role, number) for _ in range(text.count(mark)))

    @property
    def version(self) -> int:
        return 1 if self.first is None else 2

    @property
    def updated(self) -> date:
        return self.published if self.first is None else min(self.published + timedelta(days=9), LAST_DAY)


@dataclass(slots=True)
class _Group:
    """Authors of one discipline who write about the same topics, measure on the same collections and know the same older works."""

    discipline: Discipline
    collections: tuple[str, ...]
    classics: tuple[Work, ...]
    members: list[str] = field(default_factory=list)


def make_world(seed: int, authors: int, papers: int) -> list[WorldPaper]:
    """The papers of a world, oldest first. The same arguments give the same world."""
    rng = random.Random(seed)
    groups = _groups(rng, authors)
    days = sorted(LAST_DAY - timedelta(days=rng.randrange(MONTHS * 30)) for _ in range(papers))
    world: list[WorldPaper] = []
    serial: dict[str, int] = {}
    for i, day in enumerate(days):
        month = f"{day:%y%m}"
        serial[month] = serial.get(month, 0) + 1
        paper = _paper(rng, f"{month}.{serial[month]:05d}", i, day, groups, world)
        world.append(replace(paper, first=_first_version(paper)) if i % _REVISED == 1 else paper)
    return world


def _first_version(paper: WorldPaper) -> tuple[str, str]:
    """Title and abstract as the authors first had them: the head of the title, and other words in each second sentence."""
    sentences = re.split(r"(?<=\.) ", paper.abstract)
    reworded = [" ".join(_FIRST_WORDS.get(word, word) for word in sentence.split(" ")) for sentence in sentences]
    kept = [new if i % 2 else old for i, (old, new) in enumerate(zip(sentences, reworded, strict=True))]
    return paper.title.partition(":")[0], " ".join(kept[:-1])


def _groups(rng: random.Random, authors: int) -> list[_Group]:
    groups = [_group(rng, discipline) for discipline in DISCIPLINES]
    names: set[str] = set()
    for i in range(authors):
        name = f"{rng.choice(GIVEN)} {rng.choice(FAMILY)}"
        while name in names:
            name = f"{rng.choice(GIVEN)} {rng.choice('ABCDEFGHJKLM')}. {rng.choice(FAMILY)}"
        names.add(name)
        groups[i % len(groups)].members.append(name)
    if authors >= 20:
        # Two people of one name, in different fields: nothing in the metadata tells them apart.
        groups[1].members[0] = groups[0].members[0]
    return [group for group in groups if group.members]


def _group(rng: random.Random, discipline: Discipline) -> _Group:
    collections = tuple(coin_collection(rng) for _ in range(6))
    return _Group(discipline, collections, tuple(_classic(rng, discipline) for _ in range(_CLASSICS)))


def _classic(rng: random.Random, discipline: Discipline) -> Work:
    """An older work that is in no archive and that a whole discipline cites."""
    topic, method = rng.choice(discipline.topics), coin(rng)
    title = f"{method}: {rng.choice(_CLASSIC_TITLES).format(task=topic.task.title(), material=topic.material.title())}"
    authors = tuple(dict.fromkeys(person(rng) for _ in range(rng.randint(1, 4))))
    return Work("", title, authors, date(rng.randint(1998, 2024), 1, 1), method)


def _paper(
    rng: random.Random, paper_id: str, i: int, day: date, groups: list[_Group], earlier: list[WorldPaper]
) -> WorldPaper:
    group = groups[i % len(groups)]
    place = (i // len(groups)) % len(group.members)
    first = group.members[place]
    # Authors who stand next to each other in a group write together about the same topics.
    near = [group.members[(place + step) % len(group.members)] for step in (-2, -1, 1, 2)]
    others = rng.sample(near, rng.randint(1, 3))
    others += rng.sample(group.members, 1) if rng.random() < 0.3 else []
    guests = rng.sample(rng.choice(groups).members, 1) if rng.random() < 0.3 else []
    authors = tuple(dict.fromkeys([first, *others, *guests]))
    if i == 30:
        crowd = (f"{first_name} {family}" for first_name, family in zip(GIVEN * 2, FAMILY * 3, strict=False))
        authors = tuple(dict.fromkeys([first, *crowd]))[:60]
    cited = _choose_cited(rng, group, earlier)
    topics = group.discipline.topics
    line = place * len(topics) // len(group.members)
    number = line if rng.random() < 0.8 else rng.randrange(len(topics))
    collections = [group.collections[(line + step) % len(group.collections)] for step in range(3)]
    study = make_study(rng, group.discipline.subject, topics[number], collections, rng.choice(cited).method)
    writer = Writer(rng, study)
    citing: Citing = "numeric" if i % 3 else "author-year"
    sections, references, marks = writer.sections(cited, citing, introduction=i % 40 != 7, related=i % 12 != 5)
    return WorldPaper(
        id=paper_id,
        title=writer.title,
        method=study.method,
        authors=authors,
        category=group.discipline.category,
        published=day,
        license=rng.choice(_LICENSES),
        abstract=writer.abstract(),
        sections=sections,
        references=references,
        marks=marks,
        layout="two-column" if i % 2 else "one-column",
        citing=citing,
        numbered=i % 5 != 4,
        flaw="broken" if i == 50 else "withdrawn" if i == 70 else "",
    )


def _choose_cited(rng: random.Random, group: _Group, earlier: list[WorldPaper]) -> list[Work]:
    """Earlier works to cite, those of the same field more often, ordered as a reference list is."""
    category = group.discipline.category
    near = [paper for paper in earlier if paper.category == category and not paper.flaw]
    far = [paper for paper in earlier if paper.category != category and not paper.flaw]
    # Some classics are cited by nearly everybody.
    ranks = sorted(range(_CLASSICS), key=lambda rank: rng.random() * (rank + 2))[:4]
    picked: list[Work] = [group.classics[rank] for rank in ranks]
    picked += rng.sample(near, min(len(near), 9)) + rng.sample(far, min(len(far), 4))
    # An author-year mark means one work.
    distinct = {(work.authors[0].split()[-1], work.published.year): work for work in picked}
    return sorted(distinct.values(), key=lambda work: (work.authors[0].split()[-1], work.id, work.title))
